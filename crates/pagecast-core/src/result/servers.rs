//! Holds what servers of other hosts' files have done, and the calls of each mount of a client.

use crate::units::Nanos;

/// A number that changes over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    now: u64,
    since: Nanos,
    area: u128,
    /// The most that it has been.
    pub most: u64,
}

impl Depth {
    /// It is one more.
    pub(crate) fn rise(&mut self, now: Nanos) {
        self.bring_up_to(now);
        self.now += 1;
        self.most = self.most.max(self.now);
    }

    /// It is one less.
    pub(crate) fn fall(&mut self, now: Nanos) {
        self.bring_up_to(now);
        self.now -= 1;
    }

    /// Counts it up to a time.
    pub(crate) fn bring_up_to(&mut self, now: Nanos) {
        self.area += u128::from(self.now) * u128::from((now - self.since).0);
        self.since = now;
    }

    /// The sum of the times of each, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.area as f64 * 1e-9
    }
}

/// Calls that have been answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// All of them.
    pub count: u64,
    /// Bytes of READs and other reads.
    pub read: u64,
    /// Bytes of WRITEs and other writes.
    pub written: u64,
}

/// A server at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Its host.
    pub host: String,
    /// Its threads.
    pub threads: u32,
    /// The calls that they have answered.
    pub calls: Calls,
    /// Threads that do a call.
    pub busy: Depth,
    /// Calls that wait for a thread.
    pub waiting: Depth,
}

/// The calls of a client to a server of one of its mounts, at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    /// The client.
    pub host: String,
    /// The path of the mount.
    pub mount: String,
    /// The server.
    pub server: String,
    /// The most calls that may be on their way; `None` without a limit.
    pub slots: Option<u32>,
    /// Calls that have been answered.
    pub calls: Calls,
    /// Calls on their way or at the server.
    pub in_use: Depth,
}
