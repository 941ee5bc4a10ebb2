//! What was seen to happen in worlds that are explored already.

use std::collections::BTreeSet;

use design::model::{Design, OperationId};

use crate::design_parts::operations;
use crate::protocols;

/// What need not be looked for, because another world of the same design shows it.
pub(crate) struct Already {
    /// for each operation: everything that can be seen of it was
    operations: Vec<bool>,
    /// paths of protocols, by name
    routes: BTreeSet<String>,
    /// clauses that a failure or a `defence` of the design speaks of, in whichever world
    pub(crate) named: BTreeSet<String>,
    /// only what the goals need is explored
    pub(crate) goals_alone: bool,
}

impl Already {
    /// `named`: the clauses that a failure or a `defence` speaks of.
    pub(crate) fn nothing(design: &Design, named: BTreeSet<String>) -> Already {
        let operations = vec![false; design.operations.len()];
        Already { operations, routes: BTreeSet::new(), named, goals_alone: false }
    }

    /// Operations that are still to be seen, and operations that are to be seen in one history.
    pub(crate) fn to_look_for(
        &self,
        design: &Design,
        nothing_else: bool,
    ) -> (Vec<OperationId>, Vec<Vec<OperationId>>) {
        if self.goals_alone && !nothing_else {
            return (Vec::new(), Vec::new());
        }
        let all: Vec<OperationId> = operations(design).map(|(id, _)| id).collect();
        let routes = protocols::routes(design).into_iter();
        let together: Vec<Vec<OperationId>> = routes
            .filter(|route| !self.routes.contains(&route.name))
            .map(|route| route.operations())
            .collect();
        let wanted = |id: &OperationId| {
            !self.operations[id.index()] || together.iter().any(|route| route.contains(id))
        };
        let mut left: Vec<OperationId> = all.iter().copied().filter(wanted).collect();
        if left.is_empty() && nothing_else {
            // a world is explored at least a little
            left.extend(all.first());
        }
        (left, together)
    }

    pub(crate) fn saw(&mut self, operation: OperationId) {
        self.operations[operation.index()] = true;
    }

    pub(crate) fn saw_route(&mut self, name: String) {
        self.routes.insert(name);
    }
}
