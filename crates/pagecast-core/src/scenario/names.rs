//! Reads the operations on names and descriptors.

use std::sync::Arc;

use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::{Key, Kind, Schema, may, must};
use crate::units::Bytes;
use crate::workload::{Action, AllocateMode, Fd};

const ANY: Kind = Kind::Whole(0, i32::MAX as u32);

/// The descriptor of an operation.
pub const FD: Key = may("fd", ANY, "Descriptor that it goes through; default the file of this name");

pub const LSEEK: Schema = Schema {
    name: "lseek",
    keys: &[
        must("lseek", Kind::Path, "Sets the position of a descriptor"),
        must("fd", ANY, "The descriptor"),
        must("offset", Kind::SizeOrZero, "The position"),
    ],
};

pub const DUP: Schema = Schema {
    name: "dup",
    keys: &[
        must("dup", Kind::Path, "Gives an open file a second descriptor, which shares its position"),
        must("fd", ANY, "The descriptor"),
        must("to_fd", ANY, "The second one; it is closed before, if it is open"),
    ],
};

pub const RENAME: Schema = Schema {
    name: "rename",
    keys: &[
        must("rename", Kind::Path, "Renames a file, or a directory with all that is in it"),
        must("to", Kind::Path, "The new name, on the same mount; a file that has it loses it"),
    ],
};

pub const LINK: Schema = Schema {
    name: "link",
    keys: &[
        must("link", Kind::Path, "Gives a file a second name"),
        must("to", Kind::Path, "The second name, on the same mount"),
    ],
};

pub const MKDIR: Schema =
    Schema { name: "mkdir", keys: &[must("mkdir", Kind::Path, "Makes a directory; takes no time")] };

pub const RMDIR: Schema =
    Schema { name: "rmdir", keys: &[must("rmdir", Kind::Path, "Removes a directory; takes no time")] };

pub const STAT: Schema = Schema {
    name: "stat",
    keys: &[must("stat", Kind::Path, "Asks for the attributes of a file; takes no time"), FD],
};

pub const FALLOCATE: Schema = Schema {
    name: "fallocate",
    keys: &[
        must("fallocate", Kind::Path, "Takes room on the disk for a part of a file; takes no time"),
        must("size", Kind::Size, "How much"),
        may("offset", Kind::SizeOrZero, "First byte; default \"0 B\""),
        may(
            "mode",
            Kind::Word(&AllocateMode::NAMES),
            "\"extend\" (the default) makes the file longer if need be",
        ),
        FD,
    ],
};

/// The operation of a verb that is about names or descriptors; none if the verb is another one.
pub fn action(verb: &str, path: Arc<str>, fields: &Fields<'_>) -> Result<Option<Action>, ScenarioError> {
    let offset = || Ok::<_, ScenarioError>(fields.get::<Bytes>("offset")?.map_or(0, |offset| offset.0));
    // The new name is put in for each copy of the process and each round.
    let to = || Arc::clone(&path);
    Ok(Some(match verb {
        "lseek" => Action::Seek { offset: offset()?, path },
        "dup" => Action::Duplicate { to: Fd(fields.need("to_fd")?), path },
        "rename" => Action::Rename { to: to(), path },
        "link" => Action::Link { to: to(), path },
        "mkdir" => Action::Mkdir { path },
        "rmdir" => Action::Rmdir { path },
        "stat" => Action::Stat { path },
        "fallocate" => Action::Fallocate {
            mode: fields.word("mode", &AllocateMode::ALL)?.unwrap_or_default(),
            offset: offset()?,
            bytes: fields.need("size")?,
            path,
        },
        _ => return Ok(None),
    }))
}
