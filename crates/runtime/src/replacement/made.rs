//! Values that stored records get and did not have: constants, and what a conversion makes of what is stored.
//!
//! Each is one more read of the new design's program, which is evaluated by the engine as all reads are.

use std::collections::BTreeMap;

use design::model::{
    ActorId, AttrId, BlobId, Const, Design, Expr, ExprKind, Local, LocalId, Operation, OperationId,
    OperationKind, Param, Span, StateId, SubjectId, Type,
};
use engine::{Command, Fetch, HashPart, NULL, Outcome, Program, Scratch, Truth, Word};
use layout::Following;
use layout::following::Source;

pub struct Made {
    /// the new design's, with the reads of this file; its texts are what a pool begins with
    pub program: Program,
    reads: BTreeMap<(SubjectId, AttrId), (OperationId, Kind)>,
    scratch: Scratch,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// the default of the only parameter
    Constant,
    /// the result
    Converted,
}

impl Made {
    pub fn new(new: &Design, following: &Following<'_>) -> Made {
        let mut extended = new.clone();
        let mut reads = BTreeMap::new();
        for (at, subject) in new.subjects.iter().enumerate() {
            let id = SubjectId::of(at);
            let Some(old) = following.before(id) else { continue };
            for attr in (0..subject.attributes.len()).map(AttrId::of) {
                let read = match following.source(old, id, attr) {
                    Source::Converted { by, .. } => {
                        let read = read(new, by.params.clone(), &by.value, &by.locals);
                        (read, Kind::Converted)
                    }
                    Source::Given(value) | Source::Default(value) => {
                        let ty = &subject.attributes[attr.index()].ty;
                        (constant(new, value, ty), Kind::Constant)
                    }
                    Source::Carried { .. } | Source::Missing => continue,
                };
                let (read, kind) = read;
                reads.insert((id, attr), (OperationId::of(extended.operations.len()), kind));
                extended.operations.push(read);
            }
        }
        Made { program: Program::new(&extended), reads, scratch: Scratch::default() }
    }

    /// The words of an attribute's value, from those of the parameters. The error says why there is none.
    pub fn value(
        &mut self,
        subject: SubjectId,
        attr: AttrId,
        params: &[Word],
    ) -> Result<Vec<Word>, String> {
        let (operation, kind) = self.reads[&(subject, attr)];
        if kind == Kind::Constant {
            let words = self.program.param_default(operation, 0);
            return Ok(words.expect("its only parameter has a default").to_vec());
        }
        let command = Command { operation, params, memory: &[], me: NULL, now: 0, answer: None };
        let truth = Alone(&self.program);
        match engine::step(&self.program, &truth, &command, &mut self.scratch) {
            Outcome::Done => Ok(self.scratch.result().to_vec()),
            Outcome::Refused(refusal) => {
                Err(format!("its conversion gives no value ({})", refusal.reason.name()))
            }
            Outcome::Need => unreachable!("a conversion reads its parameters alone"),
        }
    }
}

fn constant(design: &Design, value: &Const, ty: &Type) -> Operation {
    let span = Span::default();
    let yes = Expr { kind: ExprKind::Literal(Const::Bool(true)), ty: Type::Bool, span };
    let param = Param {
        name: "value".into(),
        ty: ty.clone(),
        range: None,
        new: false,
        from_caller: false,
        default: Some(value.clone()),
        generated: None,
        local: LocalId(0),
        span,
    };
    let local = Local { name: "value".into(), ty: ty.clone() };
    read(design, vec![param], &yes, &[local])
}

fn read(design: &Design, params: Vec<Param>, value: &Expr, locals: &[Local]) -> Operation {
    let span = value.span;
    let ty = Type::Record(vec![("value".into(), value.ty.clone())]);
    let result = Expr { kind: ExprKind::Record(vec![("value".into(), value.clone())]), ty, span };
    debug_assert!(params.iter().enumerate().all(|(at, param)| param.local == LocalId::of(at)));
    Operation {
        rate: None,
        hears: None,
        each: None,
        kind: OperationKind::Read { result },
        // nobody acts; any actor does
        actor: design.operations.first().map_or(ActorId(0), |first| first.actor),
        name: "a conversion".into(),
        params,
        locals: locals.to_vec(),
        guard: Vec::new(),
        body: Vec::new(),
        memory: Vec::new(),
        span,
        head: span,
    }
}

/// Nothing but the parameters: whatever they refer to is there, and is not looked at.
struct Alone<'p>(&'p Program);

impl Truth for Alone<'_> {
    fn record(&self, subject: SubjectId, _: Word) -> Fetch<'_> {
        Fetch::Present(self.0.defaults(subject))
    }

    fn cache(&self, _: SubjectId, _: StateId, _: Word, _: Word) -> Fetch<'_> {
        Fetch::Absent
    }

    fn key_part(&self, _: SubjectId, _: Word, _: u32) -> Word {
        NULL
    }

    fn key_of(&self, _: SubjectId, _: &[Word]) -> Word {
        NULL
    }

    fn stored(&self, _: BlobId, _: Word) -> Option<bool> {
        Some(true)
    }

    fn hash(&self, _: &[HashPart], _: &[Word]) -> Word {
        NULL
    }

    fn verified(&self, _: Word, _: Word, _: Word) -> bool {
        false
    }

    fn included(&self, _: Word, _: Word, _: Word) -> bool {
        false
    }

    fn next_of(&self, _: Word, _: Word) -> Option<Word> {
        None
    }

    fn stored_time(&self, _: SubjectId, _: Word) -> Word {
        NULL
    }
}
