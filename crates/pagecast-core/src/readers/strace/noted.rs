//! Counts what is not forecast, for notes.

use std::collections::BTreeMap;

use super::files::Kind;
use crate::trace::Writer;

/// What is not forecast.
#[derive(Debug, Default)]
pub struct Noted {
    /// Bytes that were read and written elsewhere than in files of a disk, and the calls that did so.
    bytes: BTreeMap<(&'static str, &'static str), (u64, u64)>,
    /// How often something was met that cannot be followed.
    unknown: BTreeMap<&'static str, u64>,
}

impl Noted {
    /// Bytes were read or written elsewhere than in a file of a disk.
    pub fn moved_elsewhere(&mut self, kind: Kind, is_write: bool, bytes: u64) {
        let of = match kind {
            Kind::System => "files of system directories",
            Kind::Pipe => "pipes",
            Kind::File | Kind::Special => "sockets, terminals and /proc",
        };
        let direction = if is_write { "written to" } else { "read from" };
        let (sum, calls) = self.bytes.entry((of, direction)).or_default();
        *sum = sum.saturating_add(bytes);
        *calls += 1;
    }

    /// A read found the end of a file.
    pub fn read_at_end(&mut self) {
        let (_, calls) = self.bytes.entry(("the ends of files", "read from")).or_default();
        *calls += 1;
    }

    /// Something was met that cannot be followed; `what` is a noun in the plural.
    pub fn unknown(&mut self, what: &'static str) {
        *self.unknown.entry(what).or_default() += 1;
    }

    /// Says so.
    pub fn note(&mut self, origin: &str, trace: &mut Writer) {
        for ((of, direction), (bytes, calls)) in std::mem::take(&mut self.bytes) {
            let calls = format!("{calls} call{}", if calls == 1 { "" } else { "s" });
            trace.note(origin, format!("{bytes} B {direction} {of} ({calls}) take the recorded time"));
        }
        for (what, count) in std::mem::take(&mut self.unknown) {
            trace.note(origin, format!("not followed: {count} {what}"));
        }
    }
}
