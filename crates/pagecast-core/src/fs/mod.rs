//! What lies between a system call and a device: names, sizes and places of files, and other hosts' files.

mod namespace;
pub(crate) mod nfs;

pub(crate) use namespace::{Located, Namespace};
