//! Looks at the files and at the checks of the designs that are served, and does what follows.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use gateway::{Admin, AdminError, Checking, Gateway, Replacement, Service, Standing};
use model_checker::Word;

use super::file::{DesignFile, Look};
use super::teller::Teller;
use crate::catalog::Embedded;

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Whoever saves a file is the operator of this server.
const BY: &str = "dev";

/// One design that is served.
pub struct Watched {
    /// how paths call it
    pub name: String,
    /// as it was named on the command line
    pub word: String,
    /// none: it is one of the catalog, and nobody edits it
    pub file: Option<DesignFile>,
    /// the version that is served, as far as was looked
    pub service: Arc<Service>,
    /// a check of this version is to be told of
    awaited: bool,
}

impl Watched {
    pub fn new(service: Arc<Service>, word: String, file: Option<DesignFile>) -> Watched {
        Watched { name: service.name.clone(), word, file, service, awaited: false }
    }

    /// The verdict was there before anybody checked it here.
    pub fn known_before(&self) -> bool {
        let unasked = matches!(*self.service.checking(), Checking::NotAsked);
        unasked && self.service.word().is_some()
    }
}

pub struct Watcher<'o> {
    gateway: Arc<Gateway>,
    admin: Arc<dyn Admin>,
    watched: Vec<Watched>,
    teller: Teller<'o>,
}

impl<'o> Watcher<'o> {
    pub fn new(
        gateway: Arc<Gateway>,
        admin: Arc<dyn Admin>,
        watched: Vec<Watched>,
        teller: Teller<'o>,
    ) -> Watcher<'o> {
        Watcher { gateway, admin, watched, teller }
    }

    /// Until `stopped` is disconnected.
    pub fn run(mut self, stopped: &Receiver<()>) {
        for at in 0..self.watched.len() {
            self.await_verdict(at);
        }
        while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            for at in 0..self.watched.len() {
                self.look_at_file(at);
                self.look_at_version(at);
                self.look_at_check(at);
            }
        }
        self.teller.leave();
    }

    fn look_at_file(&mut self, at: usize) {
        let Some(file) = &mut self.watched[at].file else { return };
        match file.look() {
            Look::Same => {}
            Look::Changed(text) => self.take(at, &text),
            Look::Unreadable(problem) => self.teller.unreadable(&self.watched[at], &problem),
        }
    }

    /// Puts a text in the place of the one that is served, or says why not.
    fn take(&mut self, at: usize, text: &str) {
        let watched = &self.watched[at];
        let compiled = design::compile(&watched.word, text, &Embedded);
        self.teller.diagnostics(watched, &compiled);
        if compiled.design.is_none() {
            return;
        }
        let with = Replacement { text, drop: &[], unproved: true };
        let replaced = self.gateway.replace(self.admin.as_ref(), &watched.service, &with, BY);
        match replaced {
            Ok(_) => self.teller.replaced(watched),
            Err(error @ AdminError::NotStarted(_)) => {
                self.teller.replaced(watched);
                self.teller.not_replaced(watched, &error);
            }
            Err(error) => self.teller.not_replaced(watched, &error),
        }
    }

    /// The version may be another one: by what was saved here, or by `steadfast replace`.
    fn look_at_version(&mut self, at: usize) {
        let watched = &mut self.watched[at];
        let Ok(current) = self.gateway.service(&watched.name) else { return };
        if Arc::ptr_eq(&current, &watched.service) {
            return;
        }
        watched.service = current;
        self.teller.version(watched);
        self.await_verdict(at);
    }

    /// A good verdict from before is enough; otherwise the report is wanted, with its traces.
    fn await_verdict(&mut self, at: usize) {
        let watched = &mut self.watched[at];
        let known = watched.known_before();
        let service = &watched.service;
        let good = matches!(service.word(), Some(Word::Proved | Word::Holds { .. }));
        watched.awaited = !(known && good) && service.design().world.written;
        if watched.awaited {
            gateway::checking::begin(&self.gateway, service);
        }
    }

    fn look_at_check(&mut self, at: usize) {
        let watched = &mut self.watched[at];
        if !watched.awaited {
            return;
        }
        let report = match &*watched.service.checking() {
            Checking::Done(report) => Ok(Arc::clone(report)),
            Checking::Failed(why) => Err(why.clone()),
            Checking::Running { arm, states } => {
                self.teller.checking(&watched.name, arm, *states);
                return;
            }
            Checking::NotAsked => return,
        };
        watched.awaited = false;
        match report {
            Ok(report) => self.teller.checked(watched, &report),
            Err(why) => {
                let standing = Standing::Known(Word::NotKnown { why });
                self.teller.standing(watched, &standing);
            }
        }
    }
}
