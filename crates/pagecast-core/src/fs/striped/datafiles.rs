//! Names the datafiles of a striped file, and says which server has which.
//!
//! Source: `src/client/sysint/sys-create.sm`, OrangeFS 2.9: a file is an object of the metadata server, with a datafile on each server of its
//! layout. PVFS2 draws the first server. Ours: the bytes of the path choose it, so that files `f0`, `f1`, ... begin at one server after the other
//! whatever the order in which they are made.

use std::sync::Arc;

use super::layout::Stripes;
use crate::machine::{Host, Layout, MountSource, Striped};
use crate::policy::FileId;

/// The directory of a mount where a server keeps what belongs to a striped file.
const KEPT: &str = ".striped";

/// A file in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Striping {
    pub layout: Layout,
    pub stripes: Stripes,
    /// The host and the mount through which it was named first.
    pub through: (usize, usize),
    /// Its datafiles.
    pub parts: Vec<FileId>,
    /// The server of each, among those of the mount.
    pub servers: Vec<u32>,
}

impl Striping {
    /// The striping of the file that its server of metadata keeps at a path, without its datafiles.
    pub(crate) fn new(layout: Layout, striped: &Striped, through: (usize, usize), path: &str) -> Self {
        let all = striped.servers.len() as u32;
        let first = path.bytes().fold(0_u32, |sum, byte| sum.wrapping_add(byte.into())) % all;
        let count = layout.stripe_count.map_or(all, |count| count.min(all));
        Self {
            layout,
            stripes: Stripes::new(layout.strip_size, count),
            through,
            parts: Vec::new(),
            servers: (0..count).map(|part| (first + part) % all).collect(),
        }
    }
}

/// The servers of a mount, if it is striped.
pub(crate) fn striped(hosts: &[Host], (host, mount): (usize, usize)) -> Option<&Striped> {
    match &hosts[host].mounts[mount].source {
        MountSource::Striped(striped) => Some(striped),
        _ => None,
    }
}

/// Where a server keeps what belongs to a path below a striped mount.
pub(crate) fn kept_at(server_mount: &str, path: &str, mount: &str) -> Arc<str> {
    let below = path.strip_prefix(mount.trim_end_matches('/')).unwrap_or(path);
    format!("{}/{KEPT}{below}", server_mount.trim_end_matches('/')).into()
}
