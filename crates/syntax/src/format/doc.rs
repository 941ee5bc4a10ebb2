//! What is to be printed, before it is known where the lines end.

/// A piece of layout. A group is printed on one line if it fits and nothing in it asks for a
/// line of its own; otherwise each of its own line breaks is taken.
#[derive(Debug)]
pub(super) enum Doc<'s> {
    Text(&'s str),
    /// only when the enclosing group is broken: the comma after the last element
    IfBroken(&'static str),
    Line(Line),
    Group(Group<'s>),
    /// lines inside begin four columns further right
    Indent(Vec<Doc<'s>>),
    /// lines inside begin at the column where this begins, less `back` columns if that leaves
    /// them right of the surrounding indentation: `or` ends where its first operand begins
    Align {
        back: usize,
        docs: Vec<Doc<'s>>,
    },
    /// what follows a `:` or `:=`: on the same line, or on the next one, indented
    Hang(Hang<'s>),
}

/// A place where a line may end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// what stands here when the line does not end
    pub flat: &'static str,
    /// the comments that were written here
    pub slot: usize,
    /// what follows closes the list: comments here belong to the list, one level deeper
    pub closing: bool,
}

#[derive(Debug)]
pub(super) struct Group<'s> {
    pub docs: Vec<Doc<'s>>,
    /// asked for by the author, or needed by a comment
    pub broken: bool,
}

#[derive(Debug)]
pub(super) struct Hang<'s> {
    pub docs: Vec<Doc<'s>>,
    pub stay: Stay,
    /// cannot be on one line
    pub broken: bool,
    /// the widest part of an aligned chain
    pub widest: usize,
}

/// When a hanging part that does not fit on one line stays on the line where it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stay {
    /// if its first line fits: records
    FirstLine,
    /// if all fits up to where the next part hangs: quantifiers
    Head,
    /// if every part fits, each aligned under the first: `or` chains
    Aligned,
    /// if it does not fit on the next line either: calls
    Helpless,
    Never,
}

/// What one pass over a finished document finds out.
#[derive(Clone, Copy, Default)]
struct Measure {
    width: usize,
    broken: bool,
    /// of the parts between the lines of an aligned chain
    widest: usize,
}

impl Measure {
    fn join(self, other: Measure) -> Measure {
        Measure {
            width: self.width + other.width,
            broken: self.broken || other.broken,
            widest: self.widest.max(other.widest),
        }
    }
}

/// Decides which groups must be broken whatever their width: those that hold a comment or a
/// broken group. `occupied` says whether a slot holds a comment.
pub(super) fn settle(docs: &mut [Doc<'_>], occupied: &dyn Fn(usize) -> bool) {
    measure_all(docs, occupied);
}

fn measure_all(docs: &mut [Doc<'_>], occupied: &dyn Fn(usize) -> bool) -> Measure {
    docs.iter_mut().map(|doc| measure(doc, occupied)).fold(Measure::default(), Measure::join)
}

fn measure(doc: &mut Doc<'_>, occupied: &dyn Fn(usize) -> bool) -> Measure {
    match doc {
        Doc::Text(text) => Measure { width: columns(text), ..Measure::default() },
        Doc::IfBroken(_) => Measure::default(),
        Doc::Line(line) => {
            Measure { width: line.flat.len(), broken: occupied(line.slot), widest: 0 }
        }
        Doc::Indent(docs) => Measure { widest: 0, ..measure_all(docs, occupied) },
        Doc::Group(group) => {
            let inner = measure_all(&mut group.docs, occupied);
            group.broken |= inner.broken;
            Measure { broken: group.broken, ..inner }
        }
        Doc::Align { docs, .. } => {
            let (mut all, mut part, mut widest) = (Measure::default(), 0, 0);
            for doc in docs {
                let one = measure(doc, occupied);
                part = if matches!(doc, Doc::Line(_)) { 0 } else { part + one.width };
                widest = widest.max(part);
                all = all.join(one);
            }
            Measure { widest, ..all }
        }
        Doc::Hang(hang) => {
            let inner = measure_all(&mut hang.docs, occupied);
            hang.broken |= inner.broken;
            hang.widest = inner.widest;
            Measure { widest: 0, ..inner }
        }
    }
}

/// How many columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}
