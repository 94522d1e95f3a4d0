//! Reads the operations on mappings of files.

use std::sync::Arc;

use super::part::{OFFSET, PART};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::{Key, Kind, Schema, may, must};
use crate::units::Bytes;
use crate::workload::{Action, MapAdvice, MappedCall};

const ADVICE: Key = may("advice", Kind::Word(&MapAdvice::NAMES), "Said with madvise(2); default \"normal\"");

pub const MMAP: Schema =
    Schema { name: "mmap", keys: &[must("mmap", Kind::Path, "Maps a file until munmap")] };

pub const MUNMAP: Schema = Schema { name: "munmap", keys: &[must("munmap", Kind::Path, "Unmaps a file")] };

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
    let part = || {
        let offset = fields.get::<Bytes>("offset")?.map_or(0, |offset| offset.0);
        Ok::<_, ScenarioError>((offset, fields.get("size")?))
    };
    let advice = || Ok::<_, ScenarioError>(fields.word("advice", &MapAdvice::ALL)?.unwrap_or_default());
    let call = match verb {
        "mmap" => MappedCall::Map,
        "munmap" => MappedCall::Unmap,
        "mmap_read" => {
            let (offset, bytes) = part()?;
            MappedCall::Read { offset, bytes, advice: advice()? }
        }
        "mmap_write" => {
            let (offset, bytes) = part()?;
            MappedCall::Write { offset, bytes, advice: advice()? }
        }
        "msync" => {
            let (offset, bytes) = part()?;
            MappedCall::Sync { offset, bytes, is_async: fields.get("async")?.unwrap_or(false) }
        }
        verb => panic!("`{verb}` is in the schema, so it can be read"),
    };
    Ok(Action::Mapped { path, call })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{MACHINE, read, refusal};
    use crate::units::Nanos;

    fn scenario(operations: &str) -> String {
        let file = "[[file]]\npath = '/data/f'\nsize = '3 kB'";
        format!("{MACHINE}\n[[process]]\nname = 'p'\ndo = [\n{operations} ]\n{file}")
    }

    fn calls(operations: &str) -> Vec<MappedCall> {
        let processes = read(&scenario(operations), &[]).expect("the operations are right").processes;
        let mut run = processes[0].program.start().expect("a script can start");
        let next = || run.next(Nanos::ZERO).expect("a script cannot fail");
        let call = |action| match action {
            Action::Mapped { call, .. } => call,
            other => panic!("only mappings were asked for, not {}", other.name()),
        };
        std::iter::from_fn(next).map(|operation| call(operation.action)).collect()
    }

    #[test]
    fn every_call_is_read() {
        let part = "offset = '1 kB', size = '2 kB'";
        let bytes = Some(Bytes(2000));
        let (read, write) = (
            MappedCall::Read { offset: 0, bytes: None, advice: MapAdvice::Normal },
            MappedCall::Write { offset: 1000, bytes, advice: MapAdvice::Random },
        );
        assert_eq!(
            calls(&format!(
                "{{ mmap = '/data/f' }}, {{ mmap_read = '/data/f' }}, {{ munmap = '/data/f' }}, {{ mmap_write = '/data/f', advice = 'random', {part} }},
                 {{ msync = '/data/f' }}, {{ msync = '/data/f', async = true, {part} }}"
            )),
            [
                MappedCall::Map,
                read,
                MappedCall::Unmap,
                write,
                MappedCall::Sync { offset: 0, bytes: None, is_async: false },
                MappedCall::Sync { offset: 1000, bytes, is_async: true },
            ]
        );
        assert_eq!((read.advice(), write.part()), (Some(MapAdvice::Normal), (1000, bytes)));
    }

    #[test]
    fn what_is_no_part_of_it_is_refused() {
        let error = |operation| refusal(&scenario(operation));
        assert_snapshot!(error("{ mmap_read = '/data/f', call = '1 kB' }"), @"x.toml:5: unknown key `call` in mmap_read; known keys: `mmap_read`, `offset`, `size`, `advice`, `not_before`");
        assert_snapshot!(error("{ mmap_write = '/data/f', advice = 'dontneed' }"), @r#"x.toml:5: `advice` cannot be "dontneed"; known words: `normal`, `sequential`, `random`"#);
        assert_snapshot!(error("{ msync = '/data/f', async = 1 }"), @"x.toml:5: `async` is the number 1, but must be true or false; write for example async = true");
    }
}
