//! Calls as a caller makes them, and their answers.

use std::panic::resume_unwind;
use std::sync::Arc;

use store::Ticket;

use super::answering::Answering;
use super::submission::{Asked, Outcome, Submission};
use crate::calls::ask::{Ask, Told};
use crate::calls::decide::Concluded;
use crate::calls::reply::CallError;
use crate::calls::request::{Request, arguments};
use crate::calls::text::{self, TextCall};
use crate::core::Runtime;

/// Calls that are made together: decided one after the other, and answered when all are durable.
pub struct Calls<'r> {
    pub(super) runtime: &'r Runtime,
    pub(super) submission: Arc<Submission>,
}

impl Runtime {
    /// No calls yet.
    pub fn calls(&self) -> Calls<'_> {
        Calls { runtime: self, submission: self.submissions.take() }
    }
}

/// A text is to be asked as a [`Request`].
struct NotPlain;

impl<'r> Calls<'r> {
    /// Adds a call. What is wrong with its arguments is told at once, and nothing is added.
    pub fn request(&mut self, request: &Request) -> Result<(), CallError> {
        let runtime = self.runtime;
        let id = runtime.operation(request)?;
        self.add(|ask| {
            ask.begin(id);
            arguments(&runtime.schema, id, request, ask.pool.get_mut(), &mut ask.arguments)
                .map_err(CallError::Bad)?;
            ask.set_terms(&runtime.schema, request);
            ask.text = None;
            Ok(())
        })
    }

    /// Adds a call whose answer is written in JSON at the end of `out`, which is given back with it. A
    /// refusal tells what is legal instead. False: nothing was added, and it is to be asked as a
    /// [`Request`].
    pub fn text(&mut self, call: &TextCall<'_>, out: &mut Vec<u8>) -> bool {
        let runtime = self.runtime;
        let read: Result<(), NotPlain> = self.add(|ask| {
            text::read(runtime, call, ask).ok_or(NotPlain)?;
            ask.text = Some(std::mem::take(out));
            Ok(())
        });
        read.is_ok()
    }

    fn add<E>(&mut self, read: impl FnOnce(&mut Ask) -> Result<(), E>) -> Result<(), E> {
        self.submission.lock().add(&self.runtime.schema, read)
    }

    pub fn len(&self) -> usize {
        self.submission.lock().asks().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ready when all of them are decided and durable. They are decided with what others ask at the same
    /// time. Whoever asks goes on until this is ready, or drops it: then nobody knows what became of
    /// them. Whoever keeps it and does not go on holds up others.
    pub fn answered(self) -> Answering<'r> {
        Answering::new(self)
    }

    /// Decides them now. Their answers may be told once the ticket is durable. On a store that does not
    /// keep its state in this process, this waits until it is.
    pub fn begin(self) -> Result<(Ticket, Answers<'r>), CallError> {
        let ticket = self.runtime.decide_now(&self.submission)?;
        Ok((ticket, Answers(self)))
    }
}

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        let submission = std::mem::take(&mut self.submission);
        self.runtime.submissions.give_back(submission);
    }
}

/// Calls that were decided.
pub struct Answers<'r>(pub(super) Calls<'r>);

impl Answers<'_> {
    /// What became of one of the calls; to be asked once.
    pub fn take(&mut self, at: usize) -> Result<Told, CallError> {
        let runtime = self.0.runtime;
        let mut inner = self.0.submission.lock();
        let Asked { ask, outcome } = &mut inner.asks()[at];
        let (outcome, viewer) = (outcome.take(), ask.terms.viewer.take());
        drop(inner);
        match outcome.expect("every call is decided, and its answer is taken once") {
            Outcome::Panicked(panic) => resume_unwind(panic),
            Outcome::Concluded(Err(error)) => Err(error),
            Outcome::Concluded(Ok(Concluded::Told(told))) => Ok(told),
            Outcome::Concluded(Ok(Concluded::Read(mut reply, tree))) => {
                reply.result = runtime.answered_tree(tree, viewer.as_ref())?;
                Ok(Told::Reply(reply))
            }
        }
    }
}
