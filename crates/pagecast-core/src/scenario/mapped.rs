//! Reads the operations on mappings of files.

use std::sync::Arc;

use super::schema::{Key, Kind, OFFSET, PART, Schema, may, must};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::units::Bytes;
use crate::workload::{Action, MapAdvice, MappedCall};

const ADVICE: Key = may("advice", Kind::Word(&MapAdvice::NAMES), "Said with madvise(2); default \"normal\"");

pub const MMAP_READ: Schema = Schema {
    name: "mmap_read",
    keys: &[must("mmap_read", Kind::Path, "Reads a file through a mapping"), OFFSET, PART, ADVICE],
};

pub const MMAP_WRITE: Schema = Schema {
    name: "mmap_write",
    keys: &[
        must("mmap_write", Kind::Path, "Writes a file, which stays as long as it is, through a mapping"),
        OFFSET,
        PART,
        ADVICE,
    ],
};

pub const MSYNC: Schema = Schema {
    name: "msync",
    keys: &[
        must("msync", Kind::Path, "Writes dirty pages of a mapping"),
        OFFSET,
        PART,
        may("async", Kind::Flag, "MS_ASYNC, which does nothing, instead of MS_SYNC"),
    ],
};

/// The operation of a verb that is about a mapping.
pub fn action(verb: &str, path: Arc<str>, fields: &Fields<'_>) -> Result<Action, ScenarioError> {
    let offset = fields.get::<Bytes>("offset")?.map_or(0, |offset| offset.0);
    let bytes = fields.get("size")?;
    let advice = || Ok::<_, ScenarioError>(fields.word("advice", &MapAdvice::ALL)?.unwrap_or_default());
    let call = match verb {
        "mmap_read" => MappedCall::Read { offset, bytes, advice: advice()? },
        "mmap_write" => MappedCall::Write { offset, bytes, advice: advice()? },
        _ => MappedCall::Sync { offset, bytes, is_async: fields.get("async")?.unwrap_or(false) },
    };
    Ok(Action::Mapped { path, call })
}
