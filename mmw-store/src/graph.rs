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

    /// Returns every record that `start` was derived from, at any depth. Nearer ones come first;
    /// cycles end.
    #[must_use]
    pub fn sources_of(&self, start: RecordId) -> Sources {
        let mut sources = Sources {
            start,
            ids: Vec::new(),
            came_from: HashMap::new(),
        };
        let mut waiting = VecDeque::from([start]);
        while let Some(at) = waiting.pop_front() {
            // In the order of ids, so that of two shortest ways always the same one is shown.
            let mut next: Vec<RecordId> = self
                .graph
                .neighbors_directed(at, Direction::Outgoing)
                .collect();
            next.sort_unstable();
            for source in next {
                if source != start && !sources.came_from.contains_key(&source) {
                    sources.came_from.insert(source, at);
                    sources.ids.push(source);
                    waiting.push_back(source);
                }
            }
        }
        sources
    }
}

/// What one record was derived from.
#[derive(Debug, Clone)]
pub struct Sources {
    start: RecordId,
    ids: Vec<RecordId>,
    came_from: HashMap<RecordId, RecordId>,
}

impl Sources {
    /// Returns the records, the nearer first.
    #[must_use]
    pub fn ids(&self) -> &[RecordId] {
        &self.ids
    }

    /// Returns the shortest way to one of them: the direct source first, the record itself last.
    #[must_use]
    pub fn way_to(&self, source: RecordId) -> Vec<RecordId> {
        let mut way = vec![source];
        let mut at = source;
        while let Some(before) = self
            .came_from
            .get(&at)
            .copied()
            .filter(|id| *id != self.start)
        {
            way.push(before);
            at = before;
        }
        way.reverse();
        way
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

    /// Returns the ways to everything that a record was derived from.
    fn ways(edges: &[(u8, u8)], start: u8) -> Vec<Vec<RecordId>> {
        let sources = derivations(edges).sources_of(id(start));
        sources
            .ids()
            .iter()
            .map(|source| sources.way_to(*source))
            .collect()
    }

    #[test]
    fn the_shortest_way_is_shown() {
        let ways = ways(&[(1, 2), (2, 3), (3, 4), (1, 4)], 1);
        assert_eq!(ways, [vec![id(2)], vec![id(4)], vec![id(2), id(3)]]);
    }

    #[test]
    fn cycles_end() {
        let ways = ways(&[(1, 2), (2, 1), (2, 3), (3, 2), (1, 1)], 1);
        assert_eq!(ways, [vec![id(2)], vec![id(2), id(3)]]);
    }

    #[test]
    fn a_record_without_sources_has_none() {
        assert!(Derivations::default().sources_of(id(1)).ids().is_empty());
    }

    proptest! {
        #[test]
        fn every_way_is_a_way_and_no_record_comes_twice(edges in prop::collection::vec((0_u8..8, 0_u8..8), 0..30)) {
            let ways = ways(&edges, 0);
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
