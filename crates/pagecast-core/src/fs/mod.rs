//! What lies between a system call and a device: names, sizes and places of files, what flags of calls ask, and other hosts' files.

mod namespace;
pub(crate) mod nfs;
mod span;

pub(crate) use namespace::{Located, Namespace, Paths};
pub(crate) use span::{Span, takes_dontcache};
