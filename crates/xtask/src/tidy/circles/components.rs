//! Strongly connected components: the sets of nodes that all reach each other.

/// The components of the graph whose node `i` points at `edges[i]`, each node in exactly one.
pub fn strongly_connected(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        order: vec![None; edges.len()],
        low: vec![0; edges.len()],
        open: Vec::new(),
        visited: 0,
        found: Vec::new(),
    };
    for node in 0..edges.len() {
        if search.order[node].is_none() {
            search.visit(node);
        }
    }
    search.found
}

/// Tarjan's algorithm. A crate has a few hundred files, so it may recurse.
struct Search<'a> {
    edges: &'a [Vec<usize>],
    /// When each node was met.
    order: Vec<Option<usize>>,
    /// The earliest node that each reaches over nodes that are still open.
    low: Vec<usize>,
    /// Nodes whose component is not known yet.
    open: Vec<usize>,
    visited: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) {
        let edges = self.edges;
        self.order[node] = Some(self.visited);
        self.low[node] = self.visited;
        self.visited += 1;
        self.open.push(node);
        for &next in &edges[node] {
            match self.order[next] {
                None => {
                    self.visit(next);
                    self.low[node] = self.low[node].min(self.low[next]);
                }
                Some(order) if self.open.contains(&next) => {
                    self.low[node] = self.low[node].min(order);
                }
                Some(_) => {}
            }
        }
        if self.order[node] == Some(self.low[node]) {
            let first = self.open.iter().position(|&open| open == node);
            self.found.push(self.open.split_off(first.expect("a node is open while visited")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::strongly_connected;

    fn check(edges: &[&[usize]], expected: &[&[usize]]) {
        let edges: Vec<Vec<usize>> = edges.iter().map(|to| to.to_vec()).collect();
        let mut found = strongly_connected(&edges);
        found.iter_mut().for_each(|component| component.sort_unstable());
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_chain_has_components_of_one() {
        check(&[&[1], &[2], &[]], &[&[0], &[1], &[2]]);
    }

    #[test]
    fn two_circles_with_a_way_between_them_stay_two() {
        check(&[&[1], &[0, 2], &[3], &[2]], &[&[0, 1], &[2, 3]]);
    }

    #[test]
    fn circles_that_share_a_node_are_one() {
        check(&[&[1], &[0, 2], &[1], &[0]], &[&[0, 1, 2], &[3]]);
    }
}
