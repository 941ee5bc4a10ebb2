//! Calls from within this process: one at a time.

use design::model::{OperationId, OperationKind};
use store::Ticket;

use super::ask::Told;
use super::group::Answers;
use super::reply::{CallError, Reply};
use super::request::Request;
use crate::core::Runtime;

impl Runtime {
    /// Calls a step or a read, and waits until the answer is durable.
    pub fn call(&self, request: &Request) -> Result<Reply, CallError> {
        let (ticket, answer) = self.begin(request)?;
        ticket.wait()?;
        answer
    }

    /// The same without a thread that waits; it is decided with what others ask at the same time.
    pub async fn call_async(&self, request: &Request) -> Result<Reply, CallError> {
        let mut calls = self.calls();
        calls.request(request)?;
        only(calls.answered().await)
    }

    /// Runs the call; its answer may be told once the ticket is durable. That holds for a refusal,
    /// too: it may rest on something that a crash would take back. On a store that does not keep its
    /// state in this process, this waits until it is.
    pub fn begin(
        &self,
        request: &Request,
    ) -> Result<(Ticket, Result<Reply, CallError>), CallError> {
        let mut calls = self.calls();
        calls.request(request)?;
        let (ticket, answers) = calls.begin()?;
        Ok((ticket, only(answers)))
    }

    pub(super) fn operation(&self, request: &Request) -> Result<OperationId, CallError> {
        let id = self.callable(request)?;
        let operation = &self.schema.design.operations[id.index()];
        let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
        if keyed && request.idempotency_key.is_none() {
            return Err(CallError::KeyNeeded);
        }
        Ok(id)
    }

    pub(crate) fn callable(&self, request: &Request) -> Result<OperationId, CallError> {
        let design = &self.schema.design;
        let found = self.schema.operation(&request.actor, &request.operation);
        let callable = found.filter(|id| self.schema.is_callable(*id));
        callable.ok_or_else(|| {
            CallError::Unknown(format!(
                "`{}` has no step or read `{}` that `{}` could call",
                design.name, request.operation, request.actor
            ))
        })
    }

    /// Steps and reads that somebody may call; repairs, effects and messages are the engine's own.
    pub fn is_callable(&self, operation: OperationId) -> bool {
        self.schema.is_callable(operation)
    }
}

/// The answer to the only call, which was asked as a request.
fn only(mut answers: Answers<'_>) -> Result<Reply, CallError> {
    match answers.take(0)? {
        Told::Reply(reply) => Ok(reply),
        Told::Text(_) => unreachable!("it was asked for as a reply"),
    }
}
