//! Walking over links, with `petgraph`.
//!
//! Knows nothing of storage or of who may see what: it gets the links that a reader may see.

use std::collections::{HashMap, VecDeque};

use mmw_core::ids::RecordId;
use petgraph::Direction;
use petgraph::graphmap::DiGraphMap;

/// The derivations that a reader sees: an edge leads from a record to one that it was derived from.
#[derive(Debug, Clone, Default)]
pub struct Derivations {
    graph: DiGraphMap<RecordId, ()>,
}

impl Derivations {
    /// Adds that `derived` was derived from `source`.
    pub fn add(&mut self, derived: RecordId, source: RecordId) {
        self.graph.add_edge(derived, source, ());
    }

    /// Returns every record that `start` was derived from, at any depth, each with the shortest way
    /// to it (the direct source first, the record itself last). Nearer ones come first; cycles end.
    #[must_use]
    pub fn sources_of(&self, start: RecordId) -> Vec<Vec<RecordId>> {
        let mut came_from: HashMap<RecordId, RecordId> = HashMap::new();
        let mut found = Vec::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(at) = waiting.pop_front() {
            // In the order of ids, so that of two shortest ways always the same one is shown.
            let mut next: Vec<RecordId> = self
                .graph
                .neighbors_directed(at, Direction::Outgoing)
                .collect();
            next.sort_unstable();
            for source in next {
                if source != start && !came_from.contains_key(&source) {
                    came_from.insert(source, at);
                    found.push(source);
                    waiting.push_back(source);
                }
            }
        }
        found
            .into_iter()
            .map(|source| {
                let mut way = vec![source];
                let mut at = source;
                while let Some(before) = came_from.get(&at).copied().filter(|id| *id != start) {
                    way.push(before);
                    at = before;
                }
                way.reverse();
                way
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(n: u8) -> RecordId {
        RecordId::from_bytes([n; 16])
    }

    fn derivations(edges: &[(u8, u8)]) -> Derivations {
        let mut derivations = Derivations::default();
        for (derived, source) in edges {
            derivations.add(id(*derived), id(*source));
        }
        derivations
    }

    #[test]
    fn the_shortest_way_is_shown() {
        let ways = derivations(&[(1, 2), (2, 3), (3, 4), (1, 4)]).sources_of(id(1));
        assert_eq!(ways, [vec![id(2)], vec![id(4)], vec![id(2), id(3)]]);
    }

    #[test]
    fn cycles_end() {
        let ways = derivations(&[(1, 2), (2, 1), (2, 3), (3, 2), (1, 1)]).sources_of(id(1));
        assert_eq!(ways, [vec![id(2)], vec![id(2), id(3)]]);
    }

    #[test]
    fn a_record_without_sources_has_none() {
        assert!(Derivations::default().sources_of(id(1)).is_empty());
    }

    proptest! {
        #[test]
        fn every_way_is_a_way_and_no_record_comes_twice(edges in prop::collection::vec((0_u8..8, 0_u8..8), 0..30)) {
            let ways = derivations(&edges).sources_of(id(0));
            let mut ends: Vec<RecordId> = ways.iter().map(|way| *way.last().unwrap()).collect();
            ends.sort_unstable();
            ends.dedup();
            prop_assert_eq!(ends.len(), ways.len());
            for way in &ways {
                let mut at = id(0);
                for step in way {
                    prop_assert!(edges.iter().any(|(from, to)| id(*from) == at && id(*to) == *step));
                    at = *step;
                }
            }
        }
    }
}
