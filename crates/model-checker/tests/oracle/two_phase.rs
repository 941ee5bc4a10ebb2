//! Two-phase commit by hand, after "Consensus on Transaction Commit" by Gray and Lamport.

use stateright::{Model, Property};

#[derive(Clone)]
pub struct TwoPhase {
    pub participants: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub participants: Vec<Status>,
    pub outcome: Outcome,
    pub prepared_received: Vec<bool>,
    /// a set of messages: nothing takes one out
    pub prepared_sent: Vec<bool>,
    pub commit_sent: bool,
    pub abort_sent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Init,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    ReceivePrepared(usize),
    Commit,
    Abort,
    Prepare(usize),
    ChooseToAbort(usize),
    ReceiveCommit(usize),
    ReceiveAbort(usize),
}

impl Model for TwoPhase {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            participants: vec![Status::Working; self.participants],
            outcome: Outcome::Init,
            prepared_received: vec![false; self.participants],
            prepared_sent: vec![false; self.participants],
            commit_sent: false,
            abort_sent: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let open = state.outcome == Outcome::Init;
        if open {
            if state.prepared_received.iter().all(|received| *received) {
                actions.push(Action::Commit);
            }
            actions.push(Action::Abort);
        }
        for at in 0..self.participants {
            if open && state.prepared_sent[at] {
                actions.push(Action::ReceivePrepared(at));
            }
            if state.participants[at] == Status::Working {
                actions.push(Action::Prepare(at));
                actions.push(Action::ChooseToAbort(at));
            }
            if state.commit_sent {
                actions.push(Action::ReceiveCommit(at));
            }
            if state.abort_sent {
                actions.push(Action::ReceiveAbort(at));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::ReceivePrepared(at) => next.prepared_received[at] = true,
            Action::Commit => {
                next.outcome = Outcome::Committed;
                next.commit_sent = true;
            }
            Action::Abort => {
                next.outcome = Outcome::Aborted;
                next.abort_sent = true;
            }
            Action::Prepare(at) => {
                next.participants[at] = Status::Prepared;
                next.prepared_sent[at] = true;
            }
            Action::ChooseToAbort(at) | Action::ReceiveAbort(at) => {
                next.participants[at] = Status::Aborted;
            }
            Action::ReceiveCommit(at) => next.participants[at] = Status::Committed,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("consistent", |_, state: &State| {
                !(state.participants.contains(&Status::Aborted)
                    && state.participants.contains(&Status::Committed))
            }),
            Property::always("never_all_aborted", |_, state: &State| {
                state.participants.iter().any(|status| *status != Status::Aborted)
            }),
            Property::always("never_all_committed", |_, state: &State| {
                state.participants.iter().any(|status| *status != Status::Committed)
            }),
        ]
    }
}
