//! Three members that settle on one of two proposals, by hand. The network holds whatever was sent.

use std::collections::BTreeSet;

use stateright::{Model, Property};

const MEMBERS: u8 = 3;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Proposal {
    number: u8,
    seen: u8,
    value: Option<u8>,
    first: Option<u8>,
    backed: bool,
    accepted_by: Option<u8>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Member {
    promised: u8,
    ballot: u8,
    choice: Option<u8>,
    last: u8,
    proposal: Proposal,
    winner: Option<u8>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Message {
    Propose { to: u8, number: u8 },
    Prepare { to: u8, from: u8, number: u8 },
    Promise { to: u8, from: u8, number: u8, ballot: u8, choice: Option<u8> },
    Accept { to: u8, from: u8, number: u8, value: Option<u8> },
    Accepted { to: u8, from: u8, number: u8 },
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct State {
    /// who has each number, from 1 on
    taken: [Option<u8>; 2],
    members: [Member; 3],
    network: BTreeSet<Message>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    HandOut(u8, u8),
    Ask(u8),
    Command(u8),
    Deliver(Message),
    Crash(u8),
}

#[derive(Clone)]
pub struct ThreeMembers;

impl Model for ThreeMembers {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for member in 0..MEMBERS {
            actions.extend([1, 2].map(|number| Action::HandOut(number, member)));
            actions.extend([Action::Ask(member), Action::Command(member), Action::Crash(member)]);
        }
        actions.extend(state.network.iter().cloned().map(Action::Deliver));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::HandOut(number, to) => {
                let taken = &mut next.taken[usize::from(number) - 1];
                if taken.is_some() {
                    return None;
                }
                *taken = Some(to);
                next.network.insert(Message::Propose { to, number });
            }
            Action::Ask(from) => {
                let number = state.members[usize::from(from)].proposal.number;
                if number == 0 {
                    return None;
                }
                let all = (0..MEMBERS).map(|to| Message::Prepare { to, from, number });
                next.network.extend(all);
            }
            Action::Command(from) => {
                let Proposal { number, backed, value, .. } =
                    state.members[usize::from(from)].proposal;
                if number == 0 || !backed {
                    return None;
                }
                let all = (0..MEMBERS).map(|to| Message::Accept { to, from, number, value });
                next.network.extend(all);
            }
            Action::Crash(member) => {
                next.members[usize::from(member)].proposal = Proposal::default();
            }
            Action::Deliver(message) => deliver(&mut next, message)?,
        }
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<ThreeMembers>> {
        vec![Property::always("one_winner", |_, state: &State| {
            let winners: BTreeSet<u8> =
                state.members.iter().filter_map(|member| member.winner).collect();
            winners.len() <= 1
        })]
    }
}

fn deliver(state: &mut State, message: Message) -> Option<()> {
    let State { members, network, .. } = state;
    match message {
        Message::Propose { to, number } => {
            let member = &mut members[usize::from(to)];
            if number <= member.last {
                return None;
            }
            member.last = number;
            member.proposal = Proposal { number, value: Some(to), ..Proposal::default() };
        }
        Message::Prepare { to, from, number } => {
            let member = &mut members[usize::from(to)];
            if number <= member.promised {
                return None;
            }
            member.promised = number;
            let (ballot, choice) = (member.ballot, member.choice);
            network.insert(Message::Promise { to: from, from: to, number, ballot, choice });
        }
        Message::Promise { to, from, number, ballot, choice } => {
            let proposal = &mut members[usize::from(to)].proposal;
            if proposal.number != number || proposal.backed || proposal.first == Some(from) {
                return None;
            }
            if ballot > proposal.seen {
                proposal.seen = ballot;
                proposal.value = choice;
            }
            if proposal.first.is_none() {
                proposal.first = Some(from);
            } else {
                proposal.first = None;
                proposal.seen = 0;
                proposal.backed = true;
            }
        }
        Message::Accept { to, from, number, value } => {
            let member = &mut members[usize::from(to)];
            if number < member.promised {
                return None;
            }
            (member.promised, member.ballot, member.choice) = (number, number, value);
            network.insert(Message::Accepted { to: from, from: to, number });
        }
        Message::Accepted { to, from, number } => {
            let member = &mut members[usize::from(to)];
            let proposal = &mut member.proposal;
            let counted = proposal.accepted_by == Some(from);
            if proposal.number != number || member.winner.is_some() || counted {
                return None;
            }
            if proposal.accepted_by.is_none() {
                proposal.accepted_by = Some(from);
            } else {
                proposal.accepted_by = None;
                member.winner = proposal.value;
            }
        }
    }
    Some(())
}
