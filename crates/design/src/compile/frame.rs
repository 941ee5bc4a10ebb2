//! Where an expression stands: which names it sees and what it may do.

use syntax::Span;

use crate::model::*;

/// What kind of place it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// a clause of a guard
    Guard,
    /// a statement of a step
    Effect,
    /// the result of a read
    Read,
    /// an invariant: about every state, or with `old` about every transition
    Invariant,
    /// what a `recovers` reaches
    Goal,
    /// the two sides of a `leads_to`
    LeadsTo,
    /// the rows of a view
    View,
    /// who sees a truth
    Visible,
    /// a counter over children
    Counter,
    /// known when compiled
    Constant,
    /// the key and the body of a call to the world outside
    Call,
    /// the value of a `measured by`
    Measured,
}

impl Mode {
    /// Evaluated over records that were fetched beforehand, so nothing may scan.
    pub fn is_bounded(self) -> bool {
        matches!(self, Mode::Guard | Mode::Effect | Mode::Read | Mode::Call | Mode::Visible)
    }

    /// Something that is to hold, over the whole world.
    pub fn is_goal(self) -> bool {
        matches!(self, Mode::Invariant | Mode::Goal | Mode::LeadsTo)
    }
}

/// One thing in scope; the innermost is last.
#[derive(Clone, Debug)]
pub enum Entry {
    Local {
        name: String,
        id: LocalId,
    },
    /// a record whose attributes and key parts are seen by their bare names
    Row {
        id: LocalId,
        subject: SubjectId,
    },
    /// a call to the world outside or a message, whose parameters are seen by their bare names
    WorldRow {
        id: LocalId,
        effect: OperationId,
    },
    /// one of the records of a list, whose fields are seen by their bare names
    Struct {
        id: LocalId,
    },
    /// a principal of this actor, which is the root of its chain
    Principal {
        id: LocalId,
        actor: ActorId,
    },
    /// nothing beyond is seen: the body of a `define`, a counter
    Wall,
}

pub struct Frame {
    pub mode: Mode,
    pub locals: Vec<Local>,
    /// where slots got their names, of those that have one in the text
    pub declared: Vec<(LocalId, Span)>,
    pub scope: Vec<Entry>,
    /// parameters that refer to a record: their states are seen by their bare names
    pub params: Vec<(LocalId, SubjectId)>,
    pub actor: Option<ActorId>,
    /// a view of the caller: `me` is whoever asks
    pub of_caller: bool,
    pub memory: Vec<MemoryUse>,
    pub uses_old: bool,
    pub in_old: bool,
    pub statements: u32,
    /// how often a `define` was put in place
    pub expansions: u32,
    pub expanding: Vec<usize>,
    /// a `define` without end was found: said once
    pub endless: bool,
    /// where the `=>` of a `leads_to` stands
    pub arrow: Option<Span>,
    /// how deep in the expression, with every `define` in place
    pub depth: usize,
}

impl Frame {
    pub fn new(mode: Mode, actor: Option<ActorId>) -> Frame {
        Frame {
            mode,
            locals: Vec::new(),
            declared: Vec::new(),
            scope: Vec::new(),
            params: Vec::new(),
            actor,
            of_caller: false,
            memory: Vec::new(),
            uses_old: false,
            in_old: false,
            statements: 0,
            expansions: 0,
            expanding: Vec::new(),
            endless: false,
            arrow: None,
            depth: 0,
        }
    }

    /// A new slot, in scope under its name until the scope is cut back.
    pub fn bind(&mut self, name: &str, ty: Type) -> LocalId {
        let id = self.slot(name, ty);
        self.scope.push(Entry::Local { name: name.to_string(), id });
        id
    }

    /// The parameters of an operation, which take the first slots.
    pub fn bind_params(&mut self, params: &[Param]) {
        for param in params {
            self.bind(&param.name, param.ty.clone());
            self.declared.push((param.local, param.span));
            if let Type::Ref(subject) = param.ty {
                self.params.push((param.local, subject));
            }
        }
    }

    /// Where the name of a slot is written.
    pub fn declared_at(&self, id: LocalId) -> Option<Span> {
        self.declared.iter().find(|(known, _)| *known == id).map(|(_, span)| *span)
    }

    /// A new slot that no name reaches.
    pub fn slot(&mut self, name: &str, ty: Type) -> LocalId {
        let id = LocalId::of(self.locals.len());
        self.locals.push(Local { name: name.to_string(), ty });
        id
    }

    pub fn local(&self, id: LocalId, span: Span) -> Expr {
        Expr { kind: ExprKind::Local(id), ty: self.locals[id.index()].ty.clone(), span }
    }

    pub fn next_statement(&mut self) -> StmtId {
        self.statements += 1;
        StmtId(self.statements - 1)
    }

    /// The entries that are seen, innermost first.
    pub fn visible(&self) -> impl Iterator<Item = &Entry> {
        self.scope.iter().rev().take_while(|entry| !matches!(entry, Entry::Wall))
    }

    /// The effect whose calls this slot ranges over.
    pub fn world_row(&self, slot: LocalId) -> Option<OperationId> {
        self.visible().find_map(|entry| match entry {
            Entry::WorldRow { id, effect } if *id == slot => Some(*effect),
            _ => None,
        })
    }

    /// The actor whose principals this slot ranges over.
    pub fn principal(&self, slot: LocalId) -> Option<ActorId> {
        self.visible().find_map(|entry| match entry {
            Entry::Principal { id, actor } if *id == slot => Some(*actor),
            _ => None,
        })
    }

    pub fn is_walled(&self) -> bool {
        self.scope.iter().any(|entry| matches!(entry, Entry::Wall))
    }
}
