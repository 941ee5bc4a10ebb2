//! One design made ready to run: lowered, and with everything that a call looks up prepared.

use std::sync::{Arc, PoisonError, RwLock};

use design::model::{Design, OperationId, OperationKind, SubjectId, Type, View, ViewForm, visit};
use engine::Program;
use layout::key::MAX_PARTS;
use layout::{Codec, DesignNumber, OPERATIONS_MAX, RecordForm};
use rustc_hash::FxHashMap;

use crate::logs::Aged;
use crate::outbox::Listeners;
use crate::repairs::Elsewhere;
use crate::secrets::{SecretPlaces, Secrets};
use crate::sight::Sight;
use crate::views;

/// What does not change from call to call.
#[derive(Debug)]
pub struct Schema {
    pub design: Design,
    pub program: Program,
    /// its number in the store
    pub number: DesignNumber,
    pub subjects: Vec<SubjectSchema>,
    /// how the records of each subject are stored
    pub records: Vec<RecordForm>,
    /// for each view, the operation that evaluates a row
    pub view_operations: Vec<OperationId>,
    /// by view: the operations that evaluate what its rows show of other records
    pub view_columns: Vec<Vec<OperationId>>,
    /// by subject: do rows of some view show attributes of its records?
    pub joined: Vec<bool>,
    /// who may see what
    pub sight: Sight,
    /// where secrets stand
    pub secret_places: SecretPlaces,
    /// the keys that they are kept with
    pub secrets: Option<Arc<dyn Secrets>>,
    /// a repair whose guard depends on another record is looked at again after so long
    pub reexamine_ms: i64,
    /// so many entries of a log are forgotten in one commit, if not fewer
    pub forgets_max: usize,
    /// repairs that another record may make due
    pub elsewhere: Elsewhere,
    /// for each operation: whether anybody may call it
    callable: Vec<bool>,
    /// by actor, then by name
    operations: FxHashMap<String, FxHashMap<String, OperationId>>,
    subject_names: FxHashMap<String, SubjectId>,
    /// for each operation: the name that the world outside knows its calls by
    pub called: Vec<String>,
    /// designs that hear this one
    listeners: RwLock<Listeners>,
}

#[derive(Debug)]
pub struct SubjectSchema {
    /// logs that keep entries for a time
    pub aged: Vec<Aged>,
    /// repairs that bind a record of this subject
    pub repairs: Vec<OperationId>,
}

impl Schema {
    /// Fails on a design that is too large for the layout of keys.
    pub fn new(design: Design, number: DesignNumber) -> Result<Schema, String> {
        for subject in &design.subjects {
            if subject.keys.len() > MAX_PARTS {
                return Err(format!(
                    "the key of `{}` has {} parts, and at most {MAX_PARTS} are stored",
                    subject.name,
                    subject.keys.len()
                ));
            }
        }
        for view in &design.views {
            let grouped = |param: &design::model::Param| {
                view.group.iter().any(|(local, _)| *local == param.local)
            };
            let mut others = view.params.iter().filter(|param| !view.form.is_asked(param.local));
            if let Some(param) = others.find(|param| !grouped(param)) {
                return Err(format!(
                    "the view `{}` picks rows by `{}` in a condition; only parameters that have \
                     the name of an attribute are served yet",
                    view.name, param.name
                ));
            }
        }
        if design.subjects.len().max(design.operations.len()) > OPERATIONS_MAX {
            return Err(format!("at most {OPERATIONS_MAX} subjects and operations are stored"));
        }
        // views are evaluated by the same program, as reads of one record
        let mut extended = design.clone();
        extended.operations.extend(views::operations(&design));
        let view_operations =
            (design.operations.len()..extended.operations.len()).map(OperationId::of).collect();
        let mut view_columns = Vec::new();
        for columns in views::column_operations(&design) {
            let first = extended.operations.len();
            view_columns.push((first..first + columns.len()).map(OperationId::of).collect());
            extended.operations.extend(columns);
        }
        let mut joined = vec![false; design.subjects.len()];
        for subject in design.views.iter().flat_map(|view| view.joined()) {
            joined[subject.index()] = true;
        }
        let (sight, conditions) = Sight::of(&design, extended.operations.len());
        extended.operations.extend(conditions);
        let (elsewhere, own) = Elsewhere::of(&design, extended.operations.len());
        extended.operations.extend(own);
        let program = Program::new(&extended);
        let subjects = (0..design.subjects.len())
            .map(|at| subject_schema(&design, &program, SubjectId::of(at)))
            .collect();
        let records = (0..design.subjects.len())
            .map(|at| RecordForm::of(&design, &program, SubjectId::of(at)))
            .collect();
        let mut operations: FxHashMap<String, FxHashMap<String, OperationId>> =
            FxHashMap::default();
        for (at, operation) in design.operations.iter().enumerate() {
            let actor = design.actors[operation.actor.index()].name.clone();
            let of_actor = operations.entry(actor).or_default();
            of_actor.insert(operation.name.clone(), OperationId::of(at));
        }
        let subject_names = design
            .subjects
            .iter()
            .enumerate()
            .map(|(at, subject)| (subject.name.clone(), SubjectId::of(at)))
            .collect();
        Ok(Schema {
            callable: visit::callable(&design),
            secret_places: SecretPlaces::of(&design, &program),
            secrets: None,
            reexamine_ms: crate::repairs::REEXAMINE_MS,
            forgets_max: usize::MAX,
            called: design.operations.iter().map(|operation| operation.name.clone()).collect(),
            design,
            program,
            number,
            subjects,
            records,
            view_operations,
            view_columns,
            joined,
            sight,
            elsewhere,
            operations,
            subject_names,
            listeners: RwLock::default(),
        })
    }

    /// Do views that are kept in memory look at records of this subject?
    pub fn is_viewed(&self, subject: SubjectId) -> bool {
        let shown =
            |view: &View| view.subject == subject && !matches!(view.form, ViewForm::Search { .. });
        self.joined[subject.index()] || self.design.views.iter().any(shown)
    }

    pub fn listeners(&self) -> Listeners {
        Arc::clone(&self.listeners.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn set_listeners(&self, listeners: Listeners) {
        *self.listeners.write().unwrap_or_else(PoisonError::into_inner) = listeners;
    }

    /// How everything of this design is stored.
    pub fn codec(&self) -> Codec<'_> {
        let Schema { number, design, program, records, .. } = self;
        Codec { number: *number, design, program, records }
    }

    pub fn operation(&self, actor: &str, operation: &str) -> Option<OperationId> {
        self.operations.get(actor)?.get(operation).copied()
    }

    /// May it be called from outside?
    pub fn is_callable(&self, operation: OperationId) -> bool {
        self.callable[operation.index()]
    }

    pub fn subject(&self, name: &str) -> Option<SubjectId> {
        self.subject_names.get(name).copied()
    }
}

fn subject_schema(design: &Design, program: &Program, id: SubjectId) -> SubjectSchema {
    let repairs = design
        .operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| {
            matches!(operation.kind, OperationKind::Repair { .. })
                && operation.params.first().map(|param| &param.ty) == Some(&Type::Ref(id))
        })
        .map(|(at, _)| OperationId::of(at))
        .collect();
    SubjectSchema { aged: Aged::all(design, id, program.layout(id)), repairs }
}
