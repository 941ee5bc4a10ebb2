//! The machine of an attribute, as it is drawn.

use drawing::Drawing;

use super::transitions::{Machine, Transition};

pub fn draw(machine: &Machine) -> Drawing {
    let transitions = machine.transitions.iter().map(|transition| drawing::Transition {
        name: name_of(machine, transition),
        created: transition.created,
        from: transition.from.clone(),
        to: transition.to,
        conditions: transition.guard.clone(),
    });
    let drawn = drawing::Machine {
        title: format!("{}.{} of {}", machine.state, machine.attribute, machine.subject),
        states: machine.constants.clone(),
        initial: machine.initial,
        transitions: transitions.collect(),
    };
    drawn.draw(format!("machine-{}-{}", machine.subject, machine.attribute))
}

/// How it is called, and where it comes from if that is anywhere.
fn name_of(machine: &Machine, transition: &Transition) -> String {
    let all = machine.constants.len();
    let any = !transition.created && all > 2 && transition.from.len() == all;
    let from = if any { ", whatever it is" } else { "" };
    format!("{}{from}", transition.operation)
}
