//! One command, evaluated.

use design::model::{ClauseRef, Span};

use crate::children;
use crate::clock::Clock;
use crate::counters::{self, NOWHERE};
use crate::env::StepEnv;
use crate::eval::{Eval, Stop};
use crate::execute::Execute;
use crate::fault::Fault;
use crate::legality;
use crate::program::node::Run;
use crate::program::operation::{Kind, Op};
use crate::ranges;
use crate::scratch::Scratch;
use crate::{AnswerKind, Command, NULL, Outcome, Outside, Program, Reason, Refusal, Truth};

/// Evaluates one call: the guard (`exists`, `fresh`, then the clauses in order), then the
/// statements in order over an overlay. For a read, its answer too; for an effect, the handler
/// that `command.answer` selects (whether the entry is open is the outbox machine's decision).
///
/// The record of a `new` parameter is made, with its defaults, before the first statement.
///
/// A value outside its range is a refusal by `range`: of an argument before the guard, of anything
/// that the step would leave behind after all statements.
///
/// `now` is the largest of `command.now` and the stored time of every record read.
pub fn step<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
) -> Outcome {
    evaluate(program, truth, command, scratch, Extent::Whole)
}

/// Evaluates the guard alone: `Done` if the step is legal now.
pub fn guard<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
) -> Outcome {
    evaluate(program, truth, command, scratch, Extent::Guard)
}

/// The same, with arguments that need not be values of their types: a `new` parameter that the
/// caller has yet to choose is null.
pub(crate) fn guard_filled<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
) -> Outcome {
    evaluate(program, truth, command, scratch, Extent::FilledGuard)
}

/// Evaluates the body of an effect's call into `scratch.result()`, and its key into the single
/// `scratch.sends()`. The guard is not looked at.
pub fn call<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
) -> Outcome {
    evaluate(program, truth, command, scratch, Extent::Call)
}

/// How much of an operation is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Guard,
    FilledGuard,
    Whole,
    Call,
}

/// What ended an evaluation.
pub(crate) enum Ended {
    /// a part of the guard does not hold
    Unmet(Reason, ClauseRef, Span),
    /// in this clause, or in the body
    Stopped(Stop, Option<ClauseRef>),
    /// an argument, or what it would leave behind
    Outside(Outside),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Ended {
        Ended::Stopped(stop, None)
    }
}

fn evaluate<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
    extent: Extent,
) -> Outcome {
    scratch.begin();
    scratch.clock = Clock { now: command.now, used: false };
    let Some(op) = program.operations.get(command.operation.index()) else {
        let span = Span::default();
        return Outcome::Refused(Refusal { reason: Reason::OutOfRange, clause: None, at: span });
    };
    if extent != Extent::FilledGuard
        && let Err((reason, at)) = legality::check_params(op, command.params)
    {
        return Outcome::Refused(Refusal { reason, clause: None, at });
    }
    loop {
        let ended = match attempt(program, truth, op, command, scratch, extent) {
            Ok(()) => return Outcome::Done,
            Err(ended) => ended,
        };
        match ended {
            Ended::Unmet(reason, clause, at) => {
                return Outcome::Refused(Refusal { reason, clause: Some(clause), at });
            }
            Ended::Outside(outside) => {
                let reason = Reason::Range(outside);
                return Outcome::Refused(Refusal { reason, clause: None, at: op.span });
            }
            Ended::Stopped(Stop::NEED, _) => return Outcome::Need,
            Ended::Stopped(Stop::AGAIN, _) => {
                // every round reads a record that is newer than all before it
                scratch.overlay.rewind();
                scratch.out.clear();
                scratch.clock.used = false;
            }
            Ended::Stopped(stop, clause) => {
                let (fault, node) = stop.refusal().unwrap_or((Fault::Unsupported, NOWHERE));
                let clause = match fault {
                    Fault::NoParent => Some(ClauseRef::Exists),
                    _ => clause,
                };
                let at = if node == NOWHERE { op.span } else { program.span(node) };
                return Outcome::Refused(Refusal { reason: fault.into(), clause, at });
            }
        }
    }
}

fn attempt<T: Truth>(
    program: &Program,
    truth: &T,
    op: &Op,
    command: &Command<'_>,
    scratch: &mut Scratch,
    extent: Extent,
) -> Result<(), Ended> {
    scratch.stack.clear();
    scratch.queries.clear();
    scratch.query_words.clear();
    scratch.frame.clear();
    scratch.frame.extend_from_slice(command.params);
    scratch.frame.resize(op.frame_width as usize, 0);
    scratch.memory.clear();
    scratch.memory.extend_from_slice(command.memory);
    scratch.memory.resize(op.memory.len(), NULL);
    let env = StepEnv {
        program,
        truth,
        overlay: &mut scratch.overlay,
        needs: &mut scratch.needs,
        clock: &mut scratch.clock,
        memory: &mut scratch.memory,
        me: command.me,
        exists: op.exists,
    };
    let eval = Eval {
        program,
        env,
        frame: &mut scratch.frame,
        base: 0,
        stack: &mut scratch.stack,
        queries: &mut scratch.queries,
        query_words: &mut scratch.query_words,
        lenient: false,
    };
    let mut execute = Execute { eval, out: &mut scratch.out };
    if extent == Extent::Call {
        return Ok(render(&mut execute, op, command)?);
    }
    if !op.key_values.is_empty()
        && extent != Extent::FilledGuard
        && let Some(outside) = ranges::outside_key(program, truth, op, command.params)
    {
        return Err(Ended::Outside(outside));
    }
    legality::guard(&mut execute.eval, op)?;
    if extent == Extent::Whole {
        run(&mut execute, op, command)?;
        if program.ranged
            && let Some(outside) = ranges::outside(&execute)
        {
            return Err(Ended::Outside(outside));
        }
    }
    Ok(())
}

fn run<T: Truth>(
    execute: &mut Execute<'_, '_, T>,
    op: &Op,
    command: &Command<'_>,
) -> Result<(), Stop> {
    let mut body = op.body;
    if op.has_new {
        for (rule, field) in op.param_rules.iter().zip(&op.params.fields) {
            if let (true, Some(subject)) = (rule.new, rule.subject) {
                let key = execute.eval.local(field.offset);
                if key != NULL {
                    if children::has_empty_part(&execute.eval, subject, key) {
                        return Err(Stop::refuse(Fault::EmptyKey, NOWHERE));
                    }
                    execute.make(subject, key)?;
                }
            }
        }
    }
    if op.kind == Kind::Effect {
        body = Run::default();
        if let Some((kind, word)) = command.answer {
            // A keystore that answers anything but the signature it was asked for has decided
            // nothing.
            let kind = match (kind, op.sign) {
                (AnswerKind::Ok, Some((digest, key)))
                    if !execute.eval.is_signed(digest, key, word)? =>
                {
                    AnswerKind::Unknown
                }
                _ => kind,
            };
            let answer = match kind {
                AnswerKind::Ok => op.answers[0],
                AnswerKind::Refused => op.answers[1],
                AnswerKind::Unknown => op.answers[2],
            };
            if let Some(offset) = answer.param {
                let within = answer.range.is_none_or(|range| range.contains(word));
                execute.eval.set_local(offset, if within { word } else { NULL });
            }
            body = answer.body;
        }
    }
    execute.body(body)?;
    if op.kind == Kind::Read {
        result(execute, op)?;
        return Ok(());
    }
    if execute.eval.program.counts {
        counters::settle(&mut execute.eval)?;
        counters::check_deleted(&execute.eval)?;
    }
    if execute.eval.env.overlay.made {
        check_made(execute, op)?;
        children::check_parents(&execute.eval)?;
    }
    Ok(())
}

/// A record that was made has a value wherever one is required.
fn check_made<T: Truth>(execute: &Execute<'_, '_, T>, op: &Op) -> Result<(), Stop> {
    if op.statements_removed {
        return Ok(());
    }
    let overlay = &*execute.eval.env.overlay;
    for (index, entry) in overlay.entries.iter().enumerate() {
        if !entry.made || entry.state.is_some() {
            continue;
        }
        let required = &execute.eval.program.subject(entry.subject).required;
        if let Some(words) = overlay.words(index)
            && required.iter().any(|offset| words[*offset as usize] == NULL)
        {
            return Err(Stop::refuse(Fault::NullValue, NOWHERE));
        }
    }
    Ok(())
}

fn result<T: Truth>(execute: &mut Execute<'_, '_, T>, op: &Op) -> Result<(), Stop> {
    if let Some((slot, _)) = &op.result {
        let height = execute.eval.stack.len();
        execute.eval.push(slot)?;
        execute.out.result.extend_from_slice(&execute.eval.stack[height..]);
        execute.eval.stack.truncate(height);
    }
    Ok(())
}

fn render<T: Truth>(
    execute: &mut Execute<'_, '_, T>,
    op: &Op,
    command: &Command<'_>,
) -> Result<(), Stop> {
    result(execute, op)?;
    let args = execute.out.keep(command.params);
    let key = if op.key.len == 0 { args } else { execute.rows(op.key)? };
    execute.out.sends.push((command.operation, key, args));
    Ok(())
}
