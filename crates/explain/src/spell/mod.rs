//! Typed expressions in the words of the language again.
//!
//! The text of a span would not do: an archetype that is used under a noun has other names than
//! the text it was written with.

mod constant;

use design::model::*;

pub use constant::{constant, duration};

/// The names that an expression can mention.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub design: &'a Design,
    pub locals: &'a [Local],
    /// Parameters whose subject is theirs alone: their truth is named without them.
    pub params: &'a [Param],
    /// whose memory is meant, for an operation
    pub memory: &'a [MemoryUse],
    /// local 0 is a row whose attributes are named without it
    pub row: bool,
}

impl<'a> Scope<'a> {
    pub fn of(design: &'a Design, operation: &'a Operation) -> Scope<'a> {
        Scope {
            design,
            locals: &operation.locals,
            params: &operation.params,
            memory: &operation.memory,
            row: false,
        }
    }

    /// Of an invariant.
    pub fn plain(design: &'a Design, locals: &'a [Local]) -> Scope<'a> {
        Scope { design, locals, params: &[], memory: &[], row: false }
    }

    /// Of a view or a counter: the first local is the row.
    pub fn row(design: &'a Design, locals: &'a [Local]) -> Scope<'a> {
        Scope { row: true, ..Scope::plain(design, locals) }
    }

    fn is_row(&self, base: &Expr) -> bool {
        self.row && matches!(base.kind, ExprKind::Local(LocalId(0)))
    }

    pub fn local(&self, local: LocalId) -> &'a str {
        self.locals.get(local.index()).map_or("?", |local| &local.name)
    }

    pub fn memory_name(&self, memory: MemoryUseId) -> &'a str {
        self.memory
            .get(memory.index())
            .and_then(|used| self.design.actors[used.actor.index()].memory.get(used.field.index()))
            .map_or("?", |field| &field.name)
    }

    /// With its record, where the operation has several of the subject.
    fn remembered(&self, memory: MemoryUseId) -> String {
        let name = self.memory_name(memory);
        let of = self.memory.get(memory.index()).and_then(|used| used.of);
        let subject = of.and_then(|of| self.locals.get(of.index())).map(|local| local.ty.subject());
        let same = self.params.iter().filter(|p| Some(p.ty.subject()) == subject).count();
        match of {
            Some(of) if same > 1 => format!("{}.{name}", self.local(of)),
            _ => name.to_owned(),
        }
    }

    pub fn text(&self, expr: &Expr) -> String {
        self.at(expr, 0)
    }

    fn at(&self, expr: &Expr, outer: u8) -> String {
        let (level, text) = self.form(expr);
        if level < outer { format!("({text})") } else { text }
    }

    fn form(&self, expr: &Expr) -> (u8, String) {
        const WHOLE: u8 = 9;
        let joined = |parts: &[Expr], word: &str, level: u8| {
            let texts: Vec<String> = parts.iter().map(|part| self.at(part, level + 1)).collect();
            (level, texts.join(word))
        };
        match &expr.kind {
            ExprKind::Literal(value) => (WHOLE, constant(self.design, value)),
            ExprKind::Local(local) => (WHOLE, self.local(*local).to_owned()),
            ExprKind::Memory(memory) => (WHOLE, self.remembered(*memory)),
            ExprKind::Me => (WHOLE, "me".into()),
            ExprKind::Now => (WHOLE, "now".into()),
            ExprKind::Attr { base, attr } => (WHOLE, self.attribute(base, *attr)),
            ExprKind::KeyPart { base, part } => (WHOLE, self.key_part(base, *part)),
            ExprKind::Keyed { subject, key } => {
                let parts: Vec<String> = key.iter().map(|part| self.text(part)).collect();
                let name = &self.design.subjects[subject.index()].name;
                (WHOLE, format!("{name}({})", parts.join(", ")))
            }
            ExprKind::LogEnd { base, log } => (WHOLE, format!("{}.end", self.state(base, *log))),
            ExprKind::LogStart { base, log } => {
                (WHOLE, format!("{}.start", self.state(base, *log)))
            }
            ExprKind::LogSlice { base, log, from, limit } => {
                let (from, limit) = (self.text(from), self.text(limit));
                (WHOLE, format!("slice({}, {from}, {limit})", self.state(base, *log)))
            }
            ExprKind::Exists { base, cache } => {
                let what = cache.map_or_else(|| self.text(base), |state| self.state(base, state));
                (4, format!("{what} present"))
            }
            ExprKind::Hash(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
                (WHOLE, format!("hash({})", parts.join(", ")))
            }
            ExprKind::Verified { signature, key, over } => {
                let (signature, key) = (self.text(signature), self.text(key));
                (WHOLE, format!("verified({signature}, by {key}, over {})", self.text(over)))
            }
            ExprKind::Included { leaf, root, proof } => {
                let (leaf, root) = (self.text(leaf), self.text(root));
                (WHOLE, format!("included({leaf}, in {root}, by {})", self.text(proof)))
            }
            ExprKind::NextOf { schedule, after } => {
                (WHOLE, format!("next({}, {})", self.text(schedule), self.text(after)))
            }
            ExprKind::Stored(digest) => (WHOLE, format!("stored({})", self.text(digest))),
            ExprKind::IsNull(inner) => (4, format!("{} = null", self.at(inner, 5))),
            ExprKind::Not(inner) => match &inner.kind {
                ExprKind::IsNull(value) => (4, format!("{} != null", self.at(value, 5))),
                ExprKind::Exists { .. } => (4, self.text(inner).replace(" present", " absent")),
                _ => (3, format!("not {}", self.at(inner, 4))),
            },
            ExprKind::Negate(inner) => (7, format!("-{}", self.at(inner, 8))),
            ExprKind::And(parts) => joined(parts, " and ", 2),
            ExprKind::Or(parts) => joined(parts, " or ", 1),
            ExprKind::Implies(left, right) => {
                (0, format!("{} implies {}", self.at(left, 1), self.at(right, 1)))
            }
            ExprKind::Compare { op, left, right } => {
                (4, format!("{} {} {}", self.at(left, 5), compare(*op), self.at(right, 5)))
            }
            ExprKind::In { item, collection } => {
                (4, format!("{} in {}", self.at(item, 5), self.at(collection, 5)))
            }
            ExprKind::Arithmetic { op: ArithmeticOp::Part { digits }, left, right } => {
                let place = match &right.kind {
                    ExprKind::Arithmetic { left: count, right: at, .. } => {
                        format!("{}, {}", self.text(count), self.text(at))
                    }
                    _ => self.text(right),
                };
                (WHOLE, format!("split({}, {place}, {digits})", self.text(left)))
            }
            ExprKind::Arithmetic { op, left, right } => {
                let (level, sign) = arithmetic(*op);
                let one = ExprKind::Literal(Const::Int(1));
                let rounds = rounding(*op);
                let text = match rounds {
                    // that is how a plain value is rounded
                    Some(_) if sign == "/" && right.kind == one => self.at(left, level),
                    _ => format!("{} {sign} {}", self.at(left, level), self.at(right, level + 1)),
                };
                (level, text + &rounds.unwrap_or_default())
            }
            ExprKind::Min(parts) => (WHOLE, format!("min({})", self.list(parts))),
            ExprKind::Max(parts) => (WHOLE, format!("max({})", self.list(parts))),
            ExprKind::If { condition, then, otherwise } => (
                0,
                format!(
                    "if {} then {} else {}",
                    self.text(condition),
                    self.text(then),
                    self.text(otherwise)
                ),
            ),
            ExprKind::Let { local, value, body } => (
                0,
                format!("let {} = {} in {}", self.local(*local), self.text(value), self.text(body)),
            ),
            ExprKind::Quantifier { all, local, domain, filter, body } => {
                let word = if *all { "all" } else { "any" };
                let over = self.over(*local, domain, filter.as_deref());
                (0, format!("{word} {over}: {}", self.text(body)))
            }
            ExprKind::Aggregate { local, domain, filter, value } => {
                let over = self.over(*local, domain, filter.as_deref());
                (
                    WHOLE,
                    match value {
                        Some(value) => format!("sum({} of {over})", self.text(value)),
                        None => format!("count({over})"),
                    },
                )
            }
            ExprKind::Counter { base, counter } => (WHOLE, self.counter(base, *counter)),
            ExprKind::Remembered { principal, actor, field, of } => {
                let name = &self.design.actors[actor.index()].memory[field.index()].name;
                let of = of.as_ref().map_or(String::new(), |of| format!("[{}]", self.text(of)));
                (WHOLE, format!("{}.{name}{of}", self.at(principal, 9)))
            }
            ExprKind::WorldArg { local, param } => {
                (WHOLE, format!("{}.{param}", self.local(*local)))
            }
            ExprKind::Old(inner) => (WHOLE, format!("old({})", self.text(inner))),
            ExprKind::Set(items) => (WHOLE, format!("{{{}}}", self.list(items))),
            ExprKind::List(items) => (WHOLE, format!("[{}]", self.list(items))),
            ExprKind::Index { base, index } => {
                (WHOLE, format!("{}[{}]", self.at(base, WHOLE), self.text(index)))
            }
            ExprKind::Field { base, field } => {
                let name = match &base.ty {
                    Type::Struct(fields) => fields[*field as usize].name.as_str(),
                    _ => "?",
                };
                (WHOLE, format!("{}.{name}", self.at(base, WHOLE)))
            }
            ExprKind::Size(inner) => (WHOLE, format!("size({})", self.text(inner))),
            ExprKind::Record(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", self.text(value)))
                    .collect();
                (WHOLE, format!("{{ {} }}", fields.join(", ")))
            }
            ExprKind::View { view, args } => {
                (WHOLE, format!("{}({})", self.design.views[view.index()].name, self.list(args)))
            }
            ExprKind::Error => (WHOLE, "?".into()),
        }
    }

    fn list(&self, parts: &[Expr]) -> String {
        parts.iter().map(|part| self.text(part)).collect::<Vec<_>>().join(", ")
    }

    fn subject_of(&self, base: &Expr) -> Option<&'a Subject> {
        base.ty.subject().and_then(|subject| self.design.subjects.get(subject.index()))
    }

    /// Is this the one parameter of its subject?
    fn is_only(&self, base: &Expr) -> bool {
        let ExprKind::Local(local) = base.kind else { return false };
        let is_param = self.params.iter().any(|param| param.local == local);
        let same = self.params.iter().filter(|p| p.ty.subject() == base.ty.subject()).count();
        is_param && same == 1
    }

    fn state(&self, base: &Expr, state: StateId) -> String {
        let name = self.subject_of(base).map_or("?", |s| &s.states[state.index()].name);
        if self.is_only(base) { name.to_owned() } else { format!("{}.{name}", self.at(base, 9)) }
    }

    fn attribute(&self, base: &Expr, attr: AttrId) -> String {
        let Some(subject) = self.subject_of(base) else { return "?".into() };
        let attribute = &subject.attributes[attr.index()];
        if self.is_row(base) {
            attribute.name.clone()
        } else if self.is_only(base) {
            format!("{}.{}", subject.states[attribute.state.index()].name, attribute.name)
        } else if subject.attributes.iter().filter(|other| other.name == attribute.name).count() > 1
        {
            // Two states have one of this name: only in full does it say which.
            format!("{}.{}", self.state(base, attribute.state), attribute.name)
        } else {
            format!("{}.{}", self.at(base, 9), attribute.name)
        }
    }

    fn key_part(&self, base: &Expr, part: u32) -> String {
        let name = self.subject_of(base).map_or("?", |s| &s.keys[part as usize].name);
        if self.is_row(base) { name.to_owned() } else { format!("{}.{name}", self.at(base, 9)) }
    }

    fn counter(&self, base: &Expr, counter: CounterId) -> String {
        let Some(subject) = self.subject_of(base) else { return "?".into() };
        let counter = &subject.counters[counter.index()];
        let child = &self.design.subjects[counter.child.index()].name;
        let inner = Scope::row(self.design, &counter.locals);
        let filter = counter
            .filter
            .as_ref()
            .map_or(String::new(), |filter| format!(" where {}", inner.text(filter)));
        match &counter.value {
            Some(value) => {
                format!("sum({} of {child} of {}{filter})", inner.text(value), self.text(base))
            }
            None => format!("count({child} of {}{filter})", self.text(base)),
        }
    }

    fn over(&self, local: LocalId, domain: &Domain, filter: Option<&Expr>) -> String {
        let subject = |id: &SubjectId| &self.design.subjects[id.index()].name;
        let domain = match domain {
            Domain::All(all) => subject(all).clone(),
            Domain::Children { child, parent } => {
                format!("{} of {}", subject(child), self.text(parent))
            }
            Domain::Elements(of) => self.text(of),
            Domain::World(effect) => {
                format!("world.{}", self.design.operations[effect.index()].name)
            }
            Domain::Principals(actor) => self.design.actors[actor.index()].name.clone(),
            Domain::Messages(step) => {
                format!("messages of {}", self.design.operations[step.index()].name)
            }
            Domain::Outbox(effect) => {
                format!("outbox of {}", self.design.operations[effect.index()].name)
            }
        };
        let filter = filter.map_or(String::new(), |filter| format!(" where {}", self.text(filter)));
        format!("{} in {domain}{filter}", self.local(local))
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "=",
        CompareOp::NotEqual => "!=",
        CompareOp::Less => "<",
        CompareOp::LessEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterEqual => ">=",
    }
}

fn arithmetic(op: ArithmeticOp) -> (u8, &'static str) {
    match op {
        ArithmeticOp::Add => (5, "+"),
        ArithmeticOp::Subtract => (5, "-"),
        ArithmeticOp::Multiply | ArithmeticOp::MultiplyRounded(_) => (6, "*"),
        ArithmeticOp::Divide | ArithmeticOp::DivideRounded(_) => (6, "/"),
        // always a part of `split`
        ArithmeticOp::Part { .. } | ArithmeticOp::Place => (6, "of"),
    }
}

/// ` round half_even to 2`
fn rounding(op: ArithmeticOp) -> Option<String> {
    match op {
        ArithmeticOp::MultiplyRounded(how) | ArithmeticOp::DivideRounded(how) => {
            Some(format!(" round {} to {}", how.mode.name(), how.digits))
        }
        _ => None,
    }
}
