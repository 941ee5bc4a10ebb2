//! What was found, in the design's own words. Plain data for others to render.

use design::model::{FailureProof, Goal, Use};

use crate::Trace;

/// Everything that one check found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// the design's name
    pub design: String,
    /// the default world
    pub world: WorldSummary,
    /// the design as written, in the default world
    pub base: ArmResult,
    /// invariants, then recoveries, then what leads to something, in the order written
    pub goals: Vec<GoalVerdict>,
    /// one for each proof of each failure, in the order written
    pub failures: Vec<FailureVerdict>,
    pub witnesses: Vec<Witness>,
    /// what was never seen, by name: `claim.free refuses`
    pub unwitnessed: Vec<String>,
    /// clauses whose absence breaks no goal
    pub free: Vec<FreeClause>,
    /// every search, in the order made
    pub searches: Vec<ArmResult>,
    /// the worlds that some goals have of their own
    pub worlds: Vec<WorldReport>,
    /// the archetypes that the design uses, and what it does not take over from them
    pub uses: Vec<Use>,
    /// how long it took, all in all
    pub seconds: f64,
}

/// `check NAME for GOAL, GOAL { … }`: what was explored for these goals.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldReport {
    pub name: String,
    /// the names of the goals that were judged here
    pub goals: Vec<String>,
    pub world: WorldSummary,
    /// the design as written
    pub base: ArmResult,
}

/// A clause that no failure names, and that no goal needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreeClause {
    /// `claim.free`
    pub clause: String,
    /// The goals hold without it within these bounds, or as far as the search went; none: in all of
    /// the world.
    pub within: Vec<String>,
    /// Or is it not known whether some goal needs it?
    pub known: bool,
}

/// The world that was explored: every bound of the verdict.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorldSummary {
    /// `resource: 2`, `claimant: 2`, `ttl: 2 ticks`, …
    pub bounds: Vec<String>,
    /// `crash`, `lost_reply (at most 1)`, …
    pub faults: Vec<String>,
    /// `calls in flight: 1`, …
    pub settings: Vec<String>,
    /// sets of interchangeable things, and what was not used
    pub symmetry: Vec<String>,
    /// counters kept by rank, and those that fell back to a bound
    pub normalised: Vec<String>,
    /// What `recovers` assumes, one sentence each.
    pub fairness: Vec<String>,
    /// What `leads_to` assumes, one sentence each.
    pub fairness_of_leads: Vec<String>,
    /// What each duration is, in units: `10s is 2`.
    pub time: Vec<String>,
    /// States beyond these bounds were cut.
    pub cut: Vec<String>,
    /// what else a reader should know
    pub notes: Vec<String>,
}

/// The size of one exploration.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ArmResult {
    /// `as written`, or `without claim.free`
    pub name: String,
    pub states: u64,
    pub transitions: u64,
    /// the longest shortest history
    pub depth: u32,
    pub seconds: f64,
    /// the most memory held at once
    pub bytes: u64,
    /// how many bits a state takes
    pub state_bits: u32,
    /// every reachable state was seen
    pub closed: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct GoalVerdict {
    pub goal: Goal,
    pub name: String,
    pub verdict: Verdict,
    /// what was explored for it, in words; none: all of the design that anything reads
    pub slice: Option<String>,
    /// how many states that has
    pub states: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// in every reachable state of the world
    Proved,
    /// in every state within these bounds, the first ones beyond them included
    Holds(Vec<String>),
    Violated(Trace),
    /// why it is not known
    Unknown(String),
}

/// What became of one proof of one failure.
#[derive(Clone, PartialEq, Debug)]
pub struct FailureVerdict {
    pub title: String,
    pub proof: FailureProof,
    /// `without claim.free breaks no_steal`
    pub claim: String,
    /// the author says that something else covers it too
    pub in_depth: bool,
    pub status: FailureStatus,
    /// It breaks in the very step whose clause was taken away, and the goal reads what the clause reads: it
    /// says the same once more.
    pub restates: bool,
    /// It shows nothing because of what the design changes in what it uses: a clause that it adds, a step that it
    /// hides or replaces.
    pub covered: bool,
    /// the exploration without the protection, if there was one
    pub arm: Option<ArmResult>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum FailureStatus {
    /// without its protection, the goal breaks: so
    LoadBearing(Trace),
    /// The goal holds without it too. What covers it: taken away as well, the goal breaks.
    Redundant {
        covered_by: Vec<String>,
    },
    /// the protection, or the goal, never made a difference
    Vacuous {
        why: String,
    },
    Unknown {
        why: String,
    },
    /// shown when the design was compiled
    Compiler {
        code: String,
    },
    /// a quantity with a threshold, measured at run time
    Measured,
}

impl FailureVerdict {
    /// Is this what the author said?
    pub fn expected(&self) -> bool {
        match &self.status {
            FailureStatus::LoadBearing(_) => !self.in_depth,
            FailureStatus::Redundant { .. } => self.in_depth || self.covered,
            FailureStatus::Vacuous { .. } => self.covered,
            FailureStatus::Unknown { .. } => false,
            FailureStatus::Compiler { .. } | FailureStatus::Measured => true,
        }
    }
}

/// Something that can happen in this design, and did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    pub kind: WitnessKind,
    /// `claimant[claim] accepted`, `claim.free refuses`, `crash strikes`, …
    pub what: String,
    /// after how many transitions it is first seen
    pub depth: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WitnessKind {
    Accepted,
    Refused,
    Answer,
    Repair,
    Fault,
    Path,
}

impl Report {
    /// The archetype that a goal, a protocol or a world comes from, by its scope.
    pub fn origin(&self, name: &str) -> Option<&Use> {
        let (scope, _) = name.split_once('.')?;
        self.uses.iter().find(|used| used.scope == scope)
    }

    /// Every goal holds, every failure as expected, nothing unwitnessed.
    pub fn ok(&self) -> bool {
        let holds =
            |goal: &GoalVerdict| matches!(goal.verdict, Verdict::Proved | Verdict::Holds(_));
        self.goals.iter().all(holds)
            && self.failures.iter().all(FailureVerdict::expected)
            && self.unwitnessed.is_empty()
    }

    /// Nothing is wrong as far as was seen, but a budget ran out.
    pub fn unknown(&self) -> bool {
        let violated = self.goals.iter().any(|goal| matches!(goal.verdict, Verdict::Violated(_)));
        let unexpected = self.failures.iter().any(|failure| {
            !failure.expected() && !matches!(failure.status, FailureStatus::Unknown { .. })
        });
        !violated
            && !unexpected
            && (self.goals.iter().any(|goal| matches!(goal.verdict, Verdict::Unknown(_)))
                || self
                    .failures
                    .iter()
                    .any(|failure| matches!(failure.status, FailureStatus::Unknown { .. })))
    }

    /// What the verdict of some goal is bounded by, in the order met; none: everything was seen.
    pub fn bounds(&self) -> Vec<String> {
        let mut bounds: Vec<String> = Vec::new();
        for goal in &self.goals {
            let Verdict::Holds(within) = &goal.verdict else { continue };
            bounds.extend(
                within.iter().filter(|bound| !bounds.contains(bound)).cloned().collect::<Vec<_>>(),
            );
        }
        bounds
    }

    /// Every reachable state of every world was seen.
    pub fn closed(&self) -> bool {
        self.base.closed && self.worlds.iter().all(|world| world.base.closed)
    }

    /// The world in which a goal was judged; none: the default one.
    pub fn world_of(&self, goal: Goal) -> Option<&str> {
        let goal = self.goals.iter().find(|held| held.goal == goal)?;
        let world = self.worlds.iter().find(|world| world.goals.contains(&goal.name))?;
        Some(&world.name)
    }

    pub fn goal(&self, name: &str) -> Option<&GoalVerdict> {
        self.goals.iter().find(|goal| goal.name == name)
    }

    pub fn failure(&self, title: &str) -> Option<&FailureVerdict> {
        self.failures.iter().find(|failure| failure.title == title)
    }
}
