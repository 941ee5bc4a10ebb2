//! What was judged a moment ago. Whether a goal holds depends on the bits of the state that it sees; of a
//! transition, also on what that writes. Each answer has one place, which the next one there takes over.

/// So many answers are kept.
const PLACES: usize = 1 << 12;
/// After so many answers that were not known, it is seen whether it is worth it.
const TRIAL: u32 = 1 << 12;

/// What is judged: a state, a transition that changes nothing which the goal sees, or another transition, by its
/// number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    State,
    Still,
    Step(u64),
}

impl Of {
    fn number(self) -> u64 {
        match self {
            Of::State => 1,
            Of::Still => 2,
            Of::Step(number) => number + 2,
        }
    }
}

/// What is known of one goal.
struct Seen {
    bits: Box<[u64]>,
    on: bool,
    found: u32,
    missed: u32,
}

pub(crate) struct Judged {
    width: usize,
    /// by the number of the invariant
    goals: Vec<Option<Seen>>,
    /// in each place: what was judged (0: nothing), the goal with its answer, and the bits
    places: Vec<u64>,
}

impl Judged {
    /// `goals`: the invariants that are judged, each with the bits of a state that it sees.
    pub(crate) fn new(width: usize, goals: Vec<(u32, Vec<u64>)>) -> Judged {
        let most = goals.iter().map(|(goal, _)| *goal as usize + 1).max().unwrap_or(0);
        let mut all: Vec<Option<Seen>> = (0..most).map(|_| None).collect();
        let any = !goals.is_empty();
        for (goal, bits) in goals {
            let seen = Seen { bits: bits.into(), on: true, found: 0, missed: 0 };
            all[goal as usize] = Some(seen);
        }
        let places = vec![0; if any { PLACES * (width + 2) } else { 0 }];
        Judged { width, goals: all, places }
    }

    /// Does the goal hold? What is not known is asked.
    pub(crate) fn holds(
        &mut self,
        goal: u32,
        of: Of,
        state: &[u64],
        ask: impl FnOnce() -> bool,
    ) -> bool {
        let seen = self.goals[goal as usize].as_mut().filter(|seen| seen.on);
        let Some(seen) = seen else { return ask() };
        let masked = || seen.bits.iter().zip(state).map(|(bits, word)| bits & word);
        let (number, goal) = (of.number(), u64::from(goal) << 1);
        let mut hash = (number ^ goal.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for word in masked() {
            let product = u128::from(hash ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
            hash = (product as u64) ^ ((product >> 64) as u64);
        }
        let stride = self.width + 2;
        let at = hash as usize % PLACES * stride;
        let place = &mut self.places[at..at + stride];
        if place[0] == number
            && place[1] & !1 == goal
            && masked().zip(&place[2..]).all(|(one, other)| one == *other)
        {
            seen.found += 1;
            return place[1] & 1 == 1;
        }
        let holds = ask();
        place[0] = number;
        place[1] = goal | u64::from(holds);
        masked().zip(&mut place[2..]).for_each(|(word, held)| *held = word);
        seen.missed += 1;
        if seen.missed >= TRIAL {
            // Less than every third answer is known: to look takes as long as to ask.
            seen.on = seen.found * 2 >= seen.missed;
            (seen.found, seen.missed) = (0, 0);
        }
        holds
    }
}
