//! Counts what each client asks of each server of its striped mounts, and which server answers last.
//!
//! A call that several servers do ends with the last answer. The time from the answer before that is the time for which the call waited for the
//! last server alone. `payload_rows` makes a table of them.

use std::collections::BTreeMap;

use crate::result::Parts;
use crate::units::{Bytes, Nanos};

/// The payloads of a client that a server has answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    pub payloads: u64,
    pub bytes: Bytes,
    pub time: Nanos,
    pub last: u64,
    pub behind: Nanos,
    pub parts: Parts,
}

/// A payload that has been answered.
pub(super) struct Answered<'a> {
    /// The client's host, and the server's.
    pub ends: (u32, u32),
    pub bytes: Bytes,
    /// From sending it to its answer, and the parts of that.
    pub time: Nanos,
    pub parts: &'a Parts,
    /// If it is the last one of its call: how long after the one before.
    pub behind: Option<Nanos>,
}

/// The counts of all clients and servers; see the module.
#[derive(Debug, Default)]
pub(super) struct Stragglers {
    pub of: BTreeMap<(u32, u32), Done>,
}

impl Stragglers {
    /// A payload has been answered.
    pub(super) fn count(&mut self, answered: &Answered<'_>) {
        let done = self.of.entry(answered.ends).or_default();
        done.payloads += 1;
        done.bytes += answered.bytes;
        done.time += answered.time;
        done.parts.add_all(answered.parts);
        if let Some(behind) = answered.behind {
            done.last += 1;
            done.behind += behind;
        }
    }
}
