//! What the words of the language mean, in a line each: for hover and completion.

use design::Catalog;
use syntax::tree::ItemKind;
use syntax::{FileId, parse};

/// The words that begin an item.
pub const ITEMS: [(&str, &str); 22] = [
    ("design", "what this file holds: a design, with its name and title"),
    ("archetype", "what this file holds: a design with the placeholder `X`, to be used by others"),
    ("use", "brings in an archetype: `use A08 as Seat` makes `XHoldState` into `SeatHoldState`"),
    ("from", "how truth of an earlier version follows to this one"),
    ("actor", "a role that issues steps, and the memory that it keeps between them"),
    ("subject", "a thing whose truth is kept; its key is the unit of ordering and of partitioning"),
    ("blob", "immutable content, referred to from truth by its hash"),
    ("define", "a named predicate"),
    (
        "step",
        "an operation that is called from outside: `step actor[operation(…) { guard }] { effects }`",
    ),
    ("repair", "an operation that the engine runs by itself whenever its guard holds"),
    ("effect", "a call to the world outside, through the transactional outbox"),
    ("on", "what is done when an event is heard, or when the world outside answers"),
    ("read", "a query, possibly guarded"),
    ("view", "derived from truth and rebuildable; may lag, and no guard reads it"),
    ("protocol", "a path through the steps that the checker must be able to walk"),
    ("invariant", "holds in every reachable state"),
    ("recovers", "comes to hold again from every reachable state, with every client silent"),
    ("leads_to", "whenever the first holds, the second comes to hold"),
    (
        "failure",
        "a failure that cannot happen as written, and does once its protection is taken away",
    ),
    ("defence", "a clause that is kept although nothing in the small world needs it"),
    ("hotspot", "what gets hot first, counted at run time under that name"),
    ("check", "the small world that is explored: how many of each key and actor, and which faults"),
];

/// Words that stand inside of items.
pub const INNER: [(&str, &str); 47] = [
    ("truth", "authoritative attributes; guards may read them"),
    ("volatile", "truth of a place, lost when the place crashes"),
    ("log", "an append-only sequence under the subject"),
    ("cache", "a copy of truth at one place, which may be stale or gone at any moment"),
    ("ephemeral", "soft state with a time to live; no guard reads it"),
    ("visible", "`visible to ACTOR where …`: who may read this state"),
    ("new", "makes a record, or takes one that does not exist yet"),
    ("delete", "removes a record"),
    ("append", "adds an entry to a log"),
    ("emit", "tells the feed, and whoever hears it, of an event"),
    ("send", "puts an effect, or a message to a step, into the outbox of this commit"),
    ("let", "gives a value a name"),
    ("if", "only when this holds"),
    ("else", "otherwise"),
    ("for", "once for each of a bounded set"),
    ("now", "the engine's time, fixed once for each step"),
    ("me", "the principal that calls"),
    ("null", "no value"),
    ("true", "yes"),
    ("false", "no"),
    ("old", "`old(e)`: what it was before this transition; in an invariant alone"),
    ("all", "`all x in S where p: q`: of each of them"),
    ("any", "`any x in S where p: q`: of one of them at least"),
    ("count", "how many there are"),
    ("sum", "all of them added up"),
    ("and", "both"),
    ("or", "one of the two, or both"),
    ("not", "the opposite"),
    ("implies", "if the first, then the second"),
    ("in", "is one of, or ranges over"),
    ("present", "it has a value, or the record exists"),
    ("absent", "it has no value, or the record does not exist"),
    ("where", "only those for which this holds"),
    ("without", "what is taken away to see the failure happen"),
    ("breaks", "the goal that breaks then"),
    ("keyed", "a call must carry an idempotency key"),
    ("limit", "`limit 5 per 1m per me`: how often one caller may call it"),
    ("after", "a repair runs so long after it became due"),
    ("every", "a repair runs again so often"),
    ("batch", "a repair does so many at a time"),
    ("retain", "how long a log keeps its entries, or how many"),
    ("ttl", "how long soft state lives"),
    ("continues", "this actor takes over the memory of that one"),
    ("apart", "`apart from ACTOR`: never the same person"),
    ("hide", "an operation of the archetype that nobody may call here"),
    ("also", "more states, clauses or effects for what an archetype has"),
    ("instead", "another text for an operation of the archetype"),
];

/// The types that the language has.
pub const TYPES: [(&str, &str); 15] = [
    ("int", "a whole number"),
    ("bool", "`true` or `false`"),
    ("text", "a text"),
    ("bytes", "bytes"),
    ("decimal", "an exact number with a fraction"),
    ("money", "`money(EUR)`: an exact amount of one currency"),
    ("time", "a point in time of the engine's clock"),
    ("duration", "a stretch of time: `10m`"),
    ("list", "`list T max 8`: a bounded list"),
    ("set", "`set T max 8`: a bounded set"),
    ("map", "`map K V max 8`: a bounded map"),
    ("json", "any JSON, opaque to the design"),
    ("document", "a text under concurrent edits"),
    ("point", "a place on earth"),
    ("secret", "kept as a keyed hash alone"),
];

pub fn meaning(word: &str) -> Option<&'static str> {
    let all = ITEMS.iter().chain(&INNER).chain(&TYPES);
    all.clone().find(|(held, _)| *held == word).map(|(_, meaning)| *meaning)
}

/// What an archetype says of itself.
pub fn archetype_title(catalog: &dyn Catalog, id: &str) -> Option<String> {
    // the first line is enough
    let head = catalog.archetype(id)?.lines().next()?;
    parse(head, FileId(0)).tree.items.into_iter().find_map(|item| match item.kind {
        ItemKind::Archetype { name, title, .. } => {
            Some(title.map_or(name.text, |title| title.value))
        }
        _ => None,
    })
}
