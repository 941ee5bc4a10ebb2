//! Invariants that come up again and again, each usable in one line. A family is a text in the
//! language itself, so what it says can be read.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use crate::model::*;
use crate::{Source, suggest};

/// A goal with places for names and expressions.
pub struct Family {
    pub name: &'static str,
    /// what stands in the brackets
    pub params: &'static [&'static str],
    /// the goal; `{param}` is replaced by what was written
    pub text: &'static str,
    /// is it the goal of a `recovers`?
    pub recovers: bool,
    pub about: &'static str,
}

/// Every built-in family.
pub fn families() -> &'static [Family] {
    &[
        Family {
            name: "at_most_one_current_valid_owner",
            params: &["Subject", "owner", "expiry"],
            text: "all r in {Subject}: r.{owner} = old(r.{owner}) or old(r.{owner}) = null \
                   or r.{owner} = null or old(r.{expiry}) < now",
            recovers: false,
            about: "an owner is replaced only after it let go or its time ran out",
        },
        Family {
            name: "stale_actor_must_not_commit",
            params: &["Subject", "written_by"],
            text: "all r in {Subject}: old(r.{written_by}) = null or r.{written_by} >= old(r.{written_by})",
            recovers: false,
            about: "what was written under a newer epoch is never overwritten under an older one",
        },
        Family {
            name: "every_eligible_item_is_owned_or_completed_or_rediscoverable",
            params: &["Subject", "eligible", "owned", "completed", "rediscoverable"],
            text: "count({Subject} where ({eligible}) and not (({owned}) or ({completed}) or ({rediscoverable}))) = 0",
            recovers: false,
            about: "no piece of work is in a state where nobody has it and nobody will find it",
        },
        Family {
            name: "progress_never_regresses",
            params: &["Subject", "progress"],
            text: "all r in {Subject}: old(r.{progress}) = null or r.{progress} >= old(r.{progress})",
            recovers: false,
            about: "a cursor, an offset or a version only advances",
        },
        Family {
            name: "completion_only_after_prerequisite_effect_is_durable",
            params: &["Subject", "completed", "durable"],
            text: "count({Subject} where ({completed}) and not ({durable})) = 0",
            recovers: false,
            about: "nothing is called done before what it stands for is stored",
        },
        Family {
            name: "drift_eventually_corrected",
            params: &["Subject", "drifted"],
            text: "count({Subject} where ({drifted})) = 0",
            recovers: true,
            about: "whatever has drifted from the truth is brought back, with every client silent",
        },
        Family {
            name: "bounded_retry_no_amplification",
            params: &["Subject", "attempts", "limit"],
            text: "all r in {Subject}: r.{attempts} <= {limit}",
            recovers: false,
            about: "however often things fail, the number of attempts stays bounded",
        },
    ]
}

impl Compiler {
    /// Takes the name of a goal; not if another has it.
    pub(super) fn goal_name(&mut self, name: &Name) -> Option<()> {
        let earlier = self.names.goals.get(&name.text).copied();
        if !self.free("goal", name, earlier) {
            return None;
        }
        self.names.goals.insert(name.text.clone(), name.span);
        Some(())
    }

    /// An `invariant` or a `recovers`.
    pub(super) fn goal(&mut self, name: &Name, body: &tree::Expr, mode: Mode) -> Option<Invariant> {
        self.goal_name(name)?;
        let mut frame = Frame::new(mode, None);
        let call = body.span;
        let (body, family) = match self.family(name, body, mode) {
            Some((expanded, family)) => (expanded?, Some(family)),
            None => (body.clone(), None),
        };
        let said = self.diagnostics.len();
        let written = body.span;
        let body = self.condition(&mut frame, &body);
        if family.is_some() {
            self.point_at_the_family(said, written, call);
        }
        Some(Invariant {
            name: name.text.clone(),
            body,
            locals: frame.locals,
            uses_old: frame.uses_old,
            family,
            span: name.span,
        })
    }

    /// What is wrong inside a family's text is said where the family is used.
    fn point_at_the_family(&mut self, said: usize, text: Span, call: Span) {
        let becomes = format!("it becomes `{}`", self.text(text));
        for problem in self.diagnostics.iter_mut().skip(said) {
            if problem.primary.span.file == text.file {
                let mut inside = problem.primary.clone();
                inside.text = "in the family's own text".into();
                problem.secondary.insert(0, inside);
                problem.primary.span = call;
                problem.help.push(becomes.clone());
            }
        }
    }

    /// None: not a family. Some((None, _)): wrongly used, and reported.
    fn family(
        &mut self,
        name: &Name,
        body: &tree::Expr,
        mode: Mode,
    ) -> Option<(Option<tree::Expr>, String)> {
        let tree::ExprKind::Call { function, args } = &body.kind else {
            return None;
        };
        let family = families().iter().find(|f| f.name == function.text)?;
        let called = family.name.to_string();
        if (mode == Mode::Goal) != family.recovers {
            let word = if family.recovers { "recovers" } else { "invariant" };
            self.report(
                Diagnostic::error(
                    "E0611",
                    function.span,
                    format!("`{}` is the goal of a `{word}`", family.name),
                )
                .help(format!("`{word} {}: {}(…)`", name.text, family.name)),
            );
            return Some((None, called));
        }
        if args.len() != family.params.len() {
            self.report(
                Diagnostic::error(
                    "E0304",
                    function.span,
                    format!("`{}` takes {}, not {}", family.name, family.params.len(), args.len()),
                )
                .help(format!("they are {}", suggest::list(family.params))),
            );
            return Some((None, called));
        }
        let mut text = family.text.to_string();
        for (param, arg) in family.params.iter().zip(args) {
            text = text.replace(&format!("{{{param}}}"), &self.text(arg.span));
        }
        let source = Source::new(format!("{} ({})", name.text, family.name), text.clone());
        if self.sources.is_full() {
            return Some((None, called));
        }
        let file = self.sources.add(source);
        let (mut expanded, problems) = syntax::parse_expression(&text, file);
        if let Some(problem) = problems.first() {
            self.report(
                Diagnostic::error(
                    "E0611",
                    function.span,
                    format!("with this, `{}` does not read: {}", family.name, problem.message),
                )
                .help(format!("it becomes `{text}`")),
            );
            return Some((None, called));
        }
        expanded.span = Span::new(file, 0, text.len() as u32);
        Some((Some(expanded), called))
    }
}
