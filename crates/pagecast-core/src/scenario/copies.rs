//! Reads copies from file to file, which have two paths.

use std::sync::Arc;

use super::braces::{Pattern, Scope};
use super::part::{OFFSET, PART};
use super::program::text_of;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::{Kind, Schema, may, must};
use crate::workload::{Action, CopyBy};

pub const COPY: Schema = Schema {
    name: "copy",
    keys: &[
        must("copy", Kind::Path, "Copies a file, or a part of it, to the same place in another one"),
        must("to", Kind::Path, "The other one; it is made if it is not there"),
        must("by", Kind::Word(&CopyBy::NAMES), "With which system calls"),
        OFFSET,
        PART,
        may("call", Kind::Size, "Bytes of one call; default all at once, of \"read_write\" \"256 KiB\""),
    ],
};

/// A copy from a path; the other one is put in for each copy of the process and each round.
pub fn action(path: Arc<str>, fields: &Fields<'_>) -> Result<Action, ScenarioError> {
    let offset = fields.get::<crate::units::Bytes>("offset")?.map_or(0, |offset| offset.0);
    let by = fields.word("by", &CopyBy::ALL)?.expect("the schema requires it");
    let to = fields.need::<String>("to")?.into();
    Ok(Action::Copy { path, to, by, offset, bytes: fields.get("size")?, call: fields.get("call")? })
}

/// The other path of a copy, or the new name of a file, if it has one; `source` is the first one.
pub fn target_of(
    action: &mut Action,
    fields: &Fields<'_>,
    source: Option<&Pattern>,
    scope: Scope<'_>,
) -> Result<Option<Pattern>, ScenarioError> {
    let name = action.name();
    let Some(to) = action.target_mut() else { return Ok(None) };
    let target = text_of(fields, &COPY.keys[1], scope)?.expect("it is a path");
    if source == Some(&target) {
        let at = fields.place("to");
        return Err(at.error(format!("a {name} has the same file twice"), "name another one in `to`"));
    }
    *to = target.render(&scope.first_numbers()).into();
    Ok(Some(target))
}
