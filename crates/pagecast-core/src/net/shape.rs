//! Finds the links between two places of a network of one shape.
//!
//! Source: SimGrid 3.36, `src/kernel/routing/FatTreeZone.cpp` (D-mod-k: the place of the destination chooses the way up) and `TorusZone.cpp` (one
//! dimension after the other, the shorter way around). A mesh is a torus whose ends are not joined. Left out: SimGrid's choice among
//! several cables downwards, which depends on their order; here the first is taken.

use crate::machine::Shape;

/// A link of a shape: its lower or earlier node, by level and number, and which of that node's links it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Inner {
    /// 0 for hosts.
    pub level: u32,
    pub node: u32,
    /// The number of its cables upwards, or the dimension of a grid.
    pub port: u32,
}

/// A link and the direction in which it is crossed: up, or to the next node of a grid.
pub(crate) type Step = (Inner, bool);

/// The links from one place to another, in order.
pub(crate) fn steps(shape: &Shape, from: u32, to: u32) -> Vec<Step> {
    match shape {
        Shape::Tree { down, up, cables } => in_tree((down, up, cables), from, to),
        Shape::Grid { lengths, wraps } => in_grid(lengths, *wraps, from, to),
    }
}

/// The two nodes of a link, each by level and number.
pub(crate) fn ends(shape: &Shape, link: Inner) -> [(u32, u32); 2] {
    let lower = (link.level, link.node);
    match shape {
        Shape::Tree { down, up, .. } => {
            let (level, above) = (link.level as usize, link.port % up[link.level as usize]);
            let mut label = Label::of(down, up, level, link.node);
            label.0[level] = above;
            [lower, (link.level + 1, label.number(down, up, level + 1))]
        }
        Shape::Grid { lengths, .. } => {
            let at = link.port as usize;
            let (length, stride) = (lengths[at], lengths[..at].iter().product::<u32>());
            let place = link.node / stride % length;
            [lower, (0, link.node - place * stride + (place + 1) % length * stride)]
        }
    }
}

/// The place of a node of a tree in each level: below its own level which of the ways up, from there on which of those below.
struct Label(Vec<u32>);

impl Label {
    fn bases<'a>(down: &'a [u32], up: &'a [u32], level: usize) -> impl Iterator<Item = u32> + 'a {
        up[..level].iter().chain(&down[level..]).copied()
    }

    fn of(down: &[u32], up: &[u32], level: usize, mut number: u32) -> Self {
        let digit = |base| {
            let digit = number % base;
            number /= base;
            digit
        };
        Self(Self::bases(down, up, level).map(digit).collect())
    }

    fn number(&self, down: &[u32], up: &[u32], level: usize) -> u32 {
        let digits: Vec<_> = self.0.iter().zip(Self::bases(down, up, level)).collect();
        digits.into_iter().rev().fold(0, |number, (digit, base)| number * base + digit)
    }
}

fn in_tree((down, up, cables): (&[u32], &[u32], &[u32]), from: u32, to: u32) -> Vec<Step> {
    let (mut label, target) = (Label::of(down, up, 0, from), Label::of(down, up, 0, to));
    let (mut steps, mut level, mut chooser) = (Vec::new(), 0, to);
    while label.0[level..] != target.0[level..] {
        let port = chooser % (up[level] * cables[level]);
        let node = label.number(down, up, level);
        steps.push((Inner { level: level as u32, node, port }, true));
        chooser /= up[level];
        label.0[level] = port % up[level];
        level += 1;
    }
    while level > 0 {
        level -= 1;
        let port = label.0[level];
        label.0[level] = target.0[level];
        steps.push((Inner { level: level as u32, node: label.number(down, up, level), port }, false));
    }
    steps
}

fn in_grid(lengths: &[u32], wraps: bool, from: u32, to: u32) -> Vec<Step> {
    let (mut steps, mut node, mut stride) = (Vec::new(), from, 1);
    for (port, &length) in (0..).zip(lengths) {
        let (start, end) = (from / stride % length, to / stride % length);
        let goes_on = if wraps {
            (end > start && end <= start + length / 2)
                || (start > length / 2 && (start + length / 2) % length >= end)
        } else {
            end > start
        };
        while node / stride % length != end {
            let place = node / stride % length;
            let next = if goes_on { (place + 1) % length } else { (place + length - 1) % length };
            let other = node - place * stride + next * stride;
            let earlier = if goes_on { node } else { other };
            steps.push((Inner { level: 0, node: earlier, port }, goes_on));
            node = other;
        }
        stride *= length;
    }
    steps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shapes() -> impl Strategy<Value = Shape> {
        let lengths = prop::collection::vec(1_u32..5, 1..4);
        let tree =
            prop::collection::vec((1_u32..4, 1_u32..4, 1_u32..3), 1..4).prop_map(|levels| Shape::Tree {
                down: levels.iter().map(|each| each.0).collect(),
                up: levels.iter().map(|each| each.1).collect(),
                cables: levels.iter().map(|each| each.2).collect(),
            });
        prop_oneof![
            tree,
            (lengths, any::<bool>()).prop_map(|(lengths, wraps)| Shape::Grid { lengths, wraps })
        ]
    }

    /// The fewest links between two places, by looking everywhere.
    fn distance(shape: &Shape, from: u32, to: u32) -> usize {
        match shape {
            Shape::Grid { lengths, wraps } => {
                let (mut all, mut stride) = (0, 1);
                for &length in lengths {
                    let apart = (from / stride % length).abs_diff(to / stride % length);
                    all += if *wraps { apart.min(length - apart) } else { apart } as usize;
                    stride *= length;
                }
                all
            }
            Shape::Tree { down, .. } => {
                let (mut levels, mut below) = (0, 1);
                for &each in down {
                    if from / below != to / below {
                        levels += 1;
                    }
                    below *= each;
                }
                2 * levels
            }
        }
    }

    proptest! {
        #[test]
        fn a_route_leads_from_one_place_to_the_other_by_the_fewest_links(shape in shapes(), from: u32, to: u32) {
            let places = shape.places() as u32;
            let (from, to) = (from % places, to % places);
            let mut node = (0, from);
            let steps = steps(&shape, from, to);
            for &(link, forward) in &steps {
                let [lower, upper] = ends(&shape, link);
                let (start, end) = if forward { (lower, upper) } else { (upper, lower) };
                prop_assert_eq!(node, start);
                node = end;
            }
            prop_assert_eq!(node, (0, to));
            prop_assert_eq!(steps.len(), distance(&shape, from, to));
        }
    }

    /// The example of SimGrid's `cluster_fat_tree.xml`: 16 hosts, "2;4,4;1,2;1,2".
    #[test]
    fn the_destination_chooses_the_way_up() {
        let shape = Shape::Tree { down: vec![4, 4], up: vec![1, 2], cables: vec![1, 2] };
        let ups = |to| {
            steps(&shape, 0, to).iter().filter(|step| step.1).map(|step| step.0.port).collect::<Vec<_>>()
        };
        assert_eq!(
            [1, 4, 5, 6, 7, 8].map(ups),
            [vec![0], vec![0, 0], vec![0, 1], vec![0, 2], vec![0, 3], vec![0, 0]]
        );
    }
}
