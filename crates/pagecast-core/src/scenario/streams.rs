//! Reads the operations on the streams of libraries.

use std::sync::Arc;

use super::part::CALL;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::keys::{Key, Kind, Schema, may, must};
use crate::stdio::{Library, LibraryCall, Mode};
use crate::units::Bytes;
use crate::workload::Action;

const PLACE: Key =
    may("offset", Kind::SizeOrZero, "First byte, sought by fseek; default where the stream is");

pub const FOPEN: Schema = Schema {
    name: "fopen",
    keys: &[
        must("fopen", Kind::Path, "Opens a file as a stream of a library"),
        must("mode", Kind::Word(&Mode::NAMES), "As in fopen(3)"),
        may("stream", Kind::Word(&Library::NAMES), "Whose library; default \"c\""),
        may("buffer", Kind::SizeOrZero, "Size of its buffer, \"0 B\" for none; default the library's"),
    ],
};

pub const SETVBUF: Schema = Schema {
    name: "setvbuf",
    keys: &[
        must("setvbuf", Kind::Path, "Gives a stream another buffer, before it is read or written"),
        must("size", Kind::SizeOrZero, "Its size, \"0 B\" for none"),
    ],
};

pub const FWRITE: Schema = Schema {
    name: "fwrite",
    keys: &[
        must("fwrite", Kind::Path, "Writes to a stream"),
        must("size", Kind::Size, "How much"),
        PLACE,
        CALL,
    ],
};

pub const FREAD: Schema = Schema {
    name: "fread",
    keys: &[
        must("fread", Kind::Path, "Reads from a stream"),
        may("size", Kind::Size, "How much; default up to the end of the file"),
        PLACE,
        CALL,
    ],
};

pub const FSEEK: Schema = Schema {
    name: "fseek",
    keys: &[
        must("fseek", Kind::Path, "Lets a stream go on at another place"),
        must("offset", Kind::SizeOrZero, "The place, from the beginning of the file"),
    ],
};

pub const FFLUSH: Schema =
    Schema { name: "fflush", keys: &[must("fflush", Kind::Path, "Writes what is in a stream's buffer")] };

pub const FCLOSE: Schema = Schema {
    name: "fclose",
    keys: &[must("fclose", Kind::Path, "Writes what is in it, and closes a stream")],
};

/// The operation of a verb that is about a stream.
pub fn action(verb: &str, path: Arc<str>, fields: &Fields<'_>) -> Result<Action, ScenarioError> {
    let offset = || Ok::<_, ScenarioError>(fields.get::<Bytes>("offset")?.map(|offset| offset.0));
    let call = match verb {
        "fopen" => LibraryCall::Open {
            mode: fields.word("mode", &Mode::ALL)?.expect("the schema requires it"),
            library: fields.word("stream", &Library::ALL)?.unwrap_or_default(),
            buffer: fields.get("buffer")?,
        },
        "setvbuf" => LibraryCall::SetBuffer { buffer: fields.need("size")? },
        "fwrite" => {
            LibraryCall::Write { offset: offset()?, bytes: fields.need("size")?, call: fields.get("call")? }
        }
        "fread" => {
            LibraryCall::Read { offset: offset()?, bytes: fields.get("size")?, call: fields.get("call")? }
        }
        "fseek" => LibraryCall::Seek { offset: fields.need::<Bytes>("offset")?.0 },
        "fflush" => LibraryCall::Flush,
        "fclose" => LibraryCall::Close,
        verb => panic!("`{verb}` is in the schema, so it can be read"),
    };
    Ok(Action::Stream { path, call })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{MACHINE, read, refusal};
    use crate::units::Nanos;

    fn scenario(operations: &str) -> String {
        format!("{MACHINE}\n[[process]]\nname = 'p'\ndo = [\n{operations} ]")
    }

    fn calls(operations: &str) -> Vec<LibraryCall> {
        let processes = read(&scenario(operations), &[]).expect("the operations are right").processes;
        let mut run = processes[0].program.start().expect("a script can start");
        let next = || run.next(Nanos::ZERO).expect("a script cannot fail");
        let call = |action| match action {
            Action::Stream { call, .. } => call,
            other => panic!("only streams were asked for, not {}", other.name()),
        };
        std::iter::from_fn(next).map(|operation| call(operation.action)).collect()
    }

    fn error(operations: &str) -> String {
        refusal(&scenario(operations))
    }

    #[test]
    fn every_call_of_a_library_is_read() {
        let text = "{ fopen = '/data/f', mode = 'w+', stream = 'c++', buffer = '64 KiB' },
             { setvbuf = '/data/f', size = '0 B' }, { fwrite = '/data/f', size = '1 MiB', call = '512 B' },
             { fseek = '/data/f', offset = '1 KiB' }, { fread = '/data/f', offset = '0 B', size = '4 KiB', call = '1 KiB' },
             { fread = '/data/f' }, { fflush = '/data/f' }, { fclose = '/data/f' }";
        let (mode, library) = (Mode::WriteUpdate, Library::Cxx);
        let size = |bytes| Some(Bytes(bytes));
        assert_eq!(
            calls(text),
            [
                LibraryCall::Open { mode, library, buffer: size(65_536) },
                LibraryCall::SetBuffer { buffer: Bytes::ZERO },
                LibraryCall::Write { offset: None, bytes: Bytes(1 << 20), call: size(512) },
                LibraryCall::Seek { offset: 1024 },
                LibraryCall::Read { offset: Some(0), bytes: size(4096), call: size(1024) },
                LibraryCall::Read { offset: None, bytes: None, call: None },
                LibraryCall::Flush,
                LibraryCall::Close,
            ]
        );
    }

    #[test]
    fn a_stream_is_one_of_c_unless_it_says_another() {
        let (mode, library) = (Mode::Append, Library::C);
        assert_eq!(
            calls("{ fopen = '/data/f', mode = 'a' }"),
            [LibraryCall::Open { mode, library, buffer: None }]
        );
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        assert_snapshot!(error("{ fopen = '/data/f' }"), @r#"x.toml:5: fopen has no `mode`; add for example mode = "r""#);
        assert_snapshot!(error("{ fopen = '/data/f', mode = 'rw' }"), @r#"x.toml:5: `mode` cannot be "rw"; did you mean `r`?"#);
        assert_snapshot!(error("{ fopen = '/data/f', mode = 'w', stream = 'cpp' }"), @r#"x.toml:5: `stream` cannot be "cpp"; known words: `c`, `c++`, `python`, `java`"#);
        assert_snapshot!(error("{ fopen = '/data/f', mode = 'w', bufer = '1 KiB' }"), @"x.toml:5: unknown key `bufer` in fopen; did you mean `buffer`?");
        assert_snapshot!(error("{ fopen = '/data/f', mode = 'w' }, { fwrite = '/data/f' }"), @r#"x.toml:5: fwrite has no `size`; add for example size = "20 GB""#);
    }

    #[test]
    fn a_stream_that_reads_needs_its_file() {
        assert_snapshot!(error("{ fopen = '/data/f', mode = 'r' }"), @r#"x.toml:5: `fopen` needs "/data/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
        calls("{ fopen = '/data/f', mode = 'w' }, { fread = '/data/f' }");
    }
}
