//! What was recorded, in the order of the text, so that a place is found by halving.

use std::cmp::Reverse;

use syntax::Span;

use super::{Definition, DefinitionId, Reference};
use crate::model::Type;

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub by_place: Vec<DefinitionId>,
    /// each once, however often it was recorded
    pub references: Vec<Reference>,
    /// into the types as they were recorded; of what begins together the longest comes first
    pub types: Vec<usize>,
}

impl Order {
    pub fn of(definitions: &[Definition], uses: &[(Span, Span)], types: &[(Span, Type)]) -> Order {
        let mut by_place: Vec<DefinitionId> =
            (0..definitions.len()).map(DefinitionId::of).collect();
        by_place.sort_unstable_by_key(|id| definitions[id.index()].span);
        let begin = |span: Span| (span.file, span.start);
        let found = |target: Span| {
            let at = |id: &DefinitionId| begin(definitions[id.index()].span);
            by_place.binary_search_by_key(&begin(target), at).ok().map(|at| by_place[at])
        };
        // what nobody declared has no definition
        let mut references: Vec<Reference> = uses
            .iter()
            .filter_map(|(span, target)| {
                Some(Reference { span: *span, definition: found(*target)? })
            })
            .collect();
        references.sort_unstable();
        references.dedup();
        let mut order: Vec<usize> = (0..types.len()).collect();
        order.sort_by_key(|at| {
            let span = types[*at].0;
            (span.file, span.start, Reverse(span.end))
        });
        order.dedup_by_key(|at| types[*at].0);
        Order { by_place, references, types: order }
    }
}
