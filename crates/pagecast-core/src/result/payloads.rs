//! Columns of what striped mounts asked of each server, and which server was waited for.

use crate::units::Nanos;

/// A row for each client and server of a striped mount. All columns have the same length.
#[derive(Clone, Debug, Default)]
pub struct PayloadTable {
    /// Name of the client's host.
    pub client: Vec<String>,
    /// Name of the server's host.
    pub server: Vec<String>,
    /// Parts of calls that the server has done.
    pub payloads: Vec<u64>,
    /// Bytes that they have read and written.
    pub bytes: Vec<u64>,
    /// From sending each of them to its answer, in all.
    pub time: Vec<Nanos>,
    /// Calls of several servers that this one answered last.
    pub last: Vec<u64>,
    /// How long those waited for it alone.
    pub behind: Vec<Nanos>,
    /// The part that took most of its payloads' time.
    pub part: Vec<&'static str>,
    /// The link between the two with a message on it for the longest time.
    pub link: Vec<String>,
}

impl PayloadTable {
    /// Adds the rows of another table.
    pub(crate) fn extend(&mut self, other: Self) {
        let Self { client, server, payloads, bytes, time, last, behind, part, link } = other;
        self.client.extend(client);
        self.server.extend(server);
        self.payloads.extend(payloads);
        self.bytes.extend(bytes);
        self.time.extend(time);
        self.last.extend(last);
        self.behind.extend(behind);
        self.part.extend(part);
        self.link.extend(link);
    }
}
