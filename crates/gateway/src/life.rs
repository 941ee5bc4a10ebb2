//! The life of a service: another version of its design is prepared, what is stored is converted, the
//! version is started and switched to, and the one before it is retired.
//!
//! Converting ends with one commit. Up to it the old version serves, whatever fails. From then on the
//! store takes calls for the new version alone, so the new one is switched to, whatever fails: callers
//! who met the old one meanwhile wait, and are answered by the new one.

use std::sync::Arc;

use design::model::Design;
use identity::Act;
use runtime::{ReplaceError, Runtime, Writing};
use serde_json::{Value, json};

use crate::admin::{Admin, AdminError, Prepared, Replacement};
use crate::checking;
use crate::gateway::Gateway;
use crate::service::Service;

/// What came of a replacement.
#[derive(Debug)]
pub struct Replaced {
    /// on the new text
    pub verdict: Value,
    /// what a `from` block of a later text calls the new one
    pub version: String,
    /// keys of earlier versions that were removed
    pub removed: u64,
}

impl Gateway {
    /// Puts another version of a design in the place of the one that is served. Blocks.
    pub fn replace(
        self: &Arc<Self>,
        admin: &dyn Admin,
        old: &Service,
        with: &Replacement<'_>,
        by: &str,
    ) -> Result<Replaced, AdminError> {
        let Prepared { design, flat, word } = admin.prepare(old, with)?;
        let runtime = convert(old, design, flat.as_deref(), with)?;
        // the old version takes no calls any more
        let new = Service::new(&old.name, with.text, Arc::new(runtime)).judged(word);
        let mut switch = Switch { gateway: self, new: Some(new) };
        let started = switch.new.as_ref().map_or(Ok(()), |new| admin.start(new));
        switch.now();
        let new = self.service(&old.name).map_err(|problem| AdminError::Cannot(problem.detail))?;
        admin.switched(&new);
        let verdict = new.standing().to_json();
        let version = runtime::version(new.design());
        // it is replaced, whether or not the log takes the line
        let of = json!({ "design": old.name, "verdict": verdict });
        let _ = self.auditor.done(Act::DesignReplaced, by, of);
        if self.settings.checking.is_some() {
            checking::unknown_ones(self);
        }
        let removed = new.runtime.remove_left_over().unwrap_or(0);
        if let Err(error) = &started {
            tracing::error!(
                design = %old.name,
                %error,
                "the new version serves, but what runs beside it was not started",
            );
        }
        started.map_err(|error| AdminError::NotStarted(Box::new(error)))?;
        Ok(Replaced { verdict, version, removed })
    }
}

/// Whatever is stored, as the new version keeps it. An error: nothing has changed.
fn convert(
    old: &Service,
    design: Design,
    flat: Option<&str>,
    with: &Replacement<'_>,
) -> Result<Runtime, AdminError> {
    let writing = Writing { text: with.text, flat };
    old.runtime.replace_with(design, Some(writing), with.drop).map_err(|error| match error {
        ReplaceError::Unsafe(obstacles) => AdminError::Unsafe {
            detail: obstacles.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            obstacles: json!(obstacles.iter().map(|o| o.to_json()).collect::<Vec<_>>()),
        },
        other => AdminError::Cannot(other.to_string()),
    })
}

/// A version that has the say already and is not found yet. It is when this is dropped, also by a
/// panic of whoever starts it: without it no version would answer.
struct Switch<'a> {
    gateway: &'a Gateway,
    new: Option<Service>,
}

impl Switch<'_> {
    fn now(&mut self) {
        if let Some(new) = self.new.take() {
            self.gateway.switch_to(new);
        }
    }
}

impl Drop for Switch<'_> {
    fn drop(&mut self) {
        self.now();
    }
}
