//! Several worlds: each goal is judged in one of them.

use serde::{Deserialize, Serialize};

use super::*;

/// `check races for one_winner, in_time { … }`: these goals are judged here, not in the default world.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NamedWorld {
    pub name: String,
    pub goals: Vec<Goal>,
    pub world: World,
}

/// A design as it is explored in one of its worlds, and where its goals and failures come from.
#[derive(Clone, PartialEq, Debug)]
pub struct OneWorld {
    /// none: the default world
    pub name: Option<String>,
    /// with this world alone, its goals, and the failures that break them
    pub design: Design,
    /// of each invariant, its number in the whole design
    pub invariants: Vec<u32>,
    /// of each recovery, its number in the whole design
    pub recoveries: Vec<u32>,
    /// of each `leads_to`, its number in the whole design
    pub leads: Vec<u32>,
}

impl OneWorld {
    /// The goal as the whole design numbers it.
    pub fn whole(&self, goal: Goal) -> Goal {
        match goal {
            Goal::Invariant(at) => Goal::Invariant(self.invariants[at as usize]),
            Goal::Recovery(at) => Goal::Recovery(self.recoveries[at as usize]),
            Goal::LeadsTo(at) => Goal::LeadsTo(self.leads[at as usize]),
        }
    }
}

impl Design {
    /// The name of the world in which a goal is judged; none: the default one.
    pub fn world_of(&self, goal: Goal) -> Option<&str> {
        let named = self.worlds.iter().find(|world| world.goals.contains(&goal))?;
        Some(&named.name)
    }

    /// One design for each world, the default one first.
    pub fn each_world(&self) -> Vec<OneWorld> {
        let named = self.worlds.iter().map(|named| self.in_world(Some(named)));
        std::iter::once(self.in_world(None)).chain(named).collect()
    }

    fn in_world(&self, named: Option<&NamedWorld>) -> OneWorld {
        let name = named.map(|named| named.name.clone());
        let here = |goal: Goal| self.world_of(goal) == name.as_deref();
        let invariants: Vec<u32> =
            (0..self.invariants.len() as u32).filter(|at| here(Goal::Invariant(*at))).collect();
        let recoveries: Vec<u32> =
            (0..self.recoveries.len() as u32).filter(|at| here(Goal::Recovery(*at))).collect();
        let leads: Vec<u32> =
            (0..self.leads.len() as u32).filter(|at| here(Goal::LeadsTo(*at))).collect();
        let mut design = self.clone();
        design.worlds.clear();
        if let Some(named) = named {
            design.world = named.world.clone();
        }
        design.invariants =
            invariants.iter().map(|at| self.invariants[*at as usize].clone()).collect();
        design.recoveries =
            recoveries.iter().map(|at| self.recoveries[*at as usize].clone()).collect();
        design.leads = leads.iter().map(|at| self.leads[*at as usize].clone()).collect();
        let number = |list: &[u32], at: u32| list.iter().position(|held| *held == at);
        for failure in &mut design.failures {
            failure.proofs.retain_mut(|proof| match proof {
                FailureProof::Without { breaks, .. } => {
                    let moved = match *breaks {
                        Goal::Invariant(at) => {
                            number(&invariants, at).map(|at| Goal::Invariant(at as u32))
                        }
                        Goal::Recovery(at) => {
                            number(&recoveries, at).map(|at| Goal::Recovery(at as u32))
                        }
                        Goal::LeadsTo(at) => number(&leads, at).map(|at| Goal::LeadsTo(at as u32)),
                    };
                    let Some(moved) = moved else { return false };
                    *breaks = moved;
                    true
                }
                // of no world; they are told of once
                FailureProof::Compiler { .. } | FailureProof::Measured { .. } => named.is_none(),
            });
        }
        OneWorld { name, design, invariants, recoveries, leads }
    }
}
