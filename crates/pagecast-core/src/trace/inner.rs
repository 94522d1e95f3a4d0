//! Holds a recording for its cursors.

use std::sync::atomic::AtomicUsize;

use super::decode::Names;
use super::header::Header;
use super::store::Store;
use super::tables::Tables;

/// The bytes that buffers of cursors have beyond their first ones.
#[derive(Debug, Default)]
pub struct Lent(pub AtomicUsize);

/// A recording that can be read at any place.
#[derive(Debug)]
pub struct Inner {
    /// Its bytes.
    pub store: Store,
    /// The header.
    pub header: Header,
    /// The tables.
    pub tables: Tables,
    /// The buffers of its cursors.
    pub lent: Lent,
}

impl Inner {
    /// The names of the recording.
    pub fn names(&self) -> Names<'_> {
        Names { paths: &self.tables.paths, events: &self.tables.events }
    }
}
