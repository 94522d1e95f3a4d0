//! Describes a net as it is drawn: pages with places, transitions and arcs, and declarations, all inscriptions as text.

/// A net.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Net {
    /// Name of the file or of the net, for messages.
    pub name: String,
    /// Declarations, in their order.
    pub declarations: Vec<DeclarationText>,
    /// Pages.
    pub pages: Vec<Page>,
    /// Numbers of the pages that stand at the top, once for each instance.
    pub primes: Vec<usize>,
    /// Names of the instances of `primes`, in their order, where the file has them.
    pub instances: Vec<Instance>,
    /// Monitors.
    pub monitors: Vec<MonitorText>,
}

/// The name of an instance of a page in the file, with those of the pages inside of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    /// Identity in the file.
    pub id: String,
    /// Identity of the substitution transition; empty at the top.
    pub transition: String,
    /// Instances of the pages that stand for its transitions.
    pub inner: Vec<Instance>,
}

/// A declaration as text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DeclarationText {
    /// Identity in the file.
    pub id: String,
    /// The declaration.
    pub text: String,
}

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Identity in the file.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its places.
    pub places: Vec<Place>,
    /// Its transitions, also substitution transitions.
    pub transitions: Vec<Transition>,
    /// Its arcs.
    pub arcs: Vec<Arc>,
}

/// Where something is drawn, in the units of CPN Tools: x to the right, y up, from the centre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Identity in the file.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Name of its colour set as it is written.
    pub colset: String,
    /// Initial marking.
    pub initial: String,
    /// Kind of port, if it is one.
    pub port: Option<Port>,
    /// Fusion set, if it is in one.
    pub fusion: Option<String>,
    /// Where it is drawn.
    pub shape: Shape,
}

/// The kinds of ports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Port {
    /// Input.
    In,
    /// Output.
    Out,
    /// Both.
    InOut,
}

/// A transition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transition {
    /// Identity in the file.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Guard.
    pub guard: String,
    /// Delay: `@+ ...`.
    pub delay: String,
    /// Code segment.
    pub code: String,
    /// Priority.
    pub priority: String,
    /// Synchronous channel, which is refused.
    pub channel: String,
    /// The page that stands for it, if it is a substitution transition.
    pub substitution: Option<Substitution>,
    /// Where it is drawn.
    pub shape: Shape,
}

/// The page that a substitution transition stands for, and its sockets.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Substitution {
    /// Identity of the page.
    pub page: String,
    /// Identities of each port and its socket.
    pub sockets: Vec<(String, String)>,
}

/// The kinds of arcs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ArcKind {
    /// From a place to a transition.
    Input,
    /// From a transition to a place.
    Output,
    /// Both, with one inscription.
    Both,
    /// The place has to be empty.
    Inhibitor,
    /// The place becomes empty.
    Reset,
}

/// An arc.
#[derive(Clone, Debug, PartialEq)]
pub struct Arc {
    /// Identity in the file.
    pub id: String,
    /// Its kind.
    pub kind: ArcKind,
    /// Number of the place on the page.
    pub place: usize,
    /// Number of the transition on the page.
    pub transition: usize,
    /// Inscription.
    pub inscription: String,
    /// Points between the ends, from the transition to the place.
    pub bends: Vec<(f64, f64)>,
    /// Where the inscription is drawn.
    pub label: Option<(f64, f64)>,
}

/// The numbers of the kinds of monitors in a file of CPN Tools.
#[allow(missing_docs, reason = "the names are those of the kinds")]
pub mod monitor_number {
    pub const MARKING_SIZE: u32 = 0;
    pub const BREAKPOINT: u32 = 1;
    pub const USER: u32 = 2;
    pub const DATA: u32 = 3;
    pub const WRITE: u32 = 4;
    pub const LIST_LENGTH: u32 = 5;
    pub const COUNT: u32 = 6;
    pub const CONTENTS: u32 = 7;
    pub const ENABLED: u32 = 8;
}

/// The kinds of monitors: their numbers and names in a file of CPN Tools.
pub const MONITOR_KINDS: [(u32, &str); 9] = [
    (monitor_number::MARKING_SIZE, "Marking size"),
    (monitor_number::BREAKPOINT, "Breakpoint"),
    (monitor_number::USER, "User defined"),
    (monitor_number::DATA, "Data collection"),
    (monitor_number::WRITE, "Write in file"),
    (monitor_number::LIST_LENGTH, "List length data collection"),
    (monitor_number::COUNT, "Count transition occurence data collector"),
    (monitor_number::CONTENTS, "Place content break point"),
    (monitor_number::ENABLED, "Transition enabled break point"),
];

/// A monitor as it is in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitorText {
    /// Its name.
    pub name: String,
    /// Its kind: the number of CPN Tools.
    pub kind: u32,
    /// Identities of the nodes that it watches, with those of their page instances.
    pub nodes: Vec<(String, String)>,
    /// Functions by name, in small letters: `predicate`, `observer`, `init function`, `stop`, `action`.
    pub functions: Vec<(String, String)>,
    /// True if it is switched off.
    pub is_disabled: bool,
    /// Options by name, in small letters: `timed`, `logging`.
    pub options: Vec<(String, String)>,
}

impl Place {
    /// The name of its colour set: `UNIT` where none is written.
    pub fn colset_name(&self) -> &str {
        match self.colset.trim() {
            "" => "UNIT",
            name => name,
        }
    }
}

impl MonitorText {
    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }
}

impl Net {
    /// The page of an identity.
    pub fn page(&self, id: &str) -> Option<usize> {
        self.pages.iter().position(|page| page.id == id)
    }
}
