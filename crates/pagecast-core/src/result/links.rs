//! Holds the messages and bytes of each direction of each link.

use crate::units::Nanos;

/// Columns of the links, a row for each direction that carried something. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct LinkTable {
    /// Its name; "nic" for the network interface of a host, "network" for a link of a network of one shape.
    pub link: Vec<String>,
    /// The end from which it carries; one of both where both directions share the rate.
    pub from: Vec<String>,
    /// The other end.
    pub to: Vec<String>,
    /// Bytes that it can carry in a second, with headers.
    pub rate: Vec<f64>,
    /// Messages that it has carried.
    pub messages: Vec<u64>,
    /// Their bytes.
    pub bytes: Vec<u64>,
    /// The same with headers.
    pub on_link: Vec<u64>,
    /// The time for which it had one to carry.
    pub busy: Vec<Nanos>,
}

impl LinkTable {
    /// Adds the rows of another table.
    pub(crate) fn extend(&mut self, other: Self) {
        let Self { link, from, to, rate, messages, bytes, on_link, busy } = other;
        self.link.extend(link);
        self.from.extend(from);
        self.to.extend(to);
        self.rate.extend(rate);
        self.messages.extend(messages);
        self.bytes.extend(bytes);
        self.on_link.extend(on_link);
        self.busy.extend(busy);
    }
}
