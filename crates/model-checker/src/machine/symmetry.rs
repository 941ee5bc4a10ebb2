//! Things that can only be told apart are interchangeable: of the states that differ by a
//! permutation of them, the least is kept.

use design::model::{ExprKind, OperationKind, visit};
use engine::Word;

use super::glance::{Glance, Seen};
use super::permutation::{Alike, Numbers, Permutation, numbers};
use super::signature::Signatures;
use super::{Machine, Worker};
use crate::world::flow::PlaceOf;
use crate::world::order::visited;
use crate::world::slots::Kind;

/// More permutations than this are not tried.
const PERMUTATIONS_MAX: usize = 1_000;

pub(crate) struct Symmetry {
    permutations: Vec<Permutation>,
    signatures: Signatures,
    glance: Glance,
}

impl Symmetry {
    pub(super) fn of(machine: &Machine) -> (Option<Symmetry>, Vec<String>) {
        let mut notes = Vec::new();
        let mut chosen = Vec::new();
        let mut product = 1_usize;
        let numbers = numbers(machine);
        for (alike, name) in candidates(machine) {
            // In a slice there may be nothing left of them.
            if !machine.left.none && !matters(machine, alike, &numbers) {
                continue;
            }
            let ways = (1..=alike.len()).product::<usize>();
            if product.saturating_mul(ways) > PERMUTATIONS_MAX {
                notes.push(format!("{name}: interchangeable, but too many to exchange"));
                continue;
            }
            product *= ways;
            notes.push(format!("{name}: {} interchangeable", alike.len()));
            chosen.push(alike);
        }
        if chosen.is_empty() {
            return (None, notes);
        }
        let mut permutations = Vec::new();
        let mut orders: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for alike in &chosen {
            let ways = ways(alike.len());
            orders = orders
                .iter()
                .flat_map(|head| {
                    ways.iter().map(move |way| {
                        let mut order = head.clone();
                        order.push(way.clone());
                        order
                    })
                })
                .collect();
        }
        for order in orders {
            let same = order.iter().all(|way| way.iter().enumerate().all(|(at, to)| at == *to));
            if !same {
                permutations.push(Permutation::of(machine, &chosen, &order, &numbers));
            }
        }
        let glance = Glance::of(machine, &permutations);
        let lens: Vec<usize> = chosen.iter().map(|alike| alike.len()).collect();
        let signatures = Signatures::of(&machine.plan, &permutations, &lens);
        (Some(Symmetry { permutations, signatures, glance }), notes)
    }

    /// The least form among all permutations, packed; `best` holds that of `words` already. Of those whose
    /// signatures are in order, least is what is least at a glance, and of those that look the same, the
    /// least packed form.
    pub(super) fn least(
        &self,
        machine: &Machine,
        words: &[Word],
        packed: &mut [u64],
        best: &mut [u64],
        worker: &mut Worker,
    ) {
        let mut moved = std::mem::take(&mut worker.words);
        let mut least = std::mem::take(&mut worker.least);
        let mut codes = std::mem::take(&mut worker.codes);
        let mut signatures = std::mem::take(&mut worker.signatures);
        self.signatures.read(words, &mut signatures);
        let mut in_order = self.signatures.are_sorted(&signatures);
        if in_order {
            self.glance.own(machine, words, &mut least);
        }
        for of in self.permutations.iter().enumerate() {
            if !self.signatures.are_sorted_by(&signatures, of.1) {
                continue;
            }
            let seen = match in_order {
                true => self.glance.look(machine, of, words, &least, &mut codes),
                false => Seen::Smaller,
            };
            if seen == Seen::Larger {
                continue;
            }
            moved.clear();
            moved.resize(words.len(), 0);
            of.1.apply(machine, words, &mut moved);
            if machine.plan.slots.pack(&moved, packed).is_ok()
                && (seen == Seen::Smaller || *packed < *best)
            {
                best.copy_from_slice(packed);
                match in_order {
                    true => std::mem::swap(&mut least, &mut codes),
                    false => self.glance.own(machine, &moved, &mut least),
                }
                in_order = true;
            }
        }
        worker.signatures = signatures;
        worker.words = moved;
        worker.least = least;
        worker.codes = codes;
    }
}

fn candidates(machine: &Machine) -> Vec<(Alike, String)> {
    let design = &machine.design;
    let mut list = Vec::new();
    let visited = visited(design);
    let is_visited = |place: &PlaceOf| match place {
        PlaceOf::Key(subject, _) => visited.subjects.contains(subject),
        _ => false,
    };
    for (number, sort) in machine.universe.sorts.list.iter().enumerate() {
        if sort.symmetric && !sort.places.iter().any(is_visited) {
            let len = sort.opaque_len as usize;
            list.push((Alike::Values { sort: number, len }, sort.name.clone()));
        }
    }
    for (index, actor) in design.actors.iter().enumerate() {
        let (first, count) = machine.universe.of_actor[index];
        if actor.continues.is_some() || actor.is_world || count < 2 {
            continue;
        }
        // An effect is always made by the first of them.
        let told_apart = design.operations.iter().any(|operation| {
            let mut mentions = false;
            visit::operation_exprs(operation, &mut |expr| {
                visit::each(expr, &mut |expr| mentions |= matches!(expr.kind, ExprKind::Me));
            });
            let root = crate::world::actors::root_actor(design, operation.actor);
            mentions && root.index() == index && matches!(operation.kind, OperationKind::Effect(_))
        });
        if !told_apart && !visited.principals {
            let alike = Alike::Principals { first: first as usize, len: count as usize };
            list.push((alike, actor.name.clone()));
        }
    }
    list
}

/// Does exchanging two of them ever change a state?
fn matters(machine: &Machine, alike: Alike, numbers: &Numbers) -> bool {
    let mut order: Vec<usize> = (0..alike.len()).collect();
    order.swap(0, 1);
    let swapped = Permutation::of(machine, &[alike], &[order], numbers);
    let moves = |words: &[Word]| words.iter().enumerate().any(|(at, to)| at as Word != *to);
    machine.plan.slots.list.iter().enumerate().any(|(at, slot)| {
        let changes = match slot.kind {
            Kind::Plain => false,
            Kind::Opaque(sort) => moves(&swapped.values[sort as usize]),
            Kind::Ref(subject) => moves(&swapped.keys[subject as usize]),
            Kind::Principal => moves(&swapped.principals),
            Kind::Digest | Kind::Signature | Kind::Call => true,
        };
        slot.bits > 0 && (changes || swapped.to[at] != at as u32)
    }) || swapped.sent.iter().flatten().enumerate().any(|(at, to)| at as u32 != *to)
}

/// Every order of so many things.
fn ways(len: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for at in 0..len {
        all = all
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut longer = order.clone();
                    longer.insert(place, at);
                    longer
                })
            })
            .collect();
    }
    all
}
