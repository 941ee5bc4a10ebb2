//! Statements and expressions as text.

use std::fmt::Write;

use super::{constant, view_name};
use crate::naive::ast::*;

/// Names of parameters where an expression stands.
pub struct Names<'d> {
    pub design: &'d Design,
    pub params: Vec<&'d str>,
    pub actor: Option<usize>,
}

impl Names<'_> {
    pub fn leads_to(&self, goal: &Goal, by: &[usize]) -> String {
        let Expr::Quant { local, over, body, .. } = &goal.body else { panic!("of each record") };
        let Expr::Implies(from, to) = &**body else { panic!("one leads to the other") };
        let over = self.domain(over);
        let (from, to) = (self.expr(from), self.expr(to));
        let names: Vec<&str> = by.iter().map(|op| self.design.ops[*op].name.as_str()).collect();
        let by = if names.is_empty() { String::new() } else { format!(" by {}", names.join(", ")) };
        format!("leads_to {}: all v{local} in {over}: {from} => {to}{by}\n", goal.name)
    }

    pub fn body(&self, out: &mut String, body: &[Stmt], deep: usize) {
        for stmt in body {
            self.stmt(out, stmt, deep);
        }
    }

    fn stmt(&self, out: &mut String, stmt: &Stmt, deep: usize) {
        let design = self.design;
        let indent = "    ".repeat(deep);
        let list =
            |args: &[Expr]| args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>().join(", ");
        let said = match stmt {
            Stmt::Assign(record, subject, attr, change, value) => {
                let sign = match change {
                    Change::Set => ":=",
                    Change::Add => "+=",
                    Change::Take => "-=",
                };
                let attr = &design.subjects[*subject].attrs[*attr].name;
                format!("{}.{attr} {sign} {}", self.expr(record), self.expr(value))
            }
            Stmt::Remember(field, param, value) => {
                format!("{} := {}", self.memory(*field, *param), self.expr(value))
            }
            Stmt::Copy(_, value) => format!("Copy := {{ x: {} }}", self.expr(value)),
            Stmt::New(subject, parent, own) => {
                let parent =
                    parent.as_ref().map_or(String::new(), |held| format!("{}, ", self.expr(held)));
                let name = design.subjects[*subject].name;
                format!("new {name}({parent}{}) {{}}", self.expr(own))
            }
            Stmt::Delete(record) => format!("delete {}", self.expr(record)),
            Stmt::Append(_, subject) => {
                format!("append {}Log {{ k: 1 }}", design.subjects[*subject].name)
            }
            Stmt::Tell(op, args) if design.events => {
                let params = design.ops[*op].params.iter().zip(args);
                let fields: Vec<String> = params
                    .map(|(param, arg)| format!("{}: {}", param.name, self.expr(arg)))
                    .collect();
                format!("emit {} {{ {} }}", crate::naive::events::EVENT, fields.join(", "))
            }
            Stmt::Tell(op, args) => {
                let op = &design.ops[*op];
                format!("send {}.{}({})", design.actors[op.actor].name, op.name, list(args))
            }
            Stmt::Ask(effect, args) => {
                let effect = &design.effects[*effect];
                format!("send {}.{}({})", design.actors[effect.actor].name, effect.name, list(args))
            }
            Stmt::If(condition, then, otherwise) => {
                let _ = writeln!(out, "{indent}if {} {{", self.expr(condition));
                self.body(out, then, deep + 1);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{indent}}} else {{");
                    self.body(out, otherwise, deep + 1);
                }
                "}".into()
            }
            Stmt::For(local, over, body) => {
                let _ = writeln!(out, "{indent}for v{local} in {} {{", self.expr(over));
                self.body(out, body, deep + 1);
                "}".into()
            }
        };
        let _ = writeln!(out, "{indent}{said}");
    }

    fn memory(&self, field: usize, param: usize) -> String {
        let actor = self.actor.expect("somebody remembers");
        format!("{}.{}", self.params[param], self.design.actors[actor].fields[field].name)
    }

    fn domain(&self, over: &Domain) -> String {
        match over {
            Domain::Subject(subject) => self.design.subjects[*subject].name.into(),
            Domain::Children(child, parent) => {
                format!("{} of {}", self.design.subjects[*child].name, self.expr(parent))
            }
            Domain::Elements(set) => self.expr(set),
            Domain::People(actor) => self.design.actors[*actor].name.into(),
            Domain::Rows(Row::Message(op)) => {
                format!("messages of {}", self.design.ops[*op].name)
            }
            Domain::Rows(Row::Entry(effect)) => {
                format!("outbox of {}", self.design.effects[*effect].name)
            }
        }
    }

    pub fn expr(&self, expr: &Expr) -> String {
        let design = self.design;
        let one = |expr: &Expr| self.expr(expr);
        let list = |parts: &[Expr], word: &str| {
            let parts: Vec<String> = parts.iter().map(one).collect();
            format!("({})", parts.join(word))
        };
        let filtered = |filter: &Option<Box<Expr>>| {
            filter.as_ref().map_or(String::new(), |held| format!(" where {}", one(held)))
        };
        match expr {
            Expr::Lit(value) => constant(value),
            Expr::Param(at) => self.params[*at].into(),
            Expr::Local(local) => format!("v{local}"),
            Expr::Me => "me".into(),
            Expr::Now => "now".into(),
            Expr::Attr(record, subject, attr) => {
                format!("{}.{}", one(record), design.subjects[*subject].attrs[*attr].name)
            }
            Expr::Parent(record, of) => format!("{}.{}", one(record), design.subjects[*of].low),
            Expr::Keyed(subject, parent, own) => {
                let parent =
                    parent.as_ref().map_or(String::new(), |held| format!("{}, ", one(held)));
                format!("{}({parent}{})", design.subjects[*subject].name, one(own))
            }
            Expr::Own(record, of) => format!("{}.{}k", one(record), design.subjects[*of].low),
            Expr::LogEnd(record, subject) => {
                format!("{}.{}Log.end", one(record), design.subjects[*subject].name)
            }
            Expr::LogStart(record, subject) => {
                format!("{}.{}Log.start", one(record), design.subjects[*subject].name)
            }
            Expr::Memory(field, param) => self.memory(*field, *param),
            Expr::Copied(_) => "Copy.x".into(),
            Expr::CopyThere(_) => "Copy present".into(),
            Expr::Old(inner) => format!("old({})", one(inner)),
            Expr::Not(inner) => format!("not ({})", one(inner)),
            Expr::IsNull(inner) => format!("{} = null", one(inner)),
            Expr::And(parts) => list(parts, " and "),
            Expr::Or(parts) => list(parts, " or "),
            Expr::Implies(left, right) => format!("({} implies {})", one(left), one(right)),
            Expr::Cmp(op, left, right) => {
                let op = match op {
                    Cmp::Eq => "=",
                    Cmp::Ne => "!=",
                    Cmp::Lt => "<",
                    Cmp::Le => "<=",
                    Cmp::Gt => ">",
                    Cmp::Ge => ">=",
                };
                format!("{} {op} {}", one(left), one(right))
            }
            Expr::Next(after) => format!("next(\"0 3 * * *\", {})", one(after)),
            Expr::Plus(left, right) => format!("{} + {}", one(left), one(right)),
            Expr::Minus(left, right) => format!("{} - {}", one(left), one(right)),
            Expr::Min(left, right) => format!("min({}, {})", one(left), one(right)),
            Expr::Max(left, right) => format!("max({}, {})", one(left), one(right)),
            Expr::In(item, set) => format!("{} in {}", one(item), one(set)),
            Expr::Size(inner) => format!("size({})", one(inner)),
            Expr::Field(local, field, _) => format!("v{local}.{}", FIELDS[*field]),
            Expr::Line(mark, n) => {
                format!("{{ {}: {}, {}: {} }}", FIELDS[0], one(mark), FIELDS[1], one(n))
            }
            Expr::SetOf(parts) => {
                let parts: Vec<String> = parts.iter().map(one).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Expr::If(condition, then, otherwise) => {
                format!("(if {} then {} else {})", one(condition), one(then), one(otherwise))
            }
            Expr::Quant { all, local, over, filter, body } => {
                let word = if *all { "all" } else { "any" };
                let over = self.domain(over);
                format!("({word} v{local} in {over}{}: {})", filtered(filter), one(body))
            }
            Expr::Total { local, over, filter, value } => {
                let over = self.domain(over);
                match value {
                    None => format!("count(v{local} in {over}{})", filtered(filter)),
                    Some(value) => {
                        format!("sum({} of v{local} in {over}{})", one(value), filtered(filter))
                    }
                }
            }
            Expr::Remembered(local, actor, field, of) => {
                let field = design.actors[*actor].fields[*field].name;
                format!("v{local}.{field}[{}]", one(of))
            }
            Expr::Arg(local, row, param) => {
                let params = match row {
                    Row::Message(op) => &design.ops[*op].params,
                    Row::Entry(effect) => &design.effects[*effect].params,
                };
                format!("v{local}.{}", params[*param].name)
            }
            Expr::View(subject, attr, _) => view_name(*subject, *attr),
            Expr::Done(effect, record) => {
                let effect = &design.effects[*effect];
                let (name, key) = (&effect.name, &effect.params[0].name);
                format!("count(world.{name} where {key} = {})", one(record))
            }
        }
    }
}
