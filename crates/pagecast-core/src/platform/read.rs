//! Reads the elements of a platform file: first all hosts, routers, links and zones, then the routes that name them.

use rustc_hash::FxHashMap;

use super::cluster::{Cabinet, read_cluster};
use super::quantities;
use super::xml::{Element, Source};
use super::{LinkId, Named, Platform, Point, PointKind, Routing, Spoke, Way, Zone, one_way};
use crate::error::ScenarioError;
use crate::machine::{LinkParameters, LinkSharing};
use crate::nearest::{hint, shorten};
use crate::units::{BytesPerSecond, Nanos};

/// Reads a whole file.
pub(super) fn read(bytes: &[u8], source: Source) -> Result<Platform, ScenarioError> {
    let root = source.parse(bytes)?;
    if root.name != "platform" {
        let what = format!("<{}> is no platform of SimGrid", shorten(&root.name));
        return Err(source.blame(&root, what, "name a file that starts with <platform version=\"4.1\">"));
    }
    check_version(&source, &root)?;
    let mut reader = Reader {
        platform: Platform {
            source,
            zones: Vec::new(),
            points: Vec::new(),
            point_by_name: FxHashMap::default(),
            links: Vec::new(),
            link_by_name: FxHashMap::default(),
        },
        routes: Vec::new(),
    };
    for child in &root.children {
        reader.check(child)?;
        match &*child.name {
            "zone" | "AS" | "cluster" if !reader.platform.zones.is_empty() => {
                let what = "there is a second zone at the top";
                return Err(reader.blame(child, what, "put both into one <zone>"));
            }
            "zone" | "AS" => reader.zone(child, None)?,
            "cluster" => read_cluster(&mut reader, child, None)?,
            "config" | "actor" | "process" => {}
            _ => return Err(reader.not_here(child, &root)),
        }
    }
    for (zone, element) in std::mem::take(&mut reader.routes) {
        reader.route(zone, element)?;
    }
    Ok(reader.platform)
}

fn check_version(source: &Source, root: &Element) -> Result<(), ScenarioError> {
    let version = source.need(root, "version")?;
    match version.parse::<f64>() {
        Ok(number) if (4.0..5.0).contains(&number) => Ok(()),
        _ => {
            let what = format!("the platform has version \"{}\", but must have 4 or 4.1", shorten(version));
            Err(source.blame(root, what, "update it with simgrid_update_xml"))
        }
    }
}

/// The attributes of each element, as in `simgrid.dtd`.
const ELEMENTS: [(&str, &[&str]); 27] = [
    ("zone", &["id", "routing"]),
    ("AS", &["id", "routing"]),
    (
        "host",
        &["id", "speed", "core", "speed_file", "availability_file", "state_file", "coordinates", "pstate"],
    ),
    ("disk", &["id", "read_bw", "write_bw"]),
    ("prop", &["id", "value"]),
    ("host_link", &["id", "up", "down"]),
    (
        "cluster",
        &[
            "id",
            "prefix",
            "suffix",
            "radical",
            "speed",
            "core",
            "bw",
            "lat",
            "sharing_policy",
            "topology",
            "topo_parameters",
            "bb_bw",
            "bb_lat",
            "bb_sharing_policy",
            "router_id",
            "limiter_link",
            "loopback_bw",
            "loopback_lat",
        ],
    ),
    ("cabinet", &["id", "prefix", "suffix", "radical", "speed", "bw", "lat"]),
    (
        "peer",
        &[
            "id",
            "speed",
            "bw_in",
            "bw_out",
            "lat",
            "coordinates",
            "speed_file",
            "availability_file",
            "state_file",
        ],
    ),
    ("router", &["id", "coordinates"]),
    ("backbone", &["id", "bandwidth", "latency"]),
    (
        "link",
        &["id", "bandwidth", "bandwidth_file", "latency", "latency_file", "state_file", "sharing_policy"],
    ),
    ("route", &["src", "dst", "symmetrical"]),
    ("zoneRoute", &["src", "dst", "gw_src", "gw_dst", "symmetrical"]),
    ("ASroute", &["src", "dst", "gw_src", "gw_dst", "symmetrical"]),
    ("bypassRoute", &["src", "dst"]),
    ("bypassZoneRoute", &["src", "dst", "gw_src", "gw_dst"]),
    ("bypassASroute", &["src", "dst", "gw_src", "gw_dst"]),
    ("link_ctn", &["id", "direction"]),
    ("config", &["id"]),
    ("actor", &["host", "function", "start_time", "kill_time", "on_failure"]),
    ("process", &["host", "function", "start_time", "kill_time", "on_failure"]),
    ("argument", &["value"]),
    ("trace", &["id", "file", "periodicity"]),
    ("trace_connect", &["kind", "trace", "element"]),
    ("platform", &["version"]),
    ("mount", &["storageId", "name"]),
];

/// Attributes that make a link or a host change while the simulation runs.
const PROFILES: [&str; 3] = ["bandwidth_file", "latency_file", "state_file"];

pub(super) struct Reader<'a> {
    pub platform: Platform,
    /// Routes and the zones that they are in, for when all that they name is known.
    routes: Vec<(usize, &'a Element)>,
}

impl<'a> Reader<'a> {
    pub fn blame(
        &self,
        element: &Element,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ScenarioError {
        self.platform.source.blame(element, what, remedy)
    }

    pub fn need<'b>(&self, element: &'b Element, name: &str) -> Result<&'b str, ScenarioError> {
        self.platform.source.need(element, name)
    }

    /// Refuses an element or attribute that is not known, and what changes over time.
    fn check(&self, element: &Element) -> Result<(), ScenarioError> {
        let Some((_, attributes)) = ELEMENTS.iter().find(|(name, _)| *name == element.name) else {
            let what = format!("<{}> is not understood", shorten(&element.name));
            let remedy = hint(&element.name, ELEMENTS.iter().map(|(name, _)| *name), "elements");
            return Err(self.blame(element, what, remedy));
        };
        self.platform.source.check_attributes(element, attributes)?;
        if let Some(profile) = PROFILES.iter().find(|profile| element.get(profile).is_some()) {
            let what = format!("`{profile}` changes <{}> over time, which is not simulated", element.name);
            return Err(self.blame(element, what, "remove it"));
        }
        Ok(())
    }

    fn not_here(&self, child: &Element, parent: &Element) -> ScenarioError {
        self.blame(child, format!("<{}> inside <{}> is not understood", child.name, parent.name), "remove it")
    }

    /// Makes a zone known, without what is in it.
    pub fn add_zone(
        &mut self,
        element: &Element,
        parent: Option<usize>,
        routing: Routing,
    ) -> Result<usize, ScenarioError> {
        let zone = self.platform.zones.len();
        let point = self.add_point(element, self.need(element, "id")?, PointKind::Zone(zone), parent)?;
        let bypasses = FxHashMap::default();
        self.platform.zones.push(Zone { line: element.line, parent, point, routing, bypasses });
        Ok(zone)
    }

    pub fn add_point(
        &mut self,
        element: &Element,
        name: &str,
        kind: PointKind,
        zone: Option<usize>,
    ) -> Result<usize, ScenarioError> {
        let point = self.platform.points.len();
        if self.platform.point_by_name.insert(name.to_owned(), point).is_some() {
            let what = format!("the name `{}` is there twice", shorten(name));
            return Err(self.blame(element, what, "give each host, router and zone its own"));
        }
        self.platform.points.push(Point { name: name.to_owned(), kind, zone });
        Ok(point)
    }

    /// Makes a link known; a split-duplex one is two links, which end in `_UP` and `_DOWN`.
    pub fn add_link(
        &mut self,
        element: &Element,
        name: &str,
        parameters: LinkParameters,
    ) -> Result<Named, ScenarioError> {
        let is_split = parameters.sharing == LinkSharing::SplitDuplex;
        let mut one = |name: String| -> Result<usize, ScenarioError> {
            let at = self.platform.links.len();
            if self.platform.link_by_name.insert(name.clone(), Named::One(at)).is_some() {
                let what = format!("the link `{}` is there twice", shorten(&name));
                return Err(self.platform.source.blame(element, what, "give one another name"));
            }
            self.platform.links.push((name, one_way(parameters)));
            Ok(at)
        };
        if !is_split {
            return Ok(Named::One(one(name.to_owned())?));
        }
        let named = Named::Split { up: one(format!("{name}_UP"))?, down: one(format!("{name}_DOWN"))? };
        self.platform.link_by_name.insert(name.to_owned(), named);
        Ok(named)
    }

    pub fn bandwidth(&self, element: &Element, key: &str) -> Result<BytesPerSecond, ScenarioError> {
        let text = self.need(element, key)?;
        quantities::bandwidth(text).ok_or_else(|| {
            let what = format!("`{key}` is \"{}\", which is no bandwidth", shorten(text));
            self.blame(element, what, format!("write for example {key}=\"125MBps\""))
        })
    }

    pub fn latency(&self, element: &Element, key: &str) -> Result<Nanos, ScenarioError> {
        let Some(text) = element.get(key) else { return Ok(Nanos::ZERO) };
        quantities::latency(text).ok_or_else(|| {
            let what = format!("`{key}` is \"{}\", which is no time", shorten(text));
            self.blame(element, what, format!("write for example {key}=\"50us\""))
        })
    }

    pub fn sharing(
        &self,
        element: &Element,
        key: &str,
        otherwise: LinkSharing,
    ) -> Result<LinkSharing, ScenarioError> {
        Ok(match element.get(key) {
            None => otherwise,
            Some("SHARED") => LinkSharing::Shared,
            Some("SPLITDUPLEX" | "FULLDUPLEX") => LinkSharing::SplitDuplex,
            Some("FATPIPE") => LinkSharing::Fatpipe,
            Some(other) => {
                let what = format!("`{key}` \"{}\" is not understood", shorten(other));
                return Err(self.blame(element, what, "write SHARED, SPLITDUPLEX or FATPIPE"));
            }
        })
    }

    fn zone(&mut self, element: &'a Element, parent: Option<usize>) -> Result<(), ScenarioError> {
        let routing = match self.need(element, "routing")? {
            "Full" => Routing::Full(FxHashMap::default()),
            "Floyd" | "Dijkstra" | "DijkstraCache" => {
                Routing::Shortest { ways: FxHashMap::default(), next: FxHashMap::default() }
            }
            "Cluster" => Routing::Star(FxHashMap::default()),
            "None" => Routing::None,
            other => Routing::Other(other.to_owned()),
        };
        let zone = self.add_zone(element, parent, routing)?;
        let mut backbone = None;
        for child in &element.children {
            self.check(child)?;
            match &*child.name {
                "zone" | "AS" => self.zone(child, Some(zone))?,
                "cluster" => read_cluster(self, child, Some(zone))?,
                "host" | "peer" => {
                    child.children.iter().try_for_each(|inner| self.check(inner))?;
                    self.add_point(child, self.need(child, "id")?, PointKind::Host, Some(zone))?;
                }
                "router" => {
                    self.add_point(child, self.need(child, "id")?, PointKind::Router, Some(zone))?;
                }
                "link" => {
                    let sharing = self.sharing(child, "sharing_policy", LinkSharing::Shared)?;
                    self.link(child, sharing)?;
                }
                "backbone" => {
                    let Named::One(link) = self.link(child, LinkSharing::Shared)? else {
                        unreachable!("it is no split-duplex link")
                    };
                    backbone = Some(LinkId::Listed(link));
                }
                "host_link" | "cabinet" | "prop" => {}
                "route" | "zoneRoute" | "ASroute" | "bypassRoute" | "bypassZoneRoute" | "bypassASroute" => {
                    self.routes.push((zone, child));
                }
                "trace" | "trace_connect" => {
                    let what = format!("<{}> changes hosts and links over time", child.name);
                    return Err(self.blame(child, what, "remove it"));
                }
                _ => return Err(self.not_here(child, element)),
            }
        }
        // The backbone may stand behind what it connects.
        for child in &element.children {
            match &*child.name {
                "host_link" => {
                    let host = self.point(child, "id", zone)?;
                    let up = self.link_of_name(child, "up")?;
                    let down = self.link_of_name(child, "down")?;
                    self.add_spoke(child, zone, host, spoke([up, down], backbone))?;
                }
                "cabinet" => {
                    for Cabinet { host, up, down } in Cabinet::read(self, child, zone)? {
                        self.add_spoke(child, zone, host, spoke([up, down], backbone))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn link(&mut self, element: &Element, sharing: LinkSharing) -> Result<Named, ScenarioError> {
        let (rate, latency) = (self.bandwidth(element, "bandwidth")?, self.latency(element, "latency")?);
        let parameters = LinkParameters { sharing, ..LinkParameters::of_rate(rate, latency) };
        self.add_link(element, self.need(element, "id")?, parameters)
    }

    /// The links between a host and the centre of its star.
    pub fn add_spoke(
        &mut self,
        element: &Element,
        zone: usize,
        host: usize,
        spoke: Spoke,
    ) -> Result<(), ScenarioError> {
        let Routing::Star(spokes) = &mut self.platform.zones[zone].routing else {
            let what = format!("<{}> is in a zone without routing=\"Cluster\"", element.name);
            return Err(self.blame(element, what, "change `routing`, or write a <route>"));
        };
        spokes.insert(host, spoke);
        Ok(())
    }

    /// A point that an attribute names, which is in a zone.
    fn point(&self, element: &Element, key: &str, zone: usize) -> Result<usize, ScenarioError> {
        let point = self.any_point(element, key)?;
        if self.platform.points[point].zone == Some(zone) {
            return Ok(point);
        }
        let zone = &self.platform.points[self.platform.zones[zone].point].name;
        let what = format!(
            "`{}` is not directly in the zone `{}`",
            shorten(&self.platform.points[point].name),
            shorten(zone)
        );
        Err(self.blame(element, what, format!("name in `{key}` what is directly in it")))
    }

    fn any_point(&self, element: &Element, key: &str) -> Result<usize, ScenarioError> {
        let name = self.need(element, key)?;
        self.platform.point_by_name.get(name).copied().ok_or_else(|| {
            let known = self.platform.points.iter().map(|point| point.name.as_str());
            let what = format!("there is no host, router or zone `{}`", shorten(name));
            self.blame(element, what, hint(name, known, "known names"))
        })
    }

    fn named_link(&self, element: &Element, key: &str) -> Result<Named, ScenarioError> {
        let name = self.need(element, key)?;
        self.platform.link_by_name.get(name).copied().ok_or_else(|| {
            let known = self.platform.link_by_name.keys().map(String::as_str);
            let mut known: Vec<_> = known.collect();
            known.sort_unstable();
            let what = format!("there is no link `{}`", shorten(name));
            self.blame(element, what, hint(name, known, "links"))
        })
    }

    fn link_of_name(&self, element: &Element, key: &str) -> Result<LinkId, ScenarioError> {
        match self.named_link(element, key)? {
            Named::One(link) => Ok(LinkId::Listed(link)),
            Named::Split { .. } => {
                let what = format!("`{key}` names a split-duplex link");
                Err(self.blame(element, what, "name one direction: put _UP or _DOWN behind it"))
            }
        }
    }

    fn route(&mut self, zone: usize, element: &Element) -> Result<(), ScenarioError> {
        let [from, to] = [self.point(element, "src", zone), self.point(element, "dst", zone)];
        let is_bypass = element.name.starts_with("bypass");
        let with_gateways = element.name != "route" && element.name != "bypassRoute";
        // The zones of a bypass may be deeper.
        let (from, to) = match is_bypass && with_gateways {
            true => (self.any_point(element, "src")?, self.any_point(element, "dst")?),
            false => (from?, to?),
        };
        for (point, key) in [(from, "src"), (to, "dst")] {
            let is_zone = matches!(self.platform.points[point].kind, PointKind::Zone(_));
            if is_zone != with_gateways {
                let (found, wanted) = if is_zone { ("a zone", "zoneRoute") } else { ("no zone", "route") };
                let what = format!("`{key}` of <{}> is {found}", element.name);
                return Err(self.blame(element, what, format!("write <{wanted}>")));
            }
        }
        let gateways = match with_gateways {
            true => Some((self.gateway(element, "gw_src", from)?, self.gateway(element, "gw_dst", to)?)),
            false => None,
        };
        let (links, back) = self.links_of(element)?;
        if is_bypass {
            self.platform.zones[zone].bypasses.insert((from, to), Way { gateways, links });
            return Ok(());
        }
        self.add_way(zone, element, (from, to), Way { gateways, links })?;
        let is_symmetrical = !matches!(element.get("symmetrical"), Some("NO" | "no"));
        if is_symmetrical && from != to {
            let gateways = gateways.map(|(one, other)| (other, one));
            self.add_way(zone, element, (to, from), Way { gateways, links: back })?;
        }
        Ok(())
    }

    /// A host or router in a zone.
    fn gateway(&self, element: &Element, key: &str, of: usize) -> Result<usize, ScenarioError> {
        let gateway = self.any_point(element, key)?;
        let point = &self.platform.points[gateway];
        let PointKind::Zone(zone) = self.platform.points[of].kind else {
            unreachable!("routes with gateways are between zones")
        };
        let is_inside = self.platform.zones_of(gateway).contains(&zone);
        if !is_inside || matches!(point.kind, PointKind::Zone(_)) {
            let what = format!(
                "`{key}` is `{}`, which is no host or router in `{}`",
                shorten(&point.name),
                shorten(&self.platform.points[of].name)
            );
            return Err(self.blame(element, what, "name one of those"));
        }
        Ok(gateway)
    }

    /// The links of a route, and those back.
    fn links_of(&self, element: &Element) -> Result<(Vec<LinkId>, Vec<LinkId>), ScenarioError> {
        let (mut links, mut back) = (Vec::new(), Vec::new());
        for child in &element.children {
            self.check(child)?;
            if child.name != "link_ctn" {
                return Err(self.not_here(child, element));
            }
            let (there, return_) = match (self.named_link(child, "id")?, child.get("direction")) {
                (_, Some(other)) if !["UP", "DOWN", "NONE"].contains(&other) => {
                    let what = format!("`direction` is \"{}\"", shorten(other));
                    return Err(self.blame(child, what, "write UP, DOWN or NONE"));
                }
                (Named::One(link), _) => (link, link),
                (Named::Split { up, down }, Some("UP")) => (up, down),
                (Named::Split { up, down }, Some("DOWN")) => (down, up),
                (Named::Split { .. }, _) => {
                    let what = format!("`{}` is a split-duplex link", shorten(self.need(child, "id")?));
                    return Err(self.blame(child, what, "add direction=\"UP\" or \"DOWN\""));
                }
            };
            links.push(LinkId::Listed(there));
            back.push(LinkId::Listed(return_));
        }
        if links.is_empty() {
            return Err(self.blame(
                element,
                format!("<{}> has no links", element.name),
                "add <link_ctn id=\"...\"/>",
            ));
        }
        back.reverse();
        Ok((links, back))
    }

    fn add_way(
        &mut self,
        zone: usize,
        element: &Element,
        ends: (usize, usize),
        way: Way,
    ) -> Result<(), ScenarioError> {
        let known = match &mut self.platform.zones[zone].routing {
            Routing::Full(ways) => ways.insert(ends, way),
            Routing::Shortest { ways, next } => {
                next.entry(ends.0).or_default().push(ends.1);
                ways.insert(ends, way)
            }
            Routing::Other(_) => None,
            Routing::None | Routing::Star(_) | Routing::Shaped(_) => {
                let what = format!("<{}> is in a zone that has no routes of its own", element.name);
                return Err(self.blame(element, what, "write routing=\"Full\", or remove it"));
            }
        };
        if known.is_some() {
            let [from, to] = [ends.0, ends.1].map(|point| shorten(&self.platform.points[point].name));
            let what = format!("there are two routes from `{from}` to `{to}`");
            return Err(self.blame(element, what, "remove one; routes are symmetrical unless they say NO"));
        }
        Ok(())
    }
}

/// The way to the centre and back over two links, and over the backbone.
fn spoke([up, down]: [LinkId; 2], backbone: Option<LinkId>) -> Spoke {
    Spoke {
        up: [up].into_iter().chain(backbone).collect(),
        down: backbone.into_iter().chain([down]).collect(),
    }
}
