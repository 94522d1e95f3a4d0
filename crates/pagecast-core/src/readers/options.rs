//! Says how a workload is read and replayed.

use std::collections::BTreeMap;

use super::placement::Placement;
use crate::units::{Bytes, Nanos};

/// How a workload is read and replayed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where its files are on the machine.
    pub placement: Placement,
    /// Whether lines and options that are not understood are passed over, each kind with a note.
    pub lenient: bool,
    /// When the operations of a recording begin.
    pub pace: Pace,
    /// Whether they wait for each other.
    pub replay: Replay,
    /// The columns of a table without a known header: "time=0,op=3,offset=4,bytes=5".
    pub columns: Option<String>,
    /// What job files ask of the machine and of the shell.
    pub surroundings: Surroundings,
    /// How the tasks of a workflow are run.
    pub workflow: Workflow,
    /// How a recording of system calls is read.
    pub strace: Strace,
}

/// How a recording of system calls is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strace {
    /// What strace has added to each call, if that is known; it is estimated otherwise.
    pub overhead: Option<Nanos>,
    /// Whether files below /usr, /etc and other directories of the system are forecast, and not taken as cached.
    pub system_files: bool,
}

/// What a job file may ask of the machine and of the shell that it is given to.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// Memory of the host.
    pub memory: Bytes,
    /// Cores of the host.
    pub cores: u32,
    /// The size of the disk that the files of the workload go to, if it is known.
    pub room: Option<Bytes>,
    /// What fio itself takes for a request.
    pub fio_overhead: Nanos,
}

/// How the tasks of a workflow are run.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Which of the tasks that are ready get free cores first.
    pub order: ListOrder,
    /// How long they compute.
    pub compute: Compute,
    /// How many times as fast as the recorded cores those of the machine are, above 0.
    pub speed: f64,
    /// Whether a task runs on the machine that it was recorded on, if that is told, and not on the first with free cores.
    pub on_recorded_machines: bool,
}

impl Default for Workflow {
    fn default() -> Self {
        Self { order: ListOrder::Fifo, compute: Compute::Runtime, speed: 1.0, on_recorded_machines: true }
    }
}

/// Which of the tasks that are ready get free cores first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// Those that became ready first.
    Fifo,
    /// Those with the longest path to an exit task, in tasks.
    Depth,
    /// Those with the highest recorded priority.
    Priority,
}

impl ListOrder {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 3] = ["fifo", "depth", "priority"];
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fifo, Self::Depth, Self::Priority];

    /// What the scheduler does, for a note.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Fifo => "fifo: the task that became ready first gets free cores first",
            Self::Depth => "by depth: the task with the longest path to the end gets free cores first",
            Self::Priority => "by recorded priority: the task with the highest gets free cores first",
        }
    }
}

/// How long the tasks of a workflow compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compute {
    /// All of the recorded runtime.
    Runtime,
    /// The recorded use of processors during that.
    Cpu,
}

impl Compute {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 2] = ["runtime", "cpu"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Runtime, Self::Cpu];
}

/// When the operations of a recording begin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// The time between the end of an operation and the start of the next one of its process is as recorded.
    #[default]
    Recorded,
    /// It is left out.
    Fast,
    /// It is multiplied by this.
    Scaled(f64),
}

/// Whether the operations of a recording wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// An operation begins after the one before it of its process has ended.
    #[default]
    Closed,
    /// An operation begins at its recorded time, whether or not others are under way.
    Open,
}

impl Replay {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["closed", "open"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Closed, Self::Open];
}

impl Pace {
    /// Reads "recorded", "fast", or a factor such as "0.5".
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "recorded" => Some(Self::Recorded),
            "fast" => Some(Self::Fast),
            _ => {
                text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0).map(Self::Scaled)
            }
        }
    }

    /// The factor of recorded gaps.
    #[must_use]
    pub fn factor(self) -> f64 {
        match self {
            Self::Recorded => 1.0,
            Self::Fast => 0.0,
            Self::Scaled(factor) => factor,
        }
    }
}
