//! Counts what a direction of a link carries.

use crate::units::Nanos;

/// The use of a direction of a link so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    pub messages: u64,
    pub bytes: u64,
    /// Bytes of its bits.
    pub on_link: f64,
    /// The time for which something was on it, up to the last change.
    pub busy: Nanos,
    flows: u64,
    since: Nanos,
}

impl Used {
    /// A flow or a segment begins.
    pub(crate) fn enter(&mut self, now: Nanos) {
        self.change_flows(now, 1);
    }

    /// It ends, with so many messages, bytes of them and of the link.
    pub(crate) fn leave(&mut self, now: Nanos, messages: u64, bytes: u64, on_link: f64) {
        self.change_flows(now, -1);
        self.messages += messages;
        self.bytes += bytes;
        self.on_link += on_link;
    }

    /// Adds what others have carried, apart from these.
    pub(crate) fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.on_link += other.on_link;
        self.busy += other.busy;
    }

    fn change_flows(&mut self, now: Nanos, by: i64) {
        if self.flows > 0 {
            self.busy += now - self.since;
        }
        self.since = now;
        self.flows = self.flows.saturating_add_signed(by);
    }
}
