//! Divides files of a striped mount into datafiles, which the servers of the mount keep.

mod datafiles;
mod layout;

pub(crate) use datafiles::{Striping, kept_at, striped};
pub(crate) use layout::Payload;
