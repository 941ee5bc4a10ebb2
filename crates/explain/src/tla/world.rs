//! What there is in the small world: names, keys, principals, and the values that callers give.

use std::cell::RefCell;
use std::collections::BTreeSet;

use design::model::{
    ActorId, AttrId, ClauseRef, Const, Design, Expr, ExprKind, Fault, Operation, OperationId,
    OperationKind, Protection, StateKind, StmtKind, SubjectId, Type, Values, visit,
};

use super::flow::{Flow, Place, Scope, root};
use super::text::{quoted, set};
use super::time::Clock;

/// A design as it is being written down, and what of it could not be.
pub(super) struct World<'a> {
    pub design: &'a Design,
    pub without: &'a [Protection],
    pub flow: Flow,
    pub clock: Clock,
    /// which operations are called by messages alone
    pub targets: Vec<bool>,
    /// whose records a statement makes, under a key that it computes
    grown: BTreeSet<SubjectId>,
    problems: RefCell<BTreeSet<String>>,
}

fn grown(design: &Design) -> BTreeSet<SubjectId> {
    let mut found = BTreeSet::new();
    for body in design.operations.iter().flat_map(visit::bodies) {
        visit::each_statement(body, &mut |statement| {
            if let StmtKind::New { subject, .. } = &statement.kind {
                found.insert(*subject);
            }
        });
    }
    found
}

impl<'a> World<'a> {
    pub fn of(design: &'a Design, without: &'a [Protection]) -> World<'a> {
        World {
            design,
            without,
            flow: Flow::of(design),
            clock: Clock::of(design),
            targets: visit::message_targets(design),
            grown: grown(design),
            problems: RefCell::default(),
        }
    }

    /// Notes something that has no translation; what it returns stands in its place.
    pub fn refuse(&self, what: impl Into<String>) -> String {
        self.problems.borrow_mut().insert(what.into());
        "FALSE".into()
    }

    pub fn problems(&self) -> Vec<String> {
        self.problems.borrow().iter().cloned().collect()
    }

    pub fn setting(&self, name: &str, otherwise: i64) -> i64 {
        let held = self.design.world.settings.iter().find(|(held, _)| held == name);
        held.map_or(otherwise, |(_, value)| *value)
    }

    pub fn on(&self, fault: Fault) -> bool {
        self.design.world.faults.iter().any(|setting| setting.fault == fault)
    }

    pub fn budget(&self, fault: Fault) -> Option<u32> {
        let setting = self.design.world.faults.iter().find(|setting| setting.fault == fault);
        setting.and_then(|setting| setting.budget)
    }

    // What was taken away.

    pub fn is_clause_gone(&self, of: OperationId, which: ClauseRef) -> bool {
        self.without.iter().any(|protection| {
            matches!(protection, Protection::Clause { operation, clause }
                if *operation == of && *clause == which)
        })
    }

    pub fn is_repair_gone(&self, of: OperationId) -> bool {
        let gone =
            |p: &Protection| matches!(p, Protection::Repair { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_key_gone(&self, of: OperationId) -> bool {
        let gone = |p: &Protection| matches!(p, Protection::Key { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_outbox_gone(&self, of: OperationId) -> bool {
        let gone =
            |p: &Protection| matches!(p, Protection::Outbox { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_statement_gone(&self, of: OperationId, id: design::model::StmtId) -> bool {
        self.without.iter().any(|protection| {
            matches!(protection, Protection::Assignment { operation, statements }
                if *operation == of && statements.contains(&id))
        })
    }

    // Names.

    pub fn subject(&self, id: SubjectId) -> &'a design::model::Subject {
        &self.design.subjects[id.index()]
    }

    pub fn keys(&self, id: SubjectId) -> String {
        format!("{}Keys", self.subject(id).name)
    }

    pub fn there(&self, id: SubjectId) -> String {
        format!("{}_there", self.subject(id).name)
    }

    pub fn attr(&self, id: SubjectId, attr: AttrId) -> String {
        let subject = self.subject(id);
        let held = &subject.attributes[attr.index()];
        let same = |other: &&design::model::Attribute| {
            other.name == held.name
                && matches!(subject.states[other.state.index()].kind, StateKind::Truth)
        };
        if subject.attributes.iter().filter(same).count() > 1 {
            return format!(
                "{}_{}_{}",
                subject.name,
                subject.states[held.state.index()].name,
                held.name
            );
        }
        format!("{}_{}", subject.name, held.name)
    }

    pub fn log(&self, id: SubjectId, log: design::model::StateId, end: bool) -> String {
        let subject = self.subject(id);
        let which = if end { "end" } else { "start" };
        format!("{}_{}_{which}", subject.name, subject.states[log.index()].name)
    }

    pub fn memory(&self, actor: ActorId, field: design::model::MemoryId) -> String {
        let held = &self.design.actors[actor.index()];
        format!("Memory_{}_{}", held.name, held.memory[field.index()].name)
    }

    pub fn operation(&self, id: OperationId) -> String {
        let held = &self.design.operations[id.index()];
        format!("{}_{}", self.design.actors[held.actor.index()].name, held.name)
    }

    pub fn outbox(&self, id: OperationId) -> String {
        format!("Outbox_{}", self.design.operations[id.index()].name)
    }

    pub fn outside(&self, id: OperationId) -> String {
        format!("World_{}", self.design.operations[id.index()].name)
    }

    /// Is it part of truth, and kept? A time that nothing reads is not.
    pub fn kept(&self, id: SubjectId, attr: AttrId) -> bool {
        let subject = self.subject(id);
        let held = &subject.attributes[attr.index()];
        subject.states[held.state.index()].kind == StateKind::Truth
            && !self.clock.unread.contains(&(id, attr))
    }

    // Principals.

    fn principal_names(&self, actor: ActorId) -> Vec<String> {
        let actor = root(self.design, actor);
        let held = &self.design.actors[actor.index()];
        let count = self.design.world.actors.get(actor.index()).copied().unwrap_or(1).max(1);
        if held.is_world {
            return vec![quoted(&held.name)];
        }
        (1..=count).map(|at| quoted(&format!("{}-{at}", held.name))).collect()
    }

    fn roots(&self) -> impl Iterator<Item = ActorId> + '_ {
        let all = (0..self.design.actors.len()).map(ActorId::of);
        all.filter(|actor| root(self.design, *actor) == *actor)
    }

    pub fn all_principals(&self) -> Vec<String> {
        self.roots().flat_map(|actor| self.principal_names(actor)).collect()
    }

    /// Those who may act as this actor: its own, and those of actors that may be the same person.
    pub fn principals(&self, actor: ActorId) -> Vec<String> {
        let actor = root(self.design, actor);
        let mut names = self.principal_names(actor);
        for other in self.roots() {
            if other != actor && self.may_be_one(actor, other) {
                names.extend(self.principal_names(other));
            }
        }
        names
    }

    fn may_be_one(&self, actor: ActorId, other: ActorId) -> bool {
        let world = |actor: ActorId| self.design.actors[actor.index()].is_world;
        !world(actor)
            && !world(other)
            && self.flow.same(Place::Me(actor), Place::Me(other))
            && !self.are_apart(actor, other)
    }

    fn are_apart(&self, one: ActorId, other: ActorId) -> bool {
        let of = |actor: ActorId, is: ActorId| root(self.design, actor) == is;
        let actors = || (0..self.design.actors.len()).map(ActorId::of);
        let says = |from: ActorId, to: ActorId| {
            actors()
                .filter(|id| of(*id, from))
                .any(|id| self.design.actors[id.index()].apart.iter().any(|apart| of(*apart, to)))
        };
        says(one, other) || says(other, one)
    }

    /// Does it matter who calls?
    pub fn is_personal(&self, operation: &Operation) -> bool {
        let mut personal = !operation.memory.is_empty();
        visit::operation_exprs(operation, &mut |expr| {
            visit::each(expr, &mut |part| personal |= matches!(part.kind, ExprKind::Me));
        });
        personal
    }

    /// The set of those who call it, as far as that makes a difference.
    pub fn callers(&self, operation: &Operation) -> String {
        if self.is_personal(operation) {
            set(&self.principals(operation.actor))
        } else {
            set(&self.principal_names(operation.actor)[..1])
        }
    }

    // Keys and values.

    /// Every key of a subject, as values.
    pub fn key_list(&self, id: SubjectId) -> Vec<String> {
        let subject = self.subject(id);
        let parts: Vec<Vec<String>> =
            (0..subject.keys.len()).map(|part| self.key_values(id, part)).collect();
        let mut all: Vec<Vec<String>> = vec![Vec::new()];
        for values in &parts {
            all = all
                .iter()
                .flat_map(|head| {
                    values.iter().map(move |value| {
                        let mut key = head.clone();
                        key.push(value.clone());
                        key
                    })
                })
                .collect();
        }
        all.into_iter().map(|parts| key_of(&parts)).collect()
    }

    fn key_values(&self, id: SubjectId, part: usize) -> Vec<String> {
        let key = &self.subject(id).keys[part];
        let values = self.design.world.keys.get(id.index()).and_then(|parts| parts.get(part));
        match (values, key.ty.required()) {
            (_, Type::Ref(of)) => self.key_list(*of),
            (Some(values), ty) => self.list(values, ty, Place::Key(id, part as u32)),
            (None, Type::Actor) => self.all_principals(),
            (None, ty) => self.list(&Values::Whole, ty, Place::Key(id, part as u32)),
        }
    }

    pub fn part_list(&self, id: SubjectId, part: usize) -> Vec<String> {
        self.key_values(id, part)
    }

    /// The definition of the set of keys.
    pub fn key_set(&self, id: SubjectId) -> String {
        let subject = self.subject(id);
        let parts: Vec<String> = (0..subject.keys.len())
            .map(|part| match subject.keys[part].ty.required() {
                Type::Ref(of) => self.keys(*of),
                _ => set(&self.key_values(id, part)),
            })
            .collect();
        parts.join(" \\X ")
    }

    /// What opaque values of a place are called.
    fn opaque(&self, place: Place, count: u32) -> Vec<String> {
        let own = [place];
        let places = self.flow.class(place).map_or(&own[..], |class| &class.places);
        let keys = places.iter().filter(|place| matches!(place, Place::Key(..)));
        let name = keys.chain(places).find_map(|place| self.name_of(*place));
        let name = name.unwrap_or_else(|| "value".into());
        (1..=count).map(|at| quoted(&format!("{name}-{at}"))).collect()
    }

    fn name_of(&self, place: Place) -> Option<String> {
        let name = match place {
            Place::Attr(subject, attr) | Place::MapValue(subject, attr) => {
                self.subject(subject).attributes[attr.index()].name.clone()
            }
            Place::Key(subject, part) => self.subject(subject).keys[part as usize].name.clone(),
            Place::Memory(actor, field) => {
                self.design.actors[actor.index()].memory[field.index()].name.clone()
            }
            Place::Local(Scope::Operation(operation), local) => {
                self.design.operations[operation as usize].locals[local.index()].name.clone()
            }
            _ => return None,
        };
        Some(name).filter(|name| !name.is_empty())
    }

    /// Every value, one by one.
    pub fn list(&self, values: &Values, ty: &Type, place: Place) -> Vec<String> {
        let ty = ty.required();
        match values {
            Values::Opaque(count) => match ty {
                Type::Int | Type::Decimal | Type::Duration => {
                    (0..*count).map(|at| at.to_string()).collect()
                }
                _ => self.opaque(place, *count),
            },
            Values::Range(low, high) => match ty {
                Type::Time => {
                    vec![self.refuse("a parameter that is a `time`")]
                }
                _ => (*low..=*high).map(|at| at.to_string()).collect(),
            },
            Values::Listed(list) => list.iter().map(|value| self.constant(value)).collect(),
            Values::Whole => match ty {
                Type::Bool => vec!["FALSE".into(), "TRUE".into()],
                Type::Enum(id) => self.design.enumerations[id.index()]
                    .constants
                    .iter()
                    .map(|name| quoted(name))
                    .collect(),
                _ => vec![self.refuse(format!("values of the type {}", type_name(ty)))],
            },
            Values::Refs(subject) => self.key_list(*subject),
            Values::Principals => self.all_principals(),
            Values::PrincipalsOf(actors) => {
                let mut names: Vec<String> = Vec::new();
                for name in actors.iter().flat_map(|actor| self.principals(*actor)) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                names
            }
            Values::Units(low, high) => (*low..=*high)
                .map(|units| (i64::from(units) * self.clock.steps).to_string())
                .collect(),
            Values::OrNull(inner) => {
                let mut list = self.list(inner, ty, place);
                list.push("Null".into());
                list
            }
            Values::SetOf(..) | Values::ListOf(..) => {
                vec![self.refuse("a collection among the values of another type")]
            }
            Values::Irrelevant => vec![self.any(ty, place)],
        }
    }

    /// The one value of what nothing looks at.
    fn any(&self, ty: &Type, place: Place) -> String {
        match ty {
            Type::Int | Type::Decimal | Type::Duration | Type::Time => "0".into(),
            Type::Bool => "FALSE".into(),
            Type::Enum(id) => quoted(&self.design.enumerations[id.index()].constants[0]),
            Type::Set { .. } => "{}".into(),
            Type::List { .. } | Type::Map { .. } => "<<>>".into(),
            _ => self.opaque(place, 1).remove(0),
        }
    }

    /// The values that a caller gives a parameter.
    pub fn given(&self, id: OperationId, at: usize) -> String {
        let param = &self.design.operations[id.index()].params[at];
        let place = Place::Local(Scope::Operation(id.0), param.local);
        let ty = param.ty.required();
        let values = self.design.world.params.get(id.index()).and_then(|params| params.get(at));
        let fallback = match ty {
            Type::Ref(subject) => Values::Refs(*subject),
            Type::Actor => Values::Principals,
            _ => Values::Whole,
        };
        let values = values.unwrap_or(&fallback);
        let (inner, null) = match values {
            Values::OrNull(inner) => (&**inner, true),
            other => (other, false),
        };
        let mut text = match inner {
            Values::Refs(subject) => self.keys(*subject),
            Values::Principals => "Principals".into(),
            Values::SetOf(of, max) | Values::ListOf(of, max) => {
                let element = match ty {
                    Type::Set { of, .. } | Type::List { of, .. } => of,
                    other => other,
                };
                let mut elements = self.list(of, element, place);
                let met = self.met(of, None, element, place);
                elements.extend(met);
                let elements = set(&elements);
                if let Values::SetOf(..) = inner {
                    format!("{{s \\in SUBSET {elements} : Cardinality(s) <= {max}}}")
                } else {
                    let most = self.setting("list", 4).min(i64::from(*max));
                    format!("UNION {{[1..n -> {elements}] : n \\in 0..{most}}}")
                }
            }
            Values::Range(low, high) if *ty != Type::Time => format!("{low}..{high}"),
            Values::Whole if *ty == Type::Bool => "BOOLEAN".into(),
            other => set(&self.list(other, ty, place)),
        };
        let mut more: Vec<String> = self.met(inner, param.default.as_ref(), &param.ty, place);
        if null {
            more.push("Null".into());
        }
        if !more.is_empty() {
            text = format!("({text} \\cup {})", set(&more));
        }
        text
    }

    /// A parameter's own default, and the literals that it meets.
    fn met(
        &self,
        values: &Values,
        default: Option<&Const>,
        ty: &Type,
        place: Place,
    ) -> Vec<String> {
        let open = matches!(
            values,
            Values::Opaque(_) | Values::Range(..) | Values::Listed(_) | Values::Units(..)
        );
        if !open {
            return Vec::new();
        }
        let class = self.flow.class(place);
        let mut more: BTreeSet<Const> =
            class.map(|class| class.literals.clone()).unwrap_or_default();
        more.extend(default.filter(|value| **value != Const::Null).cloned());
        let held: Vec<String> = self.list(values, ty, place);
        let more = more.iter().map(|value| self.constant(value));
        more.filter(|value| !held.contains(value)).collect()
    }

    /// What a record has that was made and not written yet, or is not there.
    pub fn blank(&self, id: SubjectId, attr: AttrId) -> String {
        let held = &self.subject(id).attributes[attr.index()];
        match (&held.default, &held.ty) {
            (Some(value), _) => self.constant(value),
            (None, Type::Set { .. }) => "{}".into(),
            (None, Type::List { .. } | Type::Map { .. }) => "<<>>".into(),
            (None, _) => "Null".into(),
        }
    }

    pub fn constant(&self, value: &Const) -> String {
        match value {
            Const::Null => "Null".into(),
            Const::Bool(value) => if *value { "TRUE" } else { "FALSE" }.into(),
            Const::Int(value) | Const::Decimal(value) => value.to_string(),
            Const::Text(text) => quoted(text),
            Const::Duration(ms) => self.clock.duration(*ms).to_string(),
            Const::Enum(id, at) => {
                quoted(&self.design.enumerations[id.index()].constants[*at as usize])
            }
            Const::Set(list) => {
                set(&list.iter().map(|value| self.constant(value)).collect::<Vec<_>>())
            }
            Const::List(list) => super::text::tuple(
                &list.iter().map(|value| self.constant(value)).collect::<Vec<_>>(),
            ),
            Const::Map(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(key, value)| {
                        format!("({} :> {})", self.constant(key), self.constant(value))
                    })
                    .collect();
                if pairs.is_empty() { "<<>>".into() } else { pairs.join(" @@ ") }
            }
        }
    }

    /// Every value of a type of which there are few; in the order in which `for` visits them.
    pub fn universe(&self, ty: &Type) -> Option<Vec<String>> {
        match ty.required() {
            Type::Ref(subject) => Some(self.key_list(*subject)),
            Type::Actor => Some(self.all_principals()),
            Type::Bool => Some(vec!["FALSE".into(), "TRUE".into()]),
            Type::Enum(id) => Some(
                self.design.enumerations[id.index()].constants.iter().map(|c| quoted(c)).collect(),
            ),
            _ => None,
        }
    }

    /// Can there be records with other keys than those of the world?
    pub fn grows(&self, subject: SubjectId) -> bool {
        self.grown.contains(&subject)
    }

    /// The place where the records that these arguments name live.
    pub fn place(&self, operation: &Operation, args: &[String]) -> Option<String> {
        operation.params.iter().zip(args).find_map(|(param, arg)| {
            let subject = param.ty.subject()?;
            let part = self.subject(subject).place?;
            Some(self.part(subject, arg, part))
        })
    }

    pub fn part(&self, subject: SubjectId, key: &str, part: u32) -> String {
        if self.subject(subject).keys.len() == 1 {
            key.to_owned()
        } else {
            format!("{key}[{}]", part + 1)
        }
    }

    pub fn effects(&self) -> impl Iterator<Item = OperationId> + '_ {
        let all = (0..self.design.operations.len()).map(OperationId::of);
        all.filter(|id| matches!(self.design.operations[id.index()].kind, OperationKind::Effect(_)))
    }
}

pub(super) fn key_of(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        parts => super::text::tuple(parts),
    }
}

pub(super) fn type_name(ty: &Type) -> &'static str {
    match ty.required() {
        Type::Digest(_) | Type::Hash => "`digest`",
        Type::Signature => "`signature`",
        Type::PublicKey => "`public_key`",
        Type::Proof => "`proof`",
        Type::Time => "`time`",
        Type::Record(_) | Type::Rows(_) => "a record",
        _ => "this",
    }
}

/// Does an expression have such a part?
pub(super) fn has(expr: &Expr, found: &dyn Fn(&Expr) -> bool) -> bool {
    let mut any = false;
    visit::each(expr, &mut |part| any |= found(part));
    any
}
