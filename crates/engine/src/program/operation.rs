//! Operations, lowered.

use design::model::{
    ActorId, Answer, ClauseRef, Design, Expr, ExprKind, MemoryId, Operation, OperationId,
    OperationKind, Protection, Range, Span, StmtKind, Target, Type, visit,
};

use super::lower::Lower;
use super::node::{NodeId, Run, Slot};
pub(crate) use super::params::{Check, ColumnRule, KeyRule, Look, ParamRule, ValueRule, Wanted};
use super::shape::Shape;
use crate::layout::width_of;
use crate::{Field, ParamsLayout};

#[derive(Debug)]
pub(crate) struct Op {
    pub kind: Kind,
    /// at the root of the chain of actors
    pub actor: ActorId,
    pub params: ParamsLayout,
    pub param_rules: Vec<ParamRule>,
    /// arguments that must be looked at before anything else
    pub values: Vec<ValueRule>,
    /// and the fields of those that are lists of records
    pub columns: Vec<ColumnRule>,
    /// and those whose keys must be looked at
    pub key_values: Vec<KeyRule>,
    /// records that must be there, then records that must not
    pub looks: Vec<Look>,
    pub frame_width: u32,
    /// is an absent record, or an absent parent of a new one, a refusal?
    pub exists: bool,
    pub has_new: bool,
    /// so a record that is made may lack a value
    pub statements_removed: bool,
    pub clauses: Vec<ClauseNode>,
    pub body: Run,
    /// of a repair: what it writes depends on its own record alone, so a value that lies outside its
    /// range stays outside until that record changes
    pub own_body: bool,
    /// ok, refused, unknown
    pub answers: [AnswerNode; 3],
    /// what a keystore is asked to sign, and its key
    pub sign: Option<(NodeId, NodeId)>,
    /// slots
    pub key: Run,
    pub result: Option<(Slot, Shape)>,
    pub memory: Vec<MemoryRule>,
    pub removed: Removed,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Step,
    Repair,
    Effect,
    Read,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClauseNode {
    /// into `Operation::guard`
    pub index: u32,
    pub node: NodeId,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerNode {
    pub param: Option<u32>,
    pub range: Option<Range>,
    pub body: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryRule {
    pub actor: ActorId,
    pub field: MemoryId,
    /// the parameter whose record it belongs to
    pub of: Option<u32>,
    pub read: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Removed {
    pub repair: bool,
    pub outbox: bool,
    pub key: bool,
    pub at_least: bool,
    pub keyed: bool,
}

/// The actor at the end of the chain of `continues`.
pub(super) fn root_of(design: &Design, actor: ActorId) -> ActorId {
    let mut root = actor;
    for _ in 0..design.actors.len() {
        match design.actors.get(root.index()).and_then(|actor| actor.continues) {
            Some(next) => root = next,
            None => break,
        }
    }
    root
}

impl<'d> Lower<'d> {
    pub(super) fn operation(&mut self, id: OperationId, operation: &'d Operation) -> Op {
        self.scope(&operation.locals);
        let mut gone = Vec::new();
        let mut removed = Removed::default();
        self.removed.clear();
        for protection in self.protections {
            match protection {
                Protection::Clause { operation, clause } if *operation == id => gone.push(*clause),
                Protection::Assignment { operation, statements } if *operation == id => {
                    self.removed.extend_from_slice(statements);
                }
                Protection::Repair { operation } if *operation == id => removed.repair = true,
                Protection::Outbox { operation } if *operation == id => removed.outbox = true,
                Protection::Key { operation } if *operation == id => removed.key = true,
                Protection::AtLeast { operation } if *operation == id => removed.at_least = true,
                Protection::Keyed { operation } if *operation == id => removed.keyed = true,
                _ => {}
            }
        }
        let mut clauses = Vec::new();
        for (index, clause) in operation.guard.iter().enumerate() {
            let index = index as u32;
            if !gone.contains(&ClauseRef::Named(index)) {
                let node = self.expr(&clause.body);
                clauses.push(ClauseNode { index, node, span: clause.span });
            }
        }
        let body = self.body(&operation.body);
        let (kind, answers, key, result) = match &operation.kind {
            OperationKind::Step { .. } => (Kind::Step, Default::default(), Run::default(), None),
            OperationKind::Repair { .. } => {
                (Kind::Repair, Default::default(), Run::default(), None)
            }
            OperationKind::Effect(effect) => {
                let answers = [
                    self.answer(&effect.on_ok),
                    self.answer(&effect.on_refused),
                    self.answer(&effect.on_unknown),
                ];
                let slots: Vec<Slot> = effect.key.iter().map(|key| self.own_slot(key)).collect();
                let key = self.slots(&slots);
                let body = Expr {
                    ty: Type::Record(
                        effect.body.iter().map(|(name, e)| (name.clone(), e.ty.clone())).collect(),
                    ),
                    kind: ExprKind::Record(effect.body.clone()),
                    span: operation.span,
                };
                (Kind::Effect, answers, key, Some(self.result(&body)))
            }
            OperationKind::Read { result } => {
                (Kind::Read, Default::default(), Run::default(), Some(self.result(result)))
            }
        };
        let sign = match &operation.kind {
            OperationKind::Effect(effect) => effect.sign.as_ref(),
            _ => None,
        };
        let sign = sign.map(|sign| (self.expr(&sign.digest), self.expr(&sign.key)));
        let fresh = !gone.contains(&ClauseRef::Fresh);
        let exists = !gone.contains(&ClauseRef::Exists);
        Op {
            kind,
            values: self.values(id, operation),
            columns: self.columns(id, operation),
            key_values: self.key_values(id, operation),
            looks: self.looks(id, operation, (exists, fresh)),
            actor: root_of(self.design, operation.actor),
            params: self.params[id.index()].clone(),
            param_rules: self.param_rules(operation),
            frame_width: self.frame_width,
            exists,
            statements_removed: !self.removed.is_empty(),
            has_new: operation.params.iter().any(|param| param.new),
            clauses,
            body,
            own_body: kind == Kind::Repair && is_own(operation),
            answers,
            sign,
            key,
            result,
            memory: memory_rules(operation),
            removed,
            span: operation.head,
        }
    }

    fn answer(&mut self, answer: &Answer) -> AnswerNode {
        AnswerNode {
            param: answer.param.map(|local| self.offset(local)),
            range: answer.range,
            body: self.body(&answer.body),
        }
    }

    fn result(&mut self, expr: &Expr) -> (Slot, Shape) {
        let slot = self.own_slot(expr);
        let mut offset = 0;
        (slot, shape_of(expr, &mut offset))
    }
}

fn memory_rules(operation: &Operation) -> Vec<MemoryRule> {
    let param_of = |local| operation.params.iter().position(|param| param.local == local);
    operation
        .memory
        .iter()
        .map(|memory| MemoryRule {
            actor: memory.actor,
            field: memory.field,
            of: memory.of.and_then(param_of).map(|param| param as u32),
            read: memory.read,
        })
        .collect()
}

/// Does the body look at, and write, nothing but the record that the operation is about?
fn is_own(operation: &Operation) -> bool {
    let Some(own) = operation.params.first().map(|param| param.local) else { return false };
    let is_record = |base: &Expr| matches!(base.kind, ExprKind::Local(local) if local == own);
    let mut only = true;
    visit::each_statement(&operation.body, &mut |statement| {
        only &= match &statement.kind {
            StmtKind::Assign { target: Target::Attr { base, .. }, .. }
            | StmtKind::Assign { target: Target::Element { base, .. }, .. }
            | StmtKind::Append { base, .. } => is_record(base),
            StmtKind::New { .. } | StmtKind::Delete { .. } => false,
            _ => true,
        };
        visit::statement_exprs(statement, &mut |value| {
            visit::each(value, &mut |part| {
                only &= match &part.kind {
                    ExprKind::Now | ExprKind::Stored(_) | ExprKind::Quantifier { .. } => false,
                    ExprKind::Attr { base, .. }
                    | ExprKind::Counter { base, .. }
                    | ExprKind::Exists { base, .. }
                    | ExprKind::LogStart { base, .. }
                    | ExprKind::LogEnd { base, .. } => is_record(base),
                    _ => true,
                };
            });
        });
    });
    only
}

/// What the words of this expression's value mean.
fn shape_of(expr: &Expr, offset: &mut u32) -> Shape {
    match &expr.kind {
        ExprKind::Record(fields) => Shape::Record(
            fields.iter().map(|(name, field)| (name.clone(), shape_of(field, offset))).collect(),
        ),
        ExprKind::View { .. } | ExprKind::LogSlice { .. } => {
            *offset += 1;
            Shape::Query { ty: expr.ty.clone(), offset: *offset - 1 }
        }
        _ => shape_of_type(&expr.ty, offset),
    }
}

pub(super) fn shape_of_type(ty: &Type, offset: &mut u32) -> Shape {
    match ty.required() {
        Type::Record(fields) => Shape::Record(
            fields.iter().map(|(name, ty)| (name.clone(), shape_of_type(ty, offset))).collect(),
        ),
        Type::Rows(_) => {
            *offset += 1;
            Shape::Query { ty: ty.clone(), offset: *offset - 1 }
        }
        _ => {
            let field = Field { offset: *offset, width: width_of(ty) };
            *offset += field.width;
            Shape::Value { ty: ty.clone(), field }
        }
    }
}
