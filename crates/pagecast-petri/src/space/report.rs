//! Says of a state space what the report of CPN Tools says: size, bounds, home, dead and live properties.

use super::{Space, components::components};
use crate::value::{Multiset, Tokens, When};

/// The properties of a state space.
#[derive(Clone, Debug)]
pub struct Report {
    /// Nodes.
    pub nodes: usize,
    /// Arcs.
    pub arcs: usize,
    /// False if there are nodes that were not explored: the other properties are of the explored part then.
    pub is_complete: bool,
    /// Strongly connected components.
    pub components: usize,
    /// Arcs between components.
    pub component_arcs: usize,
    /// Nodes without an enabled transition.
    pub dead_markings: Vec<usize>,
    /// Nodes that can be reached from every node.
    pub home_markings: Vec<usize>,
    /// Bounds of each place.
    pub bounds: Vec<Bounds>,
    /// Transitions that never occur.
    pub dead_transitions: Vec<usize>,
    /// Transitions that can always occur again.
    pub live_transitions: Vec<usize>,
}

/// The bounds of a place.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Most tokens.
    pub upper: u64,
    /// Fewest tokens.
    pub lower: u64,
    /// The smallest multiset that holds each marking, without stamps.
    pub upper_multiset: Multiset,
    /// The largest multiset that each marking holds, without stamps.
    pub lower_multiset: Multiset,
}

impl Report {
    /// The properties of a state space.
    pub fn of(space: &Space) -> Self {
        let nodes = space.len();
        let successors = |node: usize| space.arcs[node].iter().map(|arc| arc.target).collect::<Vec<_>>();
        let (component, count) = components(successors, nodes);
        let mut is_terminal = vec![true; count];
        let mut component_arcs = std::collections::BTreeSet::new();
        for (node, arcs) in space.arcs.iter().enumerate() {
            for arc in arcs {
                let (from, to) = (component[node], component[arc.target as usize]);
                if from != to {
                    is_terminal[from as usize] = false;
                    component_arcs.insert((node, arc.target));
                }
            }
        }
        let terminal: Vec<usize> = (0..count).filter(|&at| is_terminal[at]).collect();
        let home_markings = match terminal[..] {
            [only] => (0..nodes).filter(|&node| component[node] as usize == only).collect(),
            _ => Vec::new(),
        };
        let transitions = space.model.transitions.len();
        let mut occurs = vec![false; transitions];
        let mut in_terminal = vec![vec![false; transitions]; count];
        for (node, arcs) in space.arcs.iter().enumerate() {
            for arc in arcs {
                occurs[arc.transition as usize] = true;
                in_terminal[component[node] as usize][arc.transition as usize] = true;
            }
        }
        Self {
            nodes,
            arcs: space.arcs.iter().map(Vec::len).sum(),
            is_complete: space.is_complete,
            components: count,
            component_arcs: component_arcs.len(),
            dead_markings: (0..nodes).filter(|&node| space.arcs[node].is_empty()).collect(),
            home_markings,
            bounds: (0..space.model.places.len()).map(|place| bounds(space, place)).collect(),
            dead_transitions: (0..transitions).filter(|&of| !occurs[of]).collect(),
            live_transitions: (0..transitions)
                .filter(|&of| terminal.iter().all(|&at| in_terminal[at][of]))
                .collect(),
        }
    }
}

fn bounds(space: &Space, place: usize) -> Bounds {
    let mut numbers: Vec<u32> = space.nodes.iter().map(|(_, marking)| marking[place]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let markings: Vec<Multiset> =
        numbers.iter().map(|&number| without_stamps(&space.multisets[number as usize])).collect();
    let sizes = markings.iter().map(Multiset::len);
    let (mut most, mut least) = (Vec::new(), Vec::new());
    let mut values: Vec<_> =
        markings.iter().flat_map(|marking| &marking.0).map(|tokens| &tokens.value).collect();
    values.sort();
    values.dedup();
    for value in values {
        let counts = markings.iter().map(|marking| {
            let found = marking.0.binary_search_by(|tokens| tokens.value.cmp(value));
            found.map_or(0, |at| marking.0[at].count)
        });
        let (low, high) = counts.fold((u64::MAX, 0), |(low, high), count| (low.min(count), high.max(count)));
        let tokens = |count| Tokens { value: value.clone(), when: When::NOW, count };
        most.push(tokens(high));
        if low > 0 {
            least.push(tokens(low));
        }
    }
    Bounds {
        upper: sizes.clone().max().unwrap_or(0),
        lower: sizes.min().unwrap_or(0),
        upper_multiset: Multiset(most),
        lower_multiset: Multiset(least),
    }
}

fn without_stamps(multiset: &Multiset) -> Multiset {
    Multiset::collect(multiset.0.iter().map(|tokens| Tokens { when: When::NOW, ..tokens.clone() }).collect())
}
