//! A design made ready to run, on whatever store: lowered, and with everything that a call looks up prepared.

use std::sync::{Arc, OnceLock};

use design::model::{Design, OperationId, OperationKind, SubjectId, Type, View, ViewForm, visit};
use engine::Program;
use layout::key::MAX_PARTS;
use layout::{OPERATIONS_MAX, RecordForm};
use rustc_hash::FxHashMap;

use crate::logs::Aged;
use crate::repairs::Elsewhere;
use crate::secrets::SecretPlaces;
use crate::sight::Sight;
use crate::views;

/// What does not change from call to call, nor from store to store. Whoever opens a design often lowers it once.
#[derive(Debug)]
pub struct Lowered {
    pub design: Arc<Design>,
    pub(crate) program: Program,
    pub(crate) subjects: Vec<SubjectSchema>,
    /// how the records of each subject are stored
    pub(crate) records: Vec<RecordForm>,
    /// for each view, the operation that evaluates a row
    pub(crate) view_operations: Vec<OperationId>,
    /// by view: the operations that evaluate what its rows show of other records
    pub(crate) view_columns: Vec<Vec<OperationId>>,
    /// by subject: do rows of some view show attributes of its records?
    pub(crate) joined: Vec<bool>,
    /// who may see what
    pub(crate) sight: Sight,
    /// where secrets stand
    pub(crate) secret_places: SecretPlaces,
    /// repairs that another record may make due
    pub(crate) elsewhere: Elsewhere,
    /// for each operation: whether anybody may call it
    callable: Vec<bool>,
    /// by actor, then by name
    operations: FxHashMap<String, FxHashMap<String, OperationId>>,
    subject_names: FxHashMap<String, SubjectId>,
    stored: OnceLock<Stored>,
}

/// What a store keeps of a design.
#[derive(Debug)]
pub(crate) struct Stored {
    /// how its truth is laid out
    pub layout: String,
    pub written: Vec<u8>,
}

#[derive(Debug)]
pub struct SubjectSchema {
    /// logs that keep entries for a time
    pub aged: Vec<Aged>,
    /// repairs that bind a record of this subject
    pub repairs: Vec<OperationId>,
}

impl Lowered {
    /// Fails on a design that is too large for the layout of keys.
    pub fn of(design: impl Into<Arc<Design>>) -> Result<Lowered, String> {
        let design = design.into();
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
        let mut extended = Design::clone(&design);
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
        Ok(Lowered {
            callable: visit::callable(&design),
            secret_places: SecretPlaces::of(&design, &program),
            design,
            program,
            subjects,
            records,
            view_operations,
            view_columns,
            joined,
            sight,
            elsewhere,
            operations,
            subject_names,
            stored: OnceLock::new(),
        })
    }

    /// Do views that are kept in memory look at records of this subject?
    pub fn is_viewed(&self, subject: SubjectId) -> bool {
        let shown =
            |view: &View| view.subject == subject && !matches!(view.form, ViewForm::Search { .. });
        self.joined[subject.index()] || self.design.views.iter().any(shown)
    }

    pub(crate) fn stored(&self) -> &Stored {
        self.stored.get_or_init(|| Stored {
            layout: layout::describe(&self.design),
            written: design::to_bytes(&self.design),
        })
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
