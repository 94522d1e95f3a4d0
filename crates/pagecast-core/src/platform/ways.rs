//! Finds the links from one host of a platform to another.
//!
//! Source: SimGrid 4.1, `NetZoneImpl::get_global_route_with_netzones, get_bypass_route`, `{Full,Dijkstra,Star,Torus}Zone::get_local_route`. Two
//! points have a zone that both are in, and that is the innermost such; it has a way between them or between the zones in it that they are
//! in. The rest leads from the source to the gateway of its zone, and from the other gateway to the destination.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{LinkId, Platform, Routing, Shaped, Way};
use crate::error::ScenarioError;
use crate::machine::Shape;
use crate::nearest::shorten;
use crate::net::shape;

/// More gateways behind each other go round in a circle.
const DEEPEST: u32 = 128;

type Found = Result<Option<Way>, ScenarioError>;

impl Platform {
    /// The links from one point to another; none if there is no way.
    pub(super) fn links_between(&self, from: usize, to: usize) -> Result<Vec<LinkId>, ScenarioError> {
        let mut links = Vec::new();
        Ok(if self.add_way_between(from, to, 0, &mut links)? { links } else { Vec::new() })
    }

    /// The zones that a point is in, from the root on.
    pub(super) fn zones_of(&self, point: usize) -> Vec<usize> {
        let first = self.points[point].zone;
        let mut zones: Vec<usize> = std::iter::successors(first, |&zone| self.zones[zone].parent).collect();
        zones.reverse();
        zones
    }

    fn add_way_between(
        &self,
        from: usize,
        to: usize,
        depth: u32,
        links: &mut Vec<LinkId>,
    ) -> Result<bool, ScenarioError> {
        if from == to {
            return Ok(true);
        }
        let (of_from, of_to) = (self.zones_of(from), self.zones_of(to));
        let both = of_from.iter().zip(&of_to).take_while(|(one, other)| one == other).count();
        let Some(&common) = of_from.get(both.wrapping_sub(1)) else { return Ok(false) };
        if depth > DEEPEST {
            let what = format!("gateways of the zone `{}` lead round in a circle", self.name_of(common));
            return Err(self.source.error(self.zones[common].line, what, "correct gw_src and gw_dst"));
        }
        let end =
            |point: usize, zones: &[usize]| zones.get(both).map_or(point, |&zone| self.zones[zone].point);
        let (one, other) = (end(from, &of_from), end(to, &of_to));
        let (ends, way) = match self.bypass(common, (from, &of_from[both..]), (to, &of_to[both..])) {
            Some((ends, way)) => (ends, Some(way.clone())),
            None => ((one, other), self.local(common, one, other, depth)?),
        };
        let Some(way) = way else { return Ok(false) };
        let (start, goal) = way.gateways.unwrap_or((from, to));
        if ends.0 != from && !self.add_way_between(from, start, depth + 1, links)? {
            return Ok(false);
        }
        links.extend(way.links);
        if ends.1 != to {
            return self.add_way_between(goal, to, depth + 1, links);
        }
        Ok(true)
    }

    fn name_of(&self, zone: usize) -> String {
        shorten(&self.points[self.zones[zone].point].name)
    }

    /// The bypass between two points or zones that they are in, the innermost first, and its ends.
    fn bypass(
        &self,
        common: usize,
        (from, of_from): (usize, &[usize]),
        (to, of_to): (usize, &[usize]),
    ) -> Option<((usize, usize), &Way)> {
        let bypasses = &self.zones[common].bypasses;
        if bypasses.is_empty() {
            return None;
        }
        let known = |ends: (usize, usize)| bypasses.get(&ends).map(|way| (ends, way));
        if of_from.is_empty() && of_to.is_empty() {
            return known((from, to));
        }
        let points =
            |zones: &[usize]| zones.iter().rev().map(|&zone| self.zones[zone].point).collect::<Vec<_>>();
        let (of_from, of_to) = (points(of_from), points(of_to));
        let at = |one: usize, other: usize| known((*of_from.get(one)?, *of_to.get(other)?));
        (0..of_from.len().max(of_to.len())).find_map(|most| {
            (0..most).find_map(|less| at(less, most).or_else(|| at(most, less))).or_else(|| at(most, most))
        })
    }

    /// The way between two points that are directly in a zone.
    fn local(&self, zone: usize, from: usize, to: usize, depth: u32) -> Found {
        match &self.zones[zone].routing {
            Routing::None => Ok(None),
            Routing::Full(ways) => Ok(ways.get(&(from, to)).cloned()),
            Routing::Shortest { ways, next } => self.shortest(ways, next, from, to, depth),
            Routing::Star(spokes) => {
                let up = spokes.get(&from).map_or(&[][..], |spoke| &spoke.up);
                let down = spokes.get(&to).map_or(&[][..], |spoke| &spoke.down);
                let mut links: Vec<LinkId> = Vec::with_capacity(up.len() + down.len());
                for &link in up.iter().chain(down) {
                    if !links.contains(&link) {
                        links.push(link);
                    }
                }
                Ok(Some(Way { gateways: None, links }))
            }
            Routing::Shaped(shaped) => Ok(Some(Way { gateways: None, links: shaped.links(zone, from, to) })),
            Routing::Other(word) => {
                let what = format!(
                    "the zone `{}` is \"{}\", which is not understood",
                    self.name_of(zone),
                    shorten(word)
                );
                let remedy = "write the routes with routing=\"Full\", or use hosts of other zones";
                Err(self.source.error(self.zones[zone].line, what, remedy))
            }
        }
    }

    /// The way with the fewest links over the ways of a zone.
    fn shortest(
        &self,
        ways: &FxHashMap<(usize, usize), Way>,
        next: &FxHashMap<usize, Vec<usize>>,
        from: usize,
        to: usize,
        depth: u32,
    ) -> Found {
        let mut reached: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        let mut queue = BinaryHeap::from([Reverse((0, from))]);
        while let Some(Reverse((cost, at))) = queue.pop() {
            if at == to {
                break;
            }
            for &other in next.get(&at).into_iter().flatten() {
                let all = cost + ways[&(at, other)].links.len();
                if other != from && reached.get(&other).is_none_or(|&(known, _)| all < known) {
                    reached.insert(other, (all, at));
                    queue.push(Reverse((all, other)));
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = to;
        while at != from {
            let Some(&(_, before)) = reached.get(&at) else { return Ok(None) };
            steps.push(&ways[&(before, at)]);
            at = before;
        }
        let mut all = Way::default();
        for step in steps.into_iter().rev() {
            if let (Some((_, last)), Some((first, _))) = (all.gateways, step.gateways)
                && !self.add_way_between(last, first, depth + 1, &mut all.links)?
            {
                return Ok(None);
            }
            all.links.extend(&step.links);
            all.gateways =
                step.gateways.map(|(first, last)| (all.gateways.map_or(first, |known| known.0), last));
        }
        Ok(Some(all))
    }
}

impl Shaped {
    /// The links between two hosts of a torus or fat tree; its router is beside all of them.
    fn links(&self, zone: usize, from: usize, to: usize) -> Vec<LinkId> {
        let (Some(&from), Some(&to)) = (self.places.get(&from), self.places.get(&to)) else {
            return Vec::new();
        };
        let mut links = Vec::new();
        let mut node = from;
        let limiter = |node: u32| self.limiter.map(|_| LinkId::Limiter(zone, node));
        for (inner, is_up) in shape::steps(&self.shape, from, to) {
            links.extend(limiter(node));
            links.push(LinkId::Inner(zone, inner, is_up || !self.is_split));
            if matches!(self.shape, Shape::Grid { .. }) {
                let [(_, earlier), (_, later)] = shape::ends(&self.shape, inner);
                node = if is_up { later } else { earlier };
            }
        }
        links.extend(limiter(to));
        links
    }
}
