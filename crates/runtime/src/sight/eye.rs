//! What one viewer sees.

use std::cell::RefCell;

use design::model::{ActorId, EventId, OperationId, StateId, SubjectId};
use engine::{Command, Outcome, Scratch, Word};
use layout::{Head, Pool, log_of};
use store::Decision;

use super::viewer::{Roles, Viewer};
use super::{Answer, Mentions, Rule, Sight};
use crate::calls::{Tree, fetch};
use crate::core::{Got, Loaded, Newest, ReadError, Runtime, Source};

/// The states of one record that a viewer sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    Everything,
    /// by state; at least one is seen
    Some(Vec<bool>),
    /// not even that it is there
    Nothing,
}

impl Mask {
    pub fn shows(&self, state: StateId) -> bool {
        match self {
            Mask::Everything => true,
            Mask::Some(states) => states.get(state.index()).copied().unwrap_or(false),
            Mask::Nothing => false,
        }
    }
}

/// A record that is looked at.
#[derive(Clone, Copy)]
pub struct Looked<'a> {
    pub subject: SubjectId,
    pub key: Word,
    /// none: it is gone, or never was
    pub words: Option<&'a [Word]>,
}

/// The rules as they apply to one viewer, who does not see everything.
pub struct Eye<'r> {
    runtime: &'r Runtime,
    sight: &'r Sight,
    principal: &'r str,
    /// by actor at the root of a chain: is it the viewer's?
    roles: Vec<bool>,
}

impl Runtime {
    /// None: nothing is hidden.
    pub(crate) fn eye<'r>(&'r self, viewer: Option<&'r Viewer>) -> Option<Eye<'r>> {
        let viewer = viewer.filter(|viewer| viewer.roles != Roles::All)?;
        let sight = &self.schema.sight;
        let mut roles = vec![false; self.schema.design.actors.len()];
        for root in sight.roots_of(viewer) {
            roles[root.index()] = true;
        }
        Some(Eye { runtime: self, sight, principal: &viewer.principal, roles })
    }
}

/// What is not loaded stays unknown.
struct NoSource;

impl Source for NoSource {
    fn get(&self, _: &[u8]) -> Got<'_> {
        Got::Later
    }

    fn stored(&self, _: &[u8]) -> Option<bool> {
        None
    }
}

impl Eye<'_> {
    pub fn acts_as(&self, actor: ActorId) -> bool {
        self.roles[self.sight.roots[actor.index()].index()]
    }

    pub fn is(&self, principal: &str) -> bool {
        self.principal == principal
    }

    /// Is this state seen on every record, whatever it says?
    pub fn always(&self, subject: SubjectId, state: StateId) -> bool {
        match &self.sight.states[subject.index()][state.index()] {
            Rule::Derived(readers) => readers.iter().any(|actor| self.roles[actor.index()]),
            Rule::Stated(stated) => stated.iter().any(|stated| {
                stated.condition.is_none() && stated.to.iter().any(|to| self.roles[to.index()])
            }),
        }
    }

    /// The conditions under which this state is seen by one of the viewer's roles.
    fn conditions(&self, subject: SubjectId, state: usize) -> Vec<OperationId> {
        match &self.sight.states[subject.index()][state] {
            Rule::Derived(_) => Vec::new(),
            Rule::Stated(stated) => stated
                .iter()
                .filter(|stated| stated.to.iter().any(|to| self.roles[to.index()]))
                .filter_map(|stated| stated.condition)
                .collect(),
        }
    }

    /// Are all records of the subject there for the viewer, and every state that is mentioned?
    pub fn sees_all_of(&self, subject: SubjectId, mentions: &Mentions) -> bool {
        let states = self.sight.states[subject.index()].len();
        let there = states == 0 || (0..states).any(|at| self.always(subject, StateId::of(at)));
        there && self.always_sees(mentions)
    }

    fn always_sees(&self, mentions: &Mentions) -> bool {
        let counted = |subject: &SubjectId| {
            let states = self.sight.states[subject.index()].len();
            (0..states).all(|state| self.always(*subject, StateId::of(state)))
        };
        mentions.states.iter().all(|(subject, state)| self.always(*subject, *state))
            && mentions.counted.iter().all(counted)
    }

    pub fn of_view(&self, view: usize) -> &Mentions {
        &self.sight.views[view]
    }

    /// Are all rows of a view there for the viewer, and everything that they tell by being there? Of a view of the
    /// caller: all rows that belong to the viewer, who is asked before whether it is of that actor.
    pub fn sees_whole_view(&self, view: usize) -> bool {
        let (subject, mentions) = (self.sight.subjects[view], self.of_view(view));
        if self.sees_all_of(subject, mentions) {
            return true;
        }
        let own =
            |state: StateId| self.always(subject, state) || self.sight.own[view][state.index()];
        let states = self.sight.states[subject.index()].len();
        (0..states).any(|at| own(StateId::of(at)))
            && mentions.states.iter().all(|(of, state)| *of == subject && own(*state))
            && mentions.counted.is_empty()
    }

    /// Is this state seen on every row that the view has for the viewer?
    pub fn sees_on_every_row(&self, view: usize, state: StateId) -> bool {
        let subject = self.sight.subjects[view];
        self.always(subject, state) || self.sight.own[view][state.index()]
    }

    /// Is what a column tells seen, on the records that it was read from?
    pub fn sees_column(
        &self,
        view: usize,
        column: usize,
        read: &[Looked<'_>],
        pool: &RefCell<Pool>,
    ) -> Result<bool, ReadError> {
        let told = &self.sight.columns[view][column];
        for record in read {
            let mask = self.mask(*record, pool, None)?;
            let of = told.states.iter().filter(|(subject, _)| *subject == record.subject);
            if !of.into_iter().all(|(_, state)| mask.shows(*state)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What of a record is seen. `source` knows the records that a condition follows references to;
    /// none: they are asked of the store, which must not be in a transaction.
    pub fn mask(
        &self,
        record: Looked<'_>,
        pool: &RefCell<Pool>,
        source: Option<&dyn Source>,
    ) -> Result<Mask, ReadError> {
        let rules = &self.sight.states[record.subject.index()];
        let mut seen = Vec::with_capacity(rules.len());
        for state in 0..rules.len() {
            let always = self.always(record.subject, StateId::of(state));
            seen.push(always || self.holds_any(record, state, pool, source)?);
        }
        Ok(match (seen.iter().all(|seen| *seen), seen.iter().any(|seen| *seen)) {
            (true, _) => Mask::Everything,
            (_, true) => Mask::Some(seen),
            _ => Mask::Nothing,
        })
    }

    fn holds_any(
        &self,
        record: Looked<'_>,
        state: usize,
        pool: &RefCell<Pool>,
        source: Option<&dyn Source>,
    ) -> Result<bool, ReadError> {
        // what a record that is gone would say, nobody knows any more
        let implicit = self.runtime.schema.design.subjects[record.subject.index()].implicit;
        if record.words.is_none() && !implicit {
            return Ok(false);
        }
        for condition in self.conditions(record.subject, state) {
            let held = match source {
                Some(source) => self.holds(condition, record, pool, source)?,
                None => match self.holds(condition, record, pool, &NoSource)? {
                    None => self.holds_in_store(condition, record, pool)?,
                    known => known,
                },
            };
            if held == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is seen of a record that this operation changed: nothing, if it can only have changed
    /// what is not seen.
    pub fn mask_of_change(
        &self,
        operation: OperationId,
        record: Looked<'_>,
        pool: &RefCell<Pool>,
    ) -> Result<Mask, ReadError> {
        let mask = self.mask(record, pool, None)?;
        let told = match log_of(operation) {
            Some(log) => mask.shows(log),
            None => self.sight.written[operation.index()]
                .iter()
                .any(|(of, state)| *of == record.subject && mask.shows(*state)),
        };
        Ok(if told { mask } else { Mask::Nothing })
    }

    /// Soft state lies beside the record: who sees it is asked of the record as it is now.
    pub fn sees_soft(
        &self,
        (subject, key): (SubjectId, Word),
        state: &str,
        pool: &RefCell<Pool>,
    ) -> Result<bool, ReadError> {
        let schema = &*self.runtime.schema;
        let declared = &schema.design.subjects[subject.index()];
        let Some(at) = declared.states.iter().position(|known| known.name == state) else {
            return Ok(false);
        };
        if self.always(subject, StateId::of(at)) {
            return Ok(true);
        }
        let mut seen = Ok(false);
        let looked = self.runtime.look(&mut |transaction| {
            let source = Newest(transaction, schema.number);
            seen = (|| {
                let mut loaded = Loaded::new(pool);
                let need = [engine::Need::Record { subject, key }];
                fetch(schema, &mut loaded, &need, &source, &mut Vec::new())?;
                let words = loaded.find(subject, key).and_then(|at| loaded.words(at));
                self.holds_any(Looked { subject, key, words }, at, pool, Some(&source))
            })();
            Decision::Abandon
        });
        looked?;
        seen
    }

    fn holds_in_store(
        &self,
        condition: OperationId,
        record: Looked<'_>,
        pool: &RefCell<Pool>,
    ) -> Result<Option<bool>, ReadError> {
        let mut held = Ok(None);
        let looked = self.runtime.look(&mut |transaction| {
            let source = Newest(transaction, self.runtime.schema.number);
            held = self.holds(condition, record, pool, &source);
            Decision::Abandon
        });
        looked?;
        held
    }

    /// None: the source does not know a record that the condition looks at.
    fn holds(
        &self,
        condition: OperationId,
        record: Looked<'_>,
        pool: &RefCell<Pool>,
        source: &dyn Source,
    ) -> Result<Option<bool>, ReadError> {
        let schema = &*self.runtime.schema;
        let me = pool.borrow_mut().text(self.principal.as_bytes());
        let mut loaded = Loaded::new(pool);
        let version = record.words.map(|_| 1);
        let (subject, key) = (record.subject, record.key);
        loaded.add(subject, key, &[], version, Head::default(), record.words);
        let params = [key];
        let now = self.runtime.clock.now_ms();
        let command =
            Command { operation: condition, params: &params, memory: &[], me, now, answer: None };
        let mut scratch = Scratch::default();
        let mut words = Vec::new();
        loop {
            match engine::step(&schema.program, &loaded, &command, &mut scratch) {
                Outcome::Done => return Ok(Some(true)),
                // where it cannot be evaluated, it does not hold
                Outcome::Refused(_) => return Ok(Some(false)),
                Outcome::Need => {
                    if !fetch(schema, &mut loaded, scratch.needs(), source, &mut words)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Is an event told, of a transition in which these masks were seen of the changed records?
    pub fn sees_event(&self, event: EventId, own: bool, shown: &[(SubjectId, Mask)]) -> bool {
        let mentions = &self.sight.events[event.index()];
        let whole = shown.iter().all(|(_, mask)| *mask == Mask::Everything) && !shown.is_empty();
        let seen = |(subject, state): &(SubjectId, StateId)| {
            self.always(*subject, *state) || shown.iter().any(|(of, _)| of == subject)
        };
        let counted = Mentions { counted: mentions.counted.clone(), ..Mentions::default() };
        whole
            && (own || !mentions.me)
            && mentions.states.iter().all(seen)
            && self.always_sees(&counted)
    }

    /// Leaves out of an answer what is made of truth that is not seen. `read` are the records that
    /// were looked at: where several of one subject were, all of them must be seen.
    pub fn answer(
        &self,
        operation: OperationId,
        tree: Tree,
        read: &[Looked<'_>],
        pool: &RefCell<Pool>,
        source: &dyn Source,
    ) -> Result<Tree, ReadError> {
        let mut masks = Vec::with_capacity(read.len());
        for record in read.iter().filter(|record| record.words.is_some()) {
            masks.push((record.subject, self.mask(*record, pool, Some(source))?));
        }
        let told = self.sight.answers[operation.index()].as_ref();
        Ok(told.and_then(|told| self.part(tree, told, &masks)).unwrap_or_else(Tree::nothing))
    }

    fn part(&self, tree: Tree, told: &Answer, masks: &[(SubjectId, Mask)]) -> Option<Tree> {
        match (tree, told) {
            (Tree::Record(fields), Answer::Record(told)) => {
                let kept = fields.into_iter().zip(told).filter_map(|((name, tree), (_, told))| {
                    Some((name, self.part(tree, told, masks)?))
                });
                let kept: Vec<(String, Tree)> = kept.collect();
                (!kept.is_empty()).then_some(Tree::Record(kept))
            }
            (tree, Answer::Part(mentions)) => {
                let seen = |(subject, state): &(SubjectId, StateId)| {
                    let mut of = masks.iter().filter(|(known, _)| known == subject);
                    of.all(|(_, mask)| mask.shows(*state))
                };
                let counted = Mentions { counted: mentions.counted.clone(), ..Mentions::default() };
                let told = mentions.states.iter().all(seen) && self.always_sees(&counted);
                told.then_some(tree)
            }
            // an answer whose shape is not the one that was prepared is not told
            (_, Answer::Record(_)) => None,
        }
    }
}
