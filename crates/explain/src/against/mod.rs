//! Two designs held against each other: what changes for stored truth, for actors in flight and for
//! clients, and whether stored truth can follow.

mod clients;
mod flight;
mod truth;

use design::model::Design;
use layout::Following;
use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    pub format: &'static str,
    pub old: String,
    pub new: String,
    /// what a `from` block of the new text calls the old one
    pub old_version: String,
    pub new_version: String,
    pub truth: Vec<Change>,
    /// memory that is carried, calls that wait, times that are due
    pub in_flight: Vec<Change>,
    pub clients: Vec<Change>,
    /// the hardest of what stored truth and what is in flight ask for
    pub follows: Follows,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// `Seat.SeatInventoryState.section`, `buyer[hold]`
    pub on: String,
    pub text: String,
    pub follows: Follows,
}

/// From the easiest to the hardest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Follows {
    /// nothing has to be done
    AsItIs,
    /// each record is written anew, by a rule that the two designs give
    ByRewriting,
    /// only if what is stored happens to allow it, which has to be looked at
    IfUnused,
    /// no rule gives the new truth from the old
    Never,
}

impl Follows {
    pub fn text(self) -> &'static str {
        match self {
            Follows::AsItIs => "as it is",
            Follows::ByRewriting => "by rewriting",
            Follows::IfUnused => "if what is stored allows it",
            Follows::Never => "never",
        }
    }
}

pub const FORMAT: &str = "steadfast-difference/1";

pub fn against(old: &Design, new: &Design) -> Difference {
    let following = Following::of(old, new);
    let truth = truth::changes(&following);
    let in_flight = flight::changes(&following);
    let clients = clients::changes(&following);
    let follows = truth
        .iter()
        .chain(&in_flight)
        .map(|change| change.follows)
        .max()
        .unwrap_or(Follows::AsItIs);
    Difference {
        format: FORMAT,
        old: old.name.clone(),
        new: new.name.clone(),
        old_version: following.version.clone(),
        new_version: layout::version(new),
        truth,
        in_flight,
        clients,
        follows,
    }
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.truth.is_empty() && self.in_flight.is_empty() && self.clients.is_empty()
    }

    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// What was found, in the order found.
#[derive(Default)]
struct Found(Vec<Change>);

impl Found {
    fn add(&mut self, on: impl Into<String>, follows: Follows, text: impl Into<String>) {
        self.0.push(Change { on: on.into(), text: text.into(), follows });
    }
}

/// Pairs things by name: in both, only in the old, only in the new.
fn pairs<'a, T>(
    old: &'a [T],
    new: &'a [T],
    name: impl Fn(&T) -> String,
) -> (Vec<(&'a T, &'a T)>, Vec<&'a T>, Vec<&'a T>) {
    let mut both = Vec::new();
    let mut gone = Vec::new();
    for one in old {
        match new.iter().find(|other| name(other) == name(one)) {
            Some(other) => both.push((one, other)),
            None => gone.push(one),
        }
    }
    let added =
        new.iter().filter(|other| !old.iter().any(|one| name(one) == name(other))).collect();
    (both, gone, added)
}
