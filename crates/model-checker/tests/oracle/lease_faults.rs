//! The lease by hand, with the fault model of `docs/checker.md`: crash, pause, lost reply and
//! duplicate, all without a budget, and one call in flight.

use stateright::{Model, Property};

use super::Broken;
use super::lease::Resource;

const TTL: i8 = 2;

#[derive(Clone)]
pub struct FaultyLease {
    pub resources: usize,
    pub claimants: usize,
    pub epoch_max: u8,
    pub broken: Broken,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub resources: Vec<Resource>,
    /// for each resource and claimant: what it believed before it was paused
    pub older: Vec<Vec<Option<u8>>>,
    pub in_flight: Option<Call>,
}

/// A call, with what its caller remembered when it left, if the step reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    pub step: Step,
    pub resource: usize,
    pub me: u8,
    pub my_epoch: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Claim,
    Renew,
    Commit,
    Release,
}

impl Step {
    /// Does it look at what its caller remembers?
    fn reads(self) -> bool {
        self != Step::Claim
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Call {
        call: Call,
        how: How,
        /// and the same call is still in flight
        twice: bool,
    },
    /// the call in flight lands; if it is refused nothing comes of it
    Land,
    Drop,
    Reclaim {
        resource: usize,
    },
    Crash {
        me: u8,
    },
    Tick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Plain,
    /// done, and its caller does not learn of it
    LostReply,
    /// what is overwritten in memory is kept, to be used once more
    Pause,
    /// with the older memory, for the last time; its answer is not heard
    Older,
}

/// The truth after a call, and what its caller learns; nothing if it is refused.
fn run(held: &Resource, call: Call) -> Option<(Resource, Option<u8>)> {
    let mut next = held.clone();
    match call.step {
        Step::Claim => {
            if held.owner.is_some() && !held.expired() {
                return None;
            }
            next.owner = Some(call.me);
            next.expiry = Some(TTL);
            next.epoch += 1;
            let learned = next.epoch;
            return Some((next, Some(learned)));
        }
        _ if call.my_epoch != Some(held.epoch) => return None,
        Step::Renew => next.expiry = Some(TTL),
        Step::Commit => next.written_by = call.my_epoch?,
        Step::Release => {
            next.owner = None;
            next.expiry = None;
            next.epoch += 1;
        }
    }
    Some((next, None))
}

impl Model for FaultyLease {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            resources: vec![Resource::new(self.claimants); self.resources],
            older: vec![vec![None; self.claimants]; self.resources],
            in_flight: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (resource, held) in state.resources.iter().enumerate() {
            for me in 0..self.claimants as u8 {
                for step in [Step::Claim, Step::Renew, Step::Commit, Step::Release] {
                    let my_epoch = held.my_epoch[me as usize];
                    let call = Call { step, resource, me, my_epoch };
                    self.ways(state, call, actions);
                }
            }
            if held.owner.is_some() && held.expired() {
                actions.push(Action::Reclaim { resource });
            }
        }
        if state.in_flight.is_some() {
            actions.extend([Action::Land, Action::Drop]);
        }
        actions.extend((0..self.claimants as u8).map(|me| Action::Crash { me }));
        actions.push(Action::Tick);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let mut passed = 0;
        match action {
            Action::Call { call, how, twice } => {
                let (after, learned) = run(&state.resources[call.resource], call)?;
                let (held, me) = (&mut next.resources[call.resource], call.me as usize);
                *held = after;
                let kept = held.my_epoch[me];
                if !matches!(how, How::LostReply | How::Older) {
                    held.my_epoch[me] = learned.or(kept);
                }
                match how {
                    How::Plain | How::LostReply => {}
                    How::Pause => next.older[call.resource][me] = kept,
                    How::Older => next.older[call.resource][me] = None,
                }
                if twice {
                    let taken = call.my_epoch.filter(|_| call.step.reads());
                    next.in_flight = Some(Call { my_epoch: taken, ..call });
                }
            }
            Action::Land => {
                let call = next.in_flight.take()?;
                if let Some((after, _)) = run(&state.resources[call.resource], call) {
                    next.resources[call.resource] = after;
                }
            }
            Action::Drop => next.in_flight = None,
            Action::Reclaim { resource } => {
                let held = &mut next.resources[resource];
                held.owner = None;
                held.expiry = None;
                held.epoch += 1;
            }
            Action::Crash { me } => {
                for (held, older) in next.resources.iter_mut().zip(&mut next.older) {
                    held.my_epoch[me as usize] = None;
                    older[me as usize] = None;
                }
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

impl FaultyLease {
    /// Everything that can become of one call: at most two faults meet in it.
    fn ways(&self, state: &State, call: Call, actions: &mut Vec<Action>) {
        let held = &state.resources[call.resource];
        let mut add = |call: Call, how: How| {
            actions.push(Action::Call { call, how, twice: false });
            if state.in_flight.is_none() {
                actions.push(Action::Call { call, how, twice: true });
            }
        };
        if let Some((_, learned)) = run(held, call) {
            add(call, How::Plain);
            if learned.is_some() {
                add(call, How::LostReply);
            }
            if call.my_epoch.is_some() && learned.is_some() && learned != call.my_epoch {
                add(call, How::Pause);
            }
        }
        let my_epoch = state.older[call.resource][call.me as usize];
        let older = Call { my_epoch, ..call };
        if call.step.reads() && my_epoch.is_some() && run(held, older).is_some() {
            add(older, How::Older);
        }
    }
}
