//! What the kernel keeps of each open file and mapping: `struct file_ra_state`, mapped pages.

use crate::policy::kernel::filemap::mapped::Mapping;
use crate::policy::kernel::filemap::readahead::Stream;
use crate::policy::kernel::task::shape::StreamKey;
use rustc_hash::FxHashMap;

/// The open files of all processes, and the mappings of each that stay.
#[derive(Default)]
pub struct Readers {
    pub streams: FxHashMap<StreamKey, Stream>,
    pub mappings: FxHashMap<StreamKey, Mapping>,
}
