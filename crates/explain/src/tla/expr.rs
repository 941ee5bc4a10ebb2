//! Expressions.

use std::collections::{BTreeMap, BTreeSet};

use design::model::{
    ArithmeticOp, CompareOp, Const, Expr, ExprKind, LocalId, OperationId, SubjectId, Type,
};

use super::text::{Term, Tight, and, implies, in_junction, or, set, tuple};
use super::world::World;

/// Which state the variables are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    This,
    /// the one after the transition; was it a tick?
    Next {
        ticked: bool,
    },
    /// the one before it, seen from after it
    Before {
        ticked: bool,
    },
}

/// What an expression sees.
#[derive(Clone)]
pub(super) struct Scope<'w> {
    pub world: &'w World<'w>,
    pub locals: BTreeMap<LocalId, String>,
    /// the rows that locals range over, of the calls to the world outside
    pub(super) rows: BTreeMap<LocalId, OperationId>,
    /// locals whose record is known to be there
    pub present: BTreeSet<LocalId>,
    /// what each variable is called by now
    pub now: BTreeMap<String, String>,
    /// what of the caller's memory is, one for each use
    pub memory: Vec<String>,
    pub me: String,
    /// What a null or an absent record has is null, not a refusal.
    pub lenient: bool,
    pub frame: Frame,
}

impl<'w> Scope<'w> {
    pub fn of(world: &'w World<'w>, lenient: bool, frame: Frame) -> Scope<'w> {
        Scope {
            world,
            locals: BTreeMap::new(),
            rows: BTreeMap::new(),
            present: BTreeSet::new(),
            now: BTreeMap::new(),
            memory: Vec::new(),
            me: "me".into(),
            lenient,
            frame,
        }
    }

    pub fn var(&self, name: &str) -> String {
        match (self.now.get(name), self.frame) {
            (Some(held), _) => held.clone(),
            (None, Frame::Next { .. }) => format!("{name}'"),
            (None, _) => name.to_owned(),
        }
    }

    /// A condition: true or false.
    pub fn test(&self, expr: &Expr) -> Term {
        let term = self.term(expr);
        if !term.nullable {
            return term;
        }
        if self.lenient {
            let text = format!("{} = TRUE", term.within(Tight::Sum));
            return Term::new(text, Tight::Compare).needing(term.needs);
        }
        let mut needs = term.needs.clone();
        needs.push(format!("{} # Null", term.within(Tight::Sum)));
        term.nullable(false).needing(needs)
    }

    pub fn term(&self, expr: &Expr) -> Term {
        match &expr.kind {
            ExprKind::Literal(value) => {
                let negative = matches!(value, Const::Int(n) | Const::Decimal(n) if *n < 0);
                let tight = if negative { Tight::Sum } else { Tight::Whole };
                Term::new(self.world.constant(value), tight).nullable(*value == Const::Null)
            }
            ExprKind::Local(local) => {
                let text = self
                    .locals
                    .get(local)
                    .cloned()
                    .unwrap_or_else(|| self.world.refuse("a variable that is not bound"));
                Term::new(text.clone(), if simple(&text) { Tight::Whole } else { Tight::Open })
                    .nullable(expr.ty.is_optional())
            }
            ExprKind::Memory(usage) => match self.memory.get(usage.index()) {
                Some(text) => Term::whole(text.clone()).nullable(true),
                None => Term::whole(self.world.refuse("memory outside of a step")),
            },
            ExprKind::Me => Term::whole(self.me.clone()),
            // every time is kept as its distance from now
            ExprKind::Now => Term::whole("0"),
            ExprKind::Attr { base, attr } => {
                let Some(subject) = base.ty.subject() else {
                    return Term::whole(self.world.refuse("an attribute of nothing"));
                };
                if !self.world.kept(subject, *attr) {
                    return Term::whole(self.world.refuse("what a cache or an ephemeral holds"));
                }
                let ty = &self.world.subject(subject).attributes[attr.index()].ty;
                let shifted =
                    *ty.required() == Type::Time && self.frame == (Frame::Before { ticked: true });
                self.of_record(base, subject, ty.is_optional(), &|key| {
                    let text = format!("{}[{key}]", self.var(&self.world.attr(subject, *attr)));
                    if shifted { format!("Older({text})") } else { text }
                })
            }
            ExprKind::LogEnd { base, log } | ExprKind::LogStart { base, log } => {
                let Some(subject) = base.ty.subject() else {
                    return Term::whole(self.world.refuse("a log of nothing"));
                };
                let end = matches!(expr.kind, ExprKind::LogEnd { .. });
                self.of_record(base, subject, false, &|key| {
                    format!("{}[{key}]", self.var(&self.world.log(subject, *log, end)))
                })
            }
            ExprKind::KeyPart { base, part } => {
                let Some(subject) = base.ty.subject() else {
                    return Term::whole(self.world.refuse("a key of nothing"));
                };
                let base = self.term(base);
                let text = self.world.part(subject, &base.within(Tight::Whole), *part);
                self.through(base, &[], text, false)
            }
            ExprKind::Counter { base, counter } => {
                let Some(subject) = base.ty.subject() else {
                    return Term::whole(self.world.refuse("a counter of nothing"));
                };
                let held = &self.world.subject(subject).counters[counter.index()];
                self.of_record(base, subject, false, &|key| {
                    let mut inner = self.clone();
                    let child = "child";
                    inner.locals.insert(LocalId(0), child.into());
                    inner.present.insert(LocalId(0));
                    let mut conditions = self.children(held.child, child, key);
                    conditions.extend(held.filter.iter().map(|filter| inner.test(filter).holds()));
                    let keys = self.keys(held.child);
                    let rows = format!("{{{child} \\in {keys} : {}}}", and(&conditions));
                    match &held.value {
                        None => format!("Cardinality({rows})"),
                        Some(value) => {
                            format!("Total([{child} \\in {rows} |-> {}])", inner.term(value).text)
                        }
                    }
                })
            }
            ExprKind::Exists { cache: Some(_), .. } => Term::whole(self.world.refuse("a cache")),
            ExprKind::Exists { base, cache: None } => self.exists(base),
            ExprKind::IsNull(inner) => {
                let term = self.term(inner);
                Term::new(format!("{} = Null", term.within(Tight::Sum)), Tight::Compare)
                    .needing(term.needs)
            }
            ExprKind::Not(inner) => self.not(inner),
            ExprKind::And(parts) => self.junction(parts, true),
            ExprKind::Or(parts) => self.junction(parts, false),
            ExprKind::Implies(left, right) => {
                let (left, right) = (self.test(left), self.test(right));
                let mut needs = left.needs.clone();
                if !right.needs.is_empty() {
                    needs.push(implies(&left.text, &and(&right.needs)));
                }
                let text = format!("{} => {}", left.within(Tight::Not), right.within(Tight::Not));
                Term::new(text, Tight::Open).needing(needs)
            }
            ExprKind::Compare { op, left, right } => self.compare(*op, left, right),
            ExprKind::In { item, collection } => {
                let item = self.term(item);
                let elements = self.elements(collection);
                let mut needs = item.needs.clone();
                needs.extend(elements.needs.clone());
                let text =
                    format!("{} \\in {}", item.within(Tight::Sum), elements.within(Tight::Sum));
                Term::new(text, Tight::Compare).needing(needs)
            }
            ExprKind::Arithmetic { op, left, right } => self.arithmetic(*op, left, right),
            ExprKind::Negate(inner) => {
                let term = self.term(inner);
                let text = format!("-{}", term.within(Tight::Whole));
                self.computed(&[&term], Term::new(text, Tight::Sum))
            }
            ExprKind::Min(list) => self.extreme("Smaller", list),
            ExprKind::Max(list) => self.extreme("Larger", list),
            ExprKind::If { condition, then, otherwise } => {
                let condition = self.test(condition);
                let (then, otherwise) = (self.term(then), self.term(otherwise));
                let mut needs = condition.needs.clone();
                if !then.needs.is_empty() || !otherwise.needs.is_empty() {
                    let (yes, no) = (and(&then.needs), and(&otherwise.needs));
                    needs.push(format!("(IF {} THEN {yes} ELSE {no})", condition.text));
                }
                let text =
                    format!("IF {} THEN {} ELSE {}", condition.text, then.text, otherwise.text);
                Term::new(text, Tight::Open)
                    .needing(needs)
                    .nullable(then.nullable || otherwise.nullable)
            }
            ExprKind::Let { local, value, body } => {
                let value = self.term(value);
                let mut inner = self.clone();
                inner.locals.insert(*local, value.within(Tight::Whole));
                let mut body = inner.term(body);
                let mut needs = value.needs;
                needs.append(&mut body.needs);
                body.needing(needs)
            }
            ExprKind::Quantifier { all, local, domain, filter, body } => {
                self.quantifier(*all, *local, domain, filter.as_deref(), body)
            }
            ExprKind::Aggregate { local, domain, filter, value } => {
                self.aggregate(*local, domain, filter.as_deref(), value.as_deref())
            }
            ExprKind::WorldArg { local, param } => {
                let Some(effect) = self.rows.get(local).copied() else {
                    return Term::whole(self.world.refuse("a call to the world outside"));
                };
                let row = &self.locals[local];
                let row =
                    if self.world.is_key_gone(effect) { format!("{row}[1]") } else { row.clone() };
                let outside = self.var(&self.world.outside(effect));
                Term::whole(format!("{outside}[{row}].args[{}]", param + 1))
                    .nullable(expr.ty.is_optional())
            }
            ExprKind::Old(inner) => {
                let mut before = self.clone();
                if let Frame::Next { ticked } = self.frame {
                    before.frame = Frame::Before { ticked };
                }
                before.present.clear();
                before.term(inner)
            }
            ExprKind::Set(list) => self.collected(list, set),
            ExprKind::List(list) => self.collected(list, tuple),
            ExprKind::Index { base, index } => {
                let (held, at) = (self.term(base), self.term(index));
                let (m, k) = (held.within(Tight::Whole), at.text.clone());
                let text = match base.ty.required() {
                    Type::Map { .. } => format!("ValueAt({m}, {k})"),
                    _ => format!("ElementAt({m}, {k})"),
                };
                let mut needs = held.needs;
                needs.extend(at.needs);
                Term::whole(text).needing(needs).nullable(true)
            }
            ExprKind::Size(inner) => {
                let held = self.term(inner);
                let text = match inner.ty.required() {
                    Type::List { .. } => format!("Len({})", held.text),
                    Type::Map { .. } => {
                        format!("Cardinality(DOMAIN {})", held.within(Tight::Whole))
                    }
                    _ => format!("Cardinality({})", held.text),
                };
                Term::whole(text).needing(held.needs)
            }
            ExprKind::Remembered { .. } => {
                Term::whole(self.world.refuse("what principals remember, in a goal"))
            }
            ExprKind::Field { .. } => Term::whole(self.world.refuse("lists of records")),
            ExprKind::Stored(_) => Term::whole(self.world.refuse("blobs")),
            ExprKind::Hash(_) => Term::whole(self.world.refuse("digests")),
            ExprKind::Verified { .. } => Term::whole(self.world.refuse("signatures")),
            ExprKind::NextOf { .. } => {
                Term::whole(self.world.refuse("the next instant of a schedule"))
            }
            ExprKind::Included { .. } => Term::whole(self.world.refuse("proofs")),
            ExprKind::Keyed { .. } => Term::whole(self.world.refuse("records by a computed key")),
            ExprKind::LogSlice { .. } | ExprKind::View { .. } | ExprKind::Record(_) => {
                Term::whole(self.world.refuse("views and records as values"))
            }
            ExprKind::Error => Term::whole(self.world.refuse("what does not compile")),
        }
    }

    /// Something of the record that `base` refers to.
    fn of_record(
        &self,
        base: &Expr,
        subject: SubjectId,
        optional: bool,
        text: &dyn Fn(&str) -> String,
    ) -> Term {
        let known = matches!(&base.kind, ExprKind::Local(local) if self.present.contains(local));
        let term = self.term(base);
        let key = term.text.clone();
        let mut there = Vec::new();
        if !known && !self.world.subject(subject).implicit {
            there.push(format!("{}[{key}]", self.var(&self.world.there(subject))));
        }
        self.through(term, &there, text(&key), optional)
    }

    /// What is found behind a reference, which must not be null, under these conditions.
    fn through(&self, base: Term, there: &[String], text: String, optional: bool) -> Term {
        let mut conditions = Vec::new();
        if base.nullable {
            conditions.push(format!("{} # Null", base.within(Tight::Sum)));
        }
        conditions.extend_from_slice(there);
        if self.lenient {
            if conditions.is_empty() {
                return Term::whole(text).needing(base.needs).nullable(optional);
            }
            let text = format!("IF {} THEN {text} ELSE Null", and(&conditions));
            return Term::new(text, Tight::Open).needing(base.needs).nullable(true);
        }
        let mut needs = base.needs;
        needs.extend(conditions);
        Term::whole(text).needing(needs).nullable(optional)
    }

    fn exists(&self, base: &Expr) -> Term {
        let Some(subject) = base.ty.subject() else {
            return Term::whole(self.world.refuse("the existence of something that is no record"));
        };
        let term = self.term(base);
        let mut parts = Vec::new();
        if term.nullable {
            parts.push(format!("{} # Null", term.within(Tight::Sum)));
        }
        if !self.world.subject(subject).implicit {
            parts.push(format!("{}[{}]", self.var(&self.world.there(subject)), term.text));
        }
        let tight = if parts.len() > 1 { Tight::And } else { Tight::Compare };
        Term::new(and(&parts), tight).needing(term.needs)
    }

    fn not(&self, inner: &Expr) -> Term {
        if let ExprKind::IsNull(inner) = &inner.kind {
            let term = self.term(inner);
            return Term::new(format!("{} # Null", term.within(Tight::Sum)), Tight::Compare)
                .needing(term.needs);
        }
        let term = self.test(inner);
        Term::new(format!("~{}", term.within(Tight::Whole)), Tight::Not).needing(term.needs)
    }

    /// Each part is looked at only if those before it leave the answer open.
    fn junction(&self, parts: &[Expr], all: bool) -> Term {
        let mut texts: Vec<String> = Vec::new();
        let mut needs = Vec::new();
        for part in parts {
            let term = self.test(part);
            if !term.needs.is_empty() {
                let need = and(&term.needs);
                needs.push(match (texts.is_empty(), all) {
                    (true, _) => need,
                    (false, true) => implies(&and(&texts), &need),
                    (false, false) => {
                        format!("({} \\/ {})", or(&texts), in_junction(&need))
                    }
                });
            }
            texts.push(term.within(if all { Tight::And } else { Tight::Not }));
        }
        let (text, tight) =
            if all { (texts.join(" /\\ "), Tight::And) } else { (texts.join(" \\/ "), Tight::Or) };
        Term::new(text, tight).needing(needs)
    }

    fn compare(&self, op: CompareOp, left: &Expr, right: &Expr) -> Term {
        let (one, other) = (self.term(left), self.term(right));
        let mut needs = one.needs.clone();
        needs.extend(other.needs.clone());
        let word = match op {
            CompareOp::Equal => "=",
            CompareOp::NotEqual => "#",
            CompareOp::Less => "<",
            CompareOp::LessEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEqual => ">=",
        };
        let ordered = !matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        if ordered && (one.nullable || other.nullable) {
            let (name, first, second) = match op {
                CompareOp::Less => ("Less", &one, &other),
                CompareOp::Greater => ("Less", &other, &one),
                CompareOp::LessEqual => ("AtMost", &one, &other),
                _ => ("AtMost", &other, &one),
            };
            return Term::whole(format!("{name}({}, {})", first.text, second.text)).needing(needs);
        }
        let text = format!("{} {word} {}", one.within(Tight::Sum), other.within(Tight::Sum));
        Term::new(text, Tight::Compare).needing(needs)
    }

    fn arithmetic(&self, op: ArithmeticOp, left: &Expr, right: &Expr) -> Term {
        let decimals = [left, right].iter().all(|side| side.ty.required().is_decimal());
        if decimals && matches!(op, ArithmeticOp::Multiply | ArithmeticOp::Divide) {
            return Term::whole(self.world.refuse("the product of two decimals"));
        }
        if matches!(op, ArithmeticOp::MultiplyRounded(_) | ArithmeticOp::DivideRounded(_)) {
            // the numbers of TLC have 32 bits
            return Term::whole(self.world.refuse("a decimal that is rounded"));
        }
        if matches!(op, ArithmeticOp::Part { .. } | ArithmeticOp::Place) {
            return Term::whole(self.world.refuse("a decimal that is split"));
        }
        let (one, other) = (self.term(left), self.term(right));
        // `now` is 0, so what is added to it is all there is
        if one.is("0") && op == ArithmeticOp::Add && matches!(left.kind, ExprKind::Now) {
            return self.computed(&[&other], other.clone().needing(Vec::new()));
        }
        let (text, tight) = match op {
            ArithmeticOp::Add => (
                format!("{} + {}", one.within(Tight::Sum), other.within(Tight::Product)),
                Tight::Sum,
            ),
            ArithmeticOp::Subtract => (
                format!("{} - {}", one.within(Tight::Sum), other.within(Tight::Product)),
                Tight::Sum,
            ),
            ArithmeticOp::Multiply => (
                format!("{} * {}", one.within(Tight::Product), other.within(Tight::Whole)),
                Tight::Product,
            ),
            _ => (format!("Quotient({}, {})", one.text, other.text), Tight::Whole),
        };
        let mut term = self.computed(&[&one, &other], Term::new(text, tight));
        if op == ArithmeticOp::Divide && !matches!(right.kind, ExprKind::Literal(_)) {
            if self.lenient {
                self.world.refuse("a division by what may be 0, in a goal");
            }
            term.needs.push(format!("{} # 0", other.within(Tight::Sum)));
        }
        term
    }

    /// What is computed from these, which must not be null.
    fn computed(&self, from: &[&Term], term: Term) -> Term {
        let mut needs: Vec<String> = from.iter().flat_map(|part| part.needs.clone()).collect();
        let nulls: Vec<&&Term> = from.iter().filter(|part| part.nullable).collect();
        if self.lenient && !nulls.is_empty() {
            let none: Vec<String> =
                nulls.iter().map(|part| format!("{} = Null", part.within(Tight::Sum))).collect();
            let text = format!("IF {} THEN Null ELSE {}", or(&none), term.text);
            return Term::new(text, Tight::Open).needing(needs).nullable(true);
        }
        needs.extend(nulls.iter().map(|part| format!("{} # Null", part.within(Tight::Sum))));
        term.needing(needs).nullable(false)
    }

    fn extreme(&self, name: &str, list: &[Expr]) -> Term {
        let terms: Vec<Term> = list.iter().map(|expr| self.term(expr)).collect();
        let mut texts = terms.iter().map(|term| term.text.clone());
        let first = texts.next().unwrap_or_default();
        let text = texts.fold(first, |held, next| format!("{name}({held}, {next})"));
        let from: Vec<&Term> = terms.iter().collect();
        self.computed(&from, Term::whole(text))
    }

    fn collected(&self, list: &[Expr], make: fn(&[String]) -> String) -> Term {
        let terms: Vec<Term> = list.iter().map(|expr| self.term(expr)).collect();
        let needs = terms.iter().flat_map(|term| term.needs.clone()).collect();
        let texts: Vec<String> = terms.into_iter().map(|term| term.text).collect();
        Term::whole(make(&texts)).needing(needs)
    }

    /// The set of what a collection holds; of a map, of its keys.
    pub fn elements(&self, collection: &Expr) -> Term {
        let term = self.term(collection);
        match collection.ty.required() {
            Type::List { .. } => {
                Term::whole(format!("Elements({})", term.text)).needing(term.needs)
            }
            Type::Map { .. } => {
                Term::whole(format!("(DOMAIN {})", term.within(Tight::Whole))).needing(term.needs)
            }
            _ => term,
        }
    }
}

/// Is it a name, or something that stands by itself?
fn simple(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_'[]\"-.,<>".contains(letter);
    text.chars().all(plain) || text.starts_with('(') || text.starts_with('"')
}
