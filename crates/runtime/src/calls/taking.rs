//! Calls that take the next record of a view: proposed in the order of the view, decided on truth.
//!
//! Each record is decided upon in a transaction of its own, so what a guard reads is as little as the checker
//! explored, and a refusal of one candidate is forgotten before the next is looked at.

use design::model::{Design, NONE_LEFT, OperationId, Type, ViewForm};
use layout::RecordKey;
use serde_json::Value;
use store::Ticket;

use super::reply::{CallError, Refused, Reply};
use super::request::{Arguments, Request};
use crate::core::{Desk, Runtime};
use crate::values;
use crate::views::{Proposed, Taking, put_group};

/// So many records are tried for one call.
pub const TRIED_MAX: usize = 64;

impl Runtime {
    /// The call with the first proposed record that is not refused.
    pub(super) async fn take_next(
        &self,
        id: OperationId,
        request: &Request,
        mut arguments: Arguments,
        desk: &mut Desk,
    ) -> Result<(Ticket, Result<Reply, CallError>), CallError> {
        let mut taking = self.taking(id, &arguments, desk);
        loop {
            let proposed = self.propose(&mut taking)?;
            self.give(id, &mut arguments, proposed.as_ref(), desk)?;
            let begun = self.run(id, request, &arguments, desk, None).await;
            let Some(proposed) = proposed else { return begun };
            match &begun {
                Ok((ticket, Ok(reply))) if !reply.replayed => proposed.taken(ticket.cursor()),
                Ok((_, Err(CallError::Refused(refused)))) if refused.of_taken => {
                    self.counters.passed_over_one();
                    if taking.tried() < TRIED_MAX {
                        continue;
                    }
                    self.counters.refused(id, &refused.clause);
                    self.resume_behind(taking);
                }
                _ => {}
            }
            return begun;
        }
    }

    /// Would it be carried out with one of the records that are proposed now?
    pub(super) fn would_take(
        &self,
        id: OperationId,
        request: &Request,
        arguments: &mut Arguments,
        desk: &mut Desk,
    ) -> Result<(), CallError> {
        let mut taking = self.taking(id, arguments, desk);
        loop {
            let proposed = self.propose(&mut taking)?;
            self.give(id, arguments, proposed.as_ref(), desk)?;
            match self.would_do(id, request, arguments, desk) {
                Err(CallError::Refused(it)) if it.of_taken && taking.tried() < TRIED_MAX => {}
                decided => return decided,
            }
        }
    }

    /// The rows that the arguments pick.
    fn taking(&self, id: OperationId, arguments: &Arguments, desk: &Desk) -> Taking {
        let schema = &*self.schema;
        let operation = &schema.design.operations[id.index()];
        let (_, next) = operation.takes().expect("only steps that take come here");
        let view = &schema.design.views[next.view.index()];
        let (layout, pool) = (schema.program.params(id), desk.pool.borrow());
        let mut group = Vec::new();
        for (local, _) in &view.group {
            if view.caller.as_ref().is_some_and(|caller| caller.me == *local) {
                put_group(&mut group, schema, &Type::Actor, &[arguments.me], &pool);
                continue;
            }
            // the parameters of a view are its locals from 1 on, and each has its argument
            let at = view.params.iter().position(|param| param.local == *local);
            let given = at.and_then(|at| next.args.get(at)).expect("a parameter for each");
            let at = operation.params.iter().position(|param| param.local == *given);
            let offset = layout.fields[at.expect("of this step")].offset as usize;
            let ty = &operation.locals[given.index()].ty;
            let width = engine::width_of(ty) as usize;
            put_group(&mut group, schema, ty, &arguments.params[offset..offset + width], &pool);
        }
        let limit = match view.form {
            ViewForm::List { limit, .. } => limit,
            _ => None,
        };
        Taking::new(next.view.index(), group, limit)
    }

    /// Fills in the record that is proposed.
    fn give(
        &self,
        id: OperationId,
        arguments: &mut Arguments,
        proposed: Option<&Proposed<'_>>,
        desk: &Desk,
    ) -> Result<(), CallError> {
        arguments.none_left = proposed.is_none();
        let Some(proposed) = proposed else { return Ok(()) };
        let schema = &*self.schema;
        let operation = &schema.design.operations[id.index()];
        let taken = |(param, _)| (param, schema.program.params(id));
        let Some((param, layout)) = operation.takes().map(taken) else { return Ok(()) };
        let mut pool = desk.pool.borrow_mut();
        let handle = schema.codec().handle(RecordKey::parse(proposed.record())?, &mut pool)?;
        let at = operation.params.iter().position(|it| it.local == param.local);
        arguments.params[layout.fields[at.expect("its own")].offset as usize] = handle;
        let key = values::write(&schema.design, &param.ty, &[handle], &pool);
        arguments.chosen.take(&param.name, &key);
        Ok(())
    }
}

/// No row is left that could be taken.
pub fn none_left(design: &Design, id: OperationId) -> CallError {
    let operation = &design.operations[id.index()];
    let from = operation.takes().map_or_else(String::new, |(_, next)| next.text(design, operation));
    CallError::Refused(Box::new(Refused {
        actor: design.actors[operation.actor.index()].name.clone(),
        operation: operation.name.clone(),
        clause: NONE_LEFT.into(),
        reason: NONE_LEFT,
        truth: Value::Array(Vec::new()),
        prevents: Vec::new(),
        legal: Vec::new(),
        why: Some(format!("no row of `{from}` is left that can be taken; ask again later")),
        of_taken: false,
    }))
}
