//! Resolves the file side of a system call: names, sizes and places of files, rules of flags, and other hosts' files.

mod names;
mod namespace;
pub(crate) mod nfs;
mod span;
pub(crate) mod striped;

pub(crate) use names::NameId;
pub(crate) use namespace::{Located, Namespace, Paths, Release};
pub(crate) use span::{Span, takes_dontcache};
