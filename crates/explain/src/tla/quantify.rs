//! Quantifiers, counts and sums.

use design::model::{Domain, Expr, LocalId, SubjectId, Type};

use super::expr::Scope;
use super::text::{Term, Tight, and, implies};

impl<'w> Scope<'w> {
    /// The keys among which the records of a subject are.
    pub(super) fn keys(&self, subject: SubjectId) -> String {
        if self.world.grows(subject) {
            format!("DOMAIN {}", self.var(&self.world.there(subject)))
        } else {
            self.world.keys(subject)
        }
    }

    /// That `child` is there, and of this parent.
    pub(super) fn children(&self, subject: SubjectId, child: &str, parent: &str) -> Vec<String> {
        let mut all = Vec::new();
        if !self.world.subject(subject).implicit {
            all.push(format!("{}[{child}]", self.var(&self.world.there(subject))));
        }
        all.push(format!("{} = {parent}", self.world.part(subject, child, 0)));
        all
    }

    /// A name for a variable that nothing else has.
    fn fresh(&self, local: LocalId) -> String {
        format!("x{}", local.0)
    }

    /// What a variable ranges over, with the variable bound.
    fn ranged(&self, local: LocalId, domain: &Domain) -> (Scope<'w>, String, Vec<String>) {
        let name = self.fresh(local);
        let mut inner = self.clone();
        inner.locals.insert(local, name.clone());
        let mut needs = Vec::new();
        let text = match domain {
            Domain::All(subject) => {
                inner.present.insert(local);
                let keys = self.keys(*subject);
                if self.world.subject(*subject).implicit {
                    keys
                } else {
                    format!("{{k \\in {keys} : {}[k]}}", self.var(&self.world.there(*subject)))
                }
            }
            Domain::Children { child, parent } => {
                inner.present.insert(local);
                let parent = self.term(parent);
                needs.extend(parent.needs.clone());
                let of = self.children(*child, "k", &parent.within(Tight::Sum));
                format!("{{k \\in {} : {}}}", self.keys(*child), and(&of))
            }
            Domain::Elements(collection) => {
                let elements = self.elements(collection);
                needs.extend(elements.needs.clone());
                elements.within(Tight::Sum)
            }
            Domain::Principals(_) | Domain::Messages(_) | Domain::Outbox(_) => {
                self.world.refuse("principals, messages and the outbox, in a goal")
            }
            Domain::World(effect) => {
                inner.rows.insert(local, *effect);
                let outside = self.var(&self.world.outside(*effect));
                if self.world.is_key_gone(*effect) {
                    format!(
                        "{{r \\in (DOMAIN {outside}) \\X {{1, 2}} : r[2] <= {outside}[r[1]].times}}"
                    )
                } else {
                    format!("{{k \\in DOMAIN {outside} : {outside}[k].is = \"done\"}}")
                }
            }
        };
        (inner, text, needs)
    }

    pub(super) fn quantifier(
        &self,
        all: bool,
        local: LocalId,
        domain: &Domain,
        filter: Option<&Expr>,
        body: &Expr,
    ) -> Term {
        let (inner, over, mut needs) = self.ranged(local, domain);
        let name = &inner.locals[&local];
        let filter = filter.map(|filter| inner.test(filter));
        let body = inner.test(body);
        let mut every = Vec::new();
        if let Some(filter) = &filter {
            every.extend(filter.needs.clone());
            if !body.needs.is_empty() {
                every.push(implies(&filter.text, &and(&body.needs)));
            }
        } else {
            every.extend(body.needs.clone());
        }
        if !every.is_empty() {
            needs.push(format!("(\\A {name} \\in {over} : {})", and(&every)));
        }
        let condition = match (&filter, all) {
            (None, _) => body.text.clone(),
            (Some(filter), true) => {
                format!("{} => {}", filter.within(Tight::Not), body.within(Tight::Not))
            }
            (Some(filter), false) => {
                format!("{} /\\ {}", filter.within(Tight::And), body.within(Tight::And))
            }
        };
        let sign = if all { "\\A" } else { "\\E" };
        Term::new(format!("{sign} {name} \\in {over} : {condition}"), Tight::Open).needing(needs)
    }

    pub(super) fn aggregate(
        &self,
        local: LocalId,
        domain: &Domain,
        filter: Option<&Expr>,
        value: Option<&Expr>,
    ) -> Term {
        let (mut inner, mut over, mut needs) = self.ranged(local, domain);
        let name = inner.locals[&local].clone();
        if let Domain::Elements(collection) = domain
            && matches!(collection.ty.required(), Type::List { .. })
        {
            // each element counts as often as it is there
            let list = self.term(collection);
            over = format!("1..Len({})", list.text);
            inner.locals.insert(local, format!("{}[{name}]", list.within(Tight::Whole)));
        }
        let filter = filter.map(|filter| inner.test(filter));
        let value = value.map(|value| inner.term(value));
        let mut every: Vec<String> = filter.iter().flat_map(|term| term.needs.clone()).collect();
        every.extend(value.iter().flat_map(|term| term.needs.clone()));
        if !every.is_empty() {
            needs.push(format!("(\\A {name} \\in {over} : {})", and(&every)));
        }
        let rows = match &filter {
            Some(filter) => format!("{{{name} \\in {over} : {}}}", filter.text),
            None => over,
        };
        let text = match value {
            None => format!("Cardinality({rows})"),
            Some(value) if value.nullable => {
                format!("Total([{name} \\in {rows} |-> OrZero({})])", value.text)
            }
            Some(value) => format!("Total([{name} \\in {rows} |-> {}])", value.text),
        };
        Term::whole(text).needing(needs)
    }
}
