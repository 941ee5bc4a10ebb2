//! The lease by hand, without faults.

use stateright::{Model, Property};

use super::Broken;

const TTL: i8 = 2;
/// Times before now are all alike: nothing compares with more than now.
const LONG_AGO: i8 = -1;

#[derive(Clone)]
pub struct Lease {
    pub resources: usize,
    pub claimants: usize,
    /// epochs beyond this one are not explored
    pub epoch_max: u8,
    pub broken: Broken,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub resources: Vec<Resource>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    pub owner: Option<u8>,
    /// ticks from now
    pub expiry: Option<i8>,
    pub epoch: u8,
    pub written_by: u8,
    /// what each claimant remembers
    pub my_epoch: Vec<Option<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Claim { resource: usize, me: u8 },
    Renew { resource: usize, me: u8 },
    Commit { resource: usize, me: u8 },
    Release { resource: usize, me: u8 },
    Reclaim { resource: usize },
    Tick,
}

impl Resource {
    pub fn new(claimants: usize) -> Resource {
        Resource {
            owner: None,
            expiry: None,
            epoch: 0,
            written_by: 0,
            my_epoch: vec![None; claimants],
        }
    }

    pub fn expired(&self) -> bool {
        self.expiry.is_some_and(|expiry| expiry < 0)
    }

    pub fn tick(&mut self) {
        self.expiry = self.expiry.map(|expiry| (expiry - 1).max(LONG_AGO));
    }

    /// The invariants of a transition; `passed`: ticks.
    pub fn compare(&self, after: &Resource, passed: i8, broken: &Broken) {
        if after.written_by < self.written_by {
            broken.note("fenced_writes");
        }
        if after.epoch < self.epoch {
            broken.note("epoch_advances");
        }
        let was_over = self.expiry.is_some_and(|expiry| expiry < passed);
        if after.owner != self.owner && self.owner.is_some() && after.owner.is_some() && !was_over {
            broken.note("no_steal");
        }
    }
}

impl Model for Lease {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State { resources: vec![Resource::new(self.claimants); self.resources] }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (resource, held) in state.resources.iter().enumerate() {
            for me in 0..self.claimants as u8 {
                if held.owner.is_none() || held.expired() {
                    actions.push(Action::Claim { resource, me });
                }
                if held.my_epoch[me as usize] == Some(held.epoch) {
                    actions.push(Action::Renew { resource, me });
                    actions.push(Action::Commit { resource, me });
                    actions.push(Action::Release { resource, me });
                }
            }
            if held.owner.is_some() && held.expired() {
                actions.push(Action::Reclaim { resource });
            }
        }
        actions.push(Action::Tick);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let mut passed = 0;
        match action {
            Action::Claim { resource, me } => {
                let held = &mut next.resources[resource];
                held.owner = Some(me);
                held.expiry = Some(TTL);
                held.epoch += 1;
                held.my_epoch[me as usize] = Some(held.epoch);
            }
            Action::Renew { resource, .. } => next.resources[resource].expiry = Some(TTL),
            Action::Commit { resource, me } => {
                let held = &mut next.resources[resource];
                held.written_by = held.my_epoch[me as usize]?;
            }
            Action::Release { resource, .. } | Action::Reclaim { resource } => {
                let held = &mut next.resources[resource];
                held.owner = None;
                held.expiry = None;
                held.epoch += 1;
            }
            Action::Tick => {
                next.resources.iter_mut().for_each(Resource::tick);
                passed = 1;
            }
        }
        if self.within_boundary(&next) {
            for (before, after) in state.resources.iter().zip(&next.resources) {
                before.compare(after, passed, &self.broken);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("explored to the end", |_, _| true),
            Property::always("never_third_write", |_, state: &State| {
                state.resources.iter().all(|held| held.written_by < 3)
            }),
        ]
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.resources.iter().all(|held| held.epoch <= self.epoch_max)
    }
}
