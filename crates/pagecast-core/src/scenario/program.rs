//! Reads the operations of a process: one list for all its copies, or one for each if a quantity in it has `{n}`.

use std::sync::Arc;

use super::braces::{Copies, Loop, Pattern, Scope, has_copy_number};
use super::document::{Node, Place, Table, Value, shorten};
use super::mapped;
use super::paths::normalise;
use super::schema::{OF_OPERATIONS, OPERATIONS};
use super::script::{Rounds, Step};
use super::table::Fields;
use super::{copies, names, patterns, streams};
use crate::error::ScenarioError;
use crate::keys::{Key, Kind, Schema};
use crate::nearest::hint;
use crate::units::Bytes;
use crate::workload::{Action, Advice, Buffer, Fd, OpenFlag, Operation, SleepSpread, SyncRangeFlag};

/// What an operation has to do with the path or event that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The file is there afterwards.
    MakesFile,
    /// The file must be there.
    NeedsFile,
    /// A mount must cover it.
    NeedsMount,
    /// The event has happened afterwards.
    Signals,
    /// The event must have happened.
    WaitsFor,
}

/// A path or an event that a program names.
pub struct Use {
    /// What for.
    pub role: Role,
    /// The operation.
    pub verb: &'static str,
    /// The path, normal, or the event.
    pub text: Pattern,
    /// How many rounds the loops around it have, from the outermost.
    pub rounds: Vec<u32>,
    /// False if it stands after an `exit`.
    pub is_reached: bool,
    /// Where it is written.
    pub at: Place,
}

impl Use {
    /// The text of copy `n` in the first and in the last round of all loops.
    pub fn ends(&self, n: u32) -> [String; 2] {
        let last = [&[n], &self.rounds[..]].concat();
        [self.text.render(&[vec![n], vec![1; self.rounds.len()]].concat()), self.text.render(&last)]
    }

    /// Whether it names a path.
    pub fn is_path(&self) -> bool {
        matches!(self.role, Role::MakesFile | Role::NeedsFile | Role::NeedsMount)
    }
}

/// Reads the list of operations of a copy; also gives the paths and events in it.
///
/// # Errors
/// Whatever is wrong in an operation.
pub fn read_program(list: &[Node], copies: Copies) -> Result<(Vec<Step>, Vec<Use>), ScenarioError> {
    let mut reader = Reader { steps: Vec::new(), uses: Vec::new(), rounds: Vec::new(), has_exited: false };
    reader.operations(list, Scope::of(copies))?;
    Ok((reader.steps, reader.uses))
}

/// True if the copies need lists of their own: `{n}` stands somewhere else than in a path or an event.
///
/// # Errors
/// Wrong braces.
pub fn differs_by_copy(list: &[Node]) -> Result<bool, ScenarioError> {
    for table in list.iter().filter_map(Node::as_table) {
        let Some(schema) = verbs_of(table).next() else { continue };
        for entry in &table.entries {
            let is_shared =
                schema.key(&entry.key).is_some_and(|key| matches!(key.kind, Kind::Path | Kind::Text));
            let differs = match &entry.node.value {
                Value::Text(text) => !is_shared && has_copy_number(text, &entry.node.at)?,
                Value::List(inner) => differs_by_copy(inner)?,
                Value::Table(inner) => has_copy_number_in(inner)?,
                _ => false,
            };
            if differs {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// True if `{n}` stands in a value of a table inside an operation.
fn has_copy_number_in(table: &Table) -> Result<bool, ScenarioError> {
    for entry in &table.entries {
        if let Value::Text(text) = &entry.node.value
            && has_copy_number(text, &entry.node.at)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The operations whose verbs stand in the table, but those that are options of another: `truncate` of `open`.
fn verbs_of(table: &Table) -> impl Iterator<Item = &'static Schema> {
    let is_there = |schema: &&Schema| table.get(schema.name).is_some();
    let is_option = move |verb: &str| {
        let is_flag = matches!(table.get(verb), Some(Node { value: Value::Boolean(_), .. }));
        is_flag
            && OPERATIONS.iter().filter(is_there).any(|other| other.name != verb && other.key(verb).is_some())
    };
    OPERATIONS.iter().filter(is_there).filter(move |schema| !is_option(schema.name))
}

struct Reader {
    steps: Vec<Step>,
    uses: Vec<Use>,
    /// How many rounds the loops around the next operation have.
    rounds: Vec<u32>,
    has_exited: bool,
}

impl Reader {
    fn operations(&mut self, list: &[Node], scope: Scope<'_>) -> Result<(), ScenarioError> {
        list.iter().try_for_each(|node| self.operation(node, scope))
    }

    fn operation(&mut self, node: &Node, scope: Scope<'_>) -> Result<(), ScenarioError> {
        let schema = the_verb(node)?;
        let fields = Fields::open_with(node, schema, &OF_OPERATIONS, schema.name)?.within(scope);
        if fields.has_key("do") {
            return self.repeat(schema.name, &fields, scope);
        }
        let named = text_of(&fields, &schema.keys[0], scope)?;
        let text = named.as_ref().map_or_else(String::new, |text| text.render(&scope.first_numbers()));
        let line = (node.at.line > 0).then_some(node.at.line);
        let action = action(schema.name, text.into(), &fields)?;
        let operation = Operation { line, fd: descriptor(&fields)?, ..action.into() };
        let mut operation = patterns::with_arrival(operation, &fields)?;
        let pattern = named.clone().filter(|text| !text.is_constant());
        let target = copies::target_of(&mut operation.action, &fields, named.as_ref(), scope)?;
        if let Some(text) = named {
            let (role, at) = (role_of(&operation.action), fields.place(schema.name).clone());
            let (rounds, is_reached) = (self.rounds.clone(), !self.has_exited);
            self.uses.push(Use { role, verb: schema.name, text, rounds, is_reached, at });
        }
        if let Some(text) = target.clone() {
            let (role, at) = (Role::MakesFile, fields.place("to").clone());
            let (rounds, is_reached) = (self.rounds.clone(), !self.has_exited);
            self.uses.push(Use { role, verb: schema.name, text, rounds, is_reached, at });
        }
        let target = target.filter(|text| !text.is_constant());
        self.has_exited |= operation.action == Action::Exit;
        self.steps.push(Step::Do { operation: Box::new(operation), pattern, target });
        Ok(())
    }

    fn repeat(&mut self, verb: &str, fields: &Fields<'_>, scope: Scope<'_>) -> Result<(), ScenarioError> {
        let list = fields.list("do")?;
        if list.is_empty() {
            let what = format!("`do` of a `{verb}` is empty");
            return Err(fields.place("do").error(what, "put operations into it or remove it"));
        }
        if fields.node("not_before").is_some() {
            let at = fields.place("not_before");
            return Err(at.error("a loop has no `not_before`", "give it to the first of its operations"));
        }
        if verb == "repeat_for" {
            let time = fields.need("repeat_for")?;
            return self.rounds(list, 1, Rounds::For(time), None, scope);
        }
        let (times, name) = (fields.need("repeat")?, fields.get::<String>("as")?);
        self.rounds(list, times, Rounds::Times(times), name.as_deref(), scope)
    }

    /// Reads what is done in each round of a loop; `times` is how many are known to be.
    fn rounds(
        &mut self,
        list: &[Node],
        times: u32,
        rounds: Rounds,
        name: Option<&str>,
        scope: Scope<'_>,
    ) -> Result<(), ScenarioError> {
        let inside = Loop { name, outer: scope.innermost };
        let had_exited = self.has_exited;
        // What is never done is read for its errors only.
        self.has_exited |= times == 0;
        self.steps.push(Step::Begin { rounds });
        self.rounds.push(times.max(1));
        let begin = self.steps.len();
        self.operations(list, Scope { innermost: Some(&inside), ..scope })?;
        self.rounds.pop();
        if times == 0 {
            self.has_exited = had_exited;
        }
        if times == 0 || self.steps.len() == begin {
            self.steps.truncate(begin - 1);
        } else {
            self.steps.push(Step::End { begin, rounds });
        }
        Ok(())
    }
}

/// The path or event that the verb, or another key of an operation, is about.
pub(super) fn text_of(
    fields: &Fields<'_>,
    verb: &'static Key,
    scope: Scope<'_>,
) -> Result<Option<Pattern>, ScenarioError> {
    if !matches!(verb.kind, Kind::Path | Kind::Text) {
        return Ok(None);
    }
    fields.need::<String>(verb.name)?;
    let Node { value: Value::Text(text), at, .. } = fields.node(verb.name).expect("its value was read")
    else {
        panic!("a value that was read as a string is one");
    };
    // Numbers cannot make a part "." or "..", so a path that is normal before they are put in stays so.
    let is_path = matches!(verb.kind, Kind::Path);
    Pattern::parse(&if is_path { normalise(text, at)? } else { text.clone() }, &scope, at).map(Some)
}

fn role_of(action: &Action) -> Role {
    match action {
        Action::Signal { .. } => Role::Signals,
        Action::Wait { .. } => Role::WaitsFor,
        action if action.makes_file() => Role::MakesFile,
        Action::SyncFs { .. }
        | Action::Rename { .. }
        | Action::Mkdir { .. }
        | Action::Rmdir { .. }
        | Action::Stat { .. } => Role::NeedsMount,
        _ => Role::NeedsFile,
    }
}

fn the_verb(node: &Node) -> Result<&'static Schema, ScenarioError> {
    let remedy = "write for example { read = \"/data/f1\" }";
    let Some(table) = node.as_table() else {
        return Err(node
            .at
            .error(format!("an operation is {}, but must be a table", node.describe()), remedy));
    };
    let mut verbs = verbs_of(table);
    match (verbs.next(), verbs.next()) {
        (Some(verb), None) => Ok(verb),
        (Some(one), Some(other)) => {
            let what = format!("one operation has two verbs, `{}` and `{}`", one.name, other.name);
            Err(node.at.error(what, "make two operations of it: { ... }, { ... }"))
        }
        (None, _) => {
            let known = OPERATIONS.iter().map(|schema| schema.name);
            match table.keys().next() {
                None => Err(node.at.error("an operation is empty", remedy)),
                Some(key) => {
                    let what = format!("an operation has no verb; it has `{}`", shorten(key));
                    Err(node.at.error(what, hint(key, known, "verbs")))
                }
            }
        }
    }
}

fn action(verb: &str, text: Arc<str>, fields: &Fields<'_>) -> Result<Action, ScenarioError> {
    let flag = |key| Ok::<_, ScenarioError>(fields.get::<bool>(key)?.unwrap_or(false));
    let offset = || Ok::<_, ScenarioError>(fields.get::<Bytes>("offset")?.map(|offset| offset.0));
    let vector = || Ok::<_, ScenarioError>(fields.get::<u32>("vector")?.unwrap_or(1));
    Ok(match verb {
        "open" => Action::Open {
            path: text,
            create: flag("create")?,
            truncate: flag("truncate")?,
            flags: fields.words("flags", &OpenFlag::ALL)?.into_iter().collect(),
        },
        "read" => {
            let read = Action::Read {
                path: text,
                offset: offset()?,
                bytes: fields.get("size")?,
                call: fields.get("call")?,
                vector: vector()?,
                buffer: fields.word("buffer", &[Buffer::Reused, Buffer::Fresh])?.unwrap_or_default(),
            };
            patterns::with_pattern(read, fields)?
        }
        "write" => {
            let offset = match (flag("append")?, offset()?) {
                (true, Some(_)) => {
                    let at = fields.place("append");
                    return Err(at.error("a write has both `append` and `offset`", "remove one of them"));
                }
                (true, None) => None,
                // Through a descriptor it begins at the position of that.
                (false, offset) => offset.or_else(|| fields.node("fd").is_none().then_some(0)),
            };
            let (bytes, call) = (fields.need("size")?, fields.get("call")?);
            let write = Action::Write { path: text, offset, bytes, call, vector: vector()? };
            patterns::with_pattern(write, fields)?
        }
        "copy" => copies::action(text, fields)?,
        "fsync" => Action::Fsync { path: text },
        "fdatasync" => Action::Fdatasync { path: text },
        "sync" => {
            fields.need::<bool>("sync")?;
            Action::Sync
        }
        "syncfs" => Action::SyncFs { path: text },
        "sync_file_range" => {
            let flags = fields.words("flags", &SyncRangeFlag::ALL)?.into_iter().collect();
            let (offset, bytes) = (offset()?.unwrap_or(0), fields.get("size")?);
            Action::SyncFileRange { path: text, offset, bytes, flags }
        }
        "readahead" => {
            Action::Readahead { path: text, offset: offset()?.unwrap_or(0), bytes: fields.get("size")? }
        }
        "close" => Action::Close { path: text },
        "truncate" => Action::Truncate { path: text, size: fields.need("size")? },
        "unlink" => Action::Unlink { path: text },
        "drop_caches" => {
            fields.need::<bool>("drop_caches")?;
            Action::DropCaches
        }
        "fadvise" => {
            let advice = fields.word("advice", &Advice::ALL)?.expect("the schema requires it");
            Action::Fadvise { path: text, advice, offset: offset()?.unwrap_or(0), bytes: fields.get("size")? }
        }
        "compute" => Action::Compute { time: fields.need("compute")? },
        "sleep" => {
            Action::Sleep { time: fields.need("sleep")?, random: fields.word("random", &SleepSpread::ALL)? }
        }
        "alloc" => Action::Allocate { bytes: fields.need("alloc")? },
        "free" => Action::Free { bytes: free(fields)? },
        "wait" => Action::Wait { event: text },
        "signal" => Action::Signal { event: text },
        "drain" => {
            fields.need::<bool>("drain")?;
            Action::Drain
        }
        "exit" => {
            fields.need::<bool>("exit")?;
            Action::Exit
        }
        "mmap" | "munmap" | "mmap_read" | "mmap_write" | "msync" => mapped::action(verb, text, fields)?,
        verb => match names::action(verb, text.clone(), fields)? {
            Some(action) => action,
            None => return streams::action(verb, text, fields),
        },
    })
}

/// The descriptor of an operation that can have one.
fn descriptor(fields: &Fields<'_>) -> Result<Option<Fd>, ScenarioError> {
    let number = if fields.has_key("fd") { fields.get::<u32>("fd")? } else { None };
    Ok(number.map(Fd))
}

/// How much is freed; `None` is all.
fn free(fields: &Fields<'_>) -> Result<Option<Bytes>, ScenarioError> {
    match fields.node("free").map(|node| &node.value) {
        Some(Value::Text(text)) if text == "all" => Ok(None),
        _ => fields.need("free").map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{MACHINE, read, refusal};
    use crate::units::Nanos;
    use crate::workload::{AsyncBy, OpenFlags};

    fn scenario(operations: &str) -> String {
        format!("{MACHINE}\n[[process]]\nname = 'p{{n}}'\ncount = 2\ndo = [\n{operations} ]")
    }

    /// The operations of copy 2.
    fn actions(operations: &str) -> Vec<Action> {
        let file = "\n[[file]]\npath = '/data/f'\nsize = '3 kB'";
        let processes =
            read(&(scenario(operations) + file), &[]).expect("the operations are right").processes;
        let mut run = processes[1].program.start().expect("a script can start");
        std::iter::from_fn(|| run.next(Nanos::ZERO).expect("a script cannot fail"))
            .map(|operation| operation.action)
            .collect()
    }

    fn error(operations: &str) -> String {
        refusal(&scenario(operations))
    }

    #[test]
    fn a_read_is_of_the_whole_file_unless_it_says_less() {
        let path: Arc<str> = "/data/f".into();
        let whole = Action::Read {
            path: path.clone(),
            offset: None,
            bytes: None,
            call: None,
            vector: 1,
            buffer: Buffer::Reused,
        };
        assert_eq!(actions("{ read = '/data/f' }"), [whole]);
        let part = Action::Read {
            path,
            offset: Some(1000),
            bytes: Some(Bytes(2000)),
            call: Some(Bytes(4096)),
            vector: 4,
            buffer: Buffer::Fresh,
        };
        assert_eq!(
            actions(
                "{ read = '/data/f', offset = '1 kB', size = '2 kB', call = '4 KiB', vector = 4, buffer = 'fresh' }"
            ),
            [part]
        );
    }

    #[test]
    fn a_write_begins_at_0_unless_it_appends() {
        let write = |offset| Action::Write {
            path: "/data/f".into(),
            offset,
            bytes: Bytes(1000),
            call: None,
            vector: 1,
        };
        assert_eq!(actions("{ write = '/data/f', size = '1 kB' }"), [write(Some(0))]);
        assert_eq!(actions("{ write = '/data/f', size = '1 kB', append = true }"), [write(None)]);
        assert_eq!(actions("{ write = '/data/f', size = '1 kB', offset = '5 B' }"), [write(Some(5))]);
    }

    #[test]
    fn every_other_operation_is_read() {
        let path = || "/data/f".into();
        let event = || "go2".into();
        assert_eq!(
            actions(
                "{ open = '/data/f', create = true, truncate = true }, { fsync = '/data/f' }, { close = '/data/f' },
                 { fdatasync = '/data/f' }, { sync = true }, { syncfs = '/data' }, { sync_file_range = '/data/f', flags = ['WRITE'] },
                 { readahead = '/data/f', offset = '1 kB' },
                 { truncate = '/data/f', size = '0 B' }, { unlink = '/data/f' }, { drop_caches = true },
                 { fadvise = '/data/f', advice = 'random' }, { fadvise = '/data/f', advice = 'willneed', offset = '1 kB', size = '2 kB' }, { compute = '1 s' }, { sleep = '2 s' }, { alloc = '1 kB' },
                 { free = '1 kB' }, { free = 'all' }, { wait = 'go{n}' }, { signal = 'go{n}' }, { exit = true }"
            ),
            [
                Action::Open { path: path(), create: true, truncate: true, flags: OpenFlags::default() },
                Action::Fsync { path: path() },
                Action::Close { path: path() },
                Action::Fdatasync { path: path() },
                Action::Sync,
                Action::SyncFs { path: "/data".into() },
                Action::SyncFileRange {
                    path: path(),
                    offset: 0,
                    bytes: None,
                    flags: [SyncRangeFlag::Write].into_iter().collect()
                },
                Action::Readahead { path: path(), offset: 1000, bytes: None },
                Action::Truncate { path: path(), size: Bytes::ZERO },
                Action::Unlink { path: path() },
                Action::DropCaches,
                Action::Fadvise { path: path(), advice: Advice::Random, offset: 0, bytes: None },
                Action::Fadvise {
                    path: path(),
                    advice: Advice::WillNeed,
                    offset: 1000,
                    bytes: Some(Bytes(2000))
                },
                Action::Compute { time: Nanos(1_000_000_000) },
                Action::Sleep { time: Nanos(2_000_000_000), random: None },
                Action::Allocate { bytes: Bytes(1000) },
                Action::Free { bytes: Some(Bytes(1000)) },
                Action::Free { bytes: None },
                Action::Wait { event: event() },
                Action::Signal { event: event() },
                Action::Exit,
            ]
        );
    }

    #[test]
    fn a_file_is_opened_with_flags() {
        let flags = |list: &str| match &actions(&format!("{{ open = '/data/f', flags = {list} }}"))[..] {
            [Action::Open { flags, .. }] => OpenFlag::ALL.map(|flag| flags.has(flag)),
            other => panic!("one `open` was written, not {other:?}"),
        };
        assert_eq!(flags("[]"), [false; 5]);
        assert_eq!(flags("['O_DIRECT']"), [true, false, false, false, false]);
        assert_eq!(flags("['O_DSYNC', 'O_SYNC', 'O_SYNC']"), [false, true, true, false, false]);
        assert_eq!(flags("['O_APPEND']"), [false, false, false, true, false]);
    }

    #[test]
    fn a_flag_that_is_not_known_names_the_nearest() {
        let flags = |list: &str| error(&format!("{{ open = '/data/f', flags = {list} }}"));
        assert_snapshot!(flags("['O_DIRCT']"), @r#"x.toml:6: `flags` cannot have "O_DIRCT"; did you mean `O_DIRECT`?"#);
        assert_snapshot!(flags("['O_DIRECT', 'rw']"), @r#"x.toml:6: `flags` cannot have "rw"; known words: `O_DIRECT`, `O_SYNC`, `O_DSYNC`, `O_APPEND`, `RWF_DONTCACHE`"#);
        assert_snapshot!(flags("'O_DIRECT'"), @r#"x.toml:6: `flags` is the string "O_DIRECT", but must be a list of words; write for example flags = ["O_DIRECT"]"#);
        assert_snapshot!(flags("[1]"), @r#"x.toml:6: `flags` has the number 1 in it, but must be a list of words; write for example flags = ["O_DIRECT"]"#);
        assert_snapshot!(flags("['{flag}']"), @"x.toml:6: `{flag}` is no parameter; add it to [parameter], or write {{ for a brace");
    }

    #[test]
    fn a_loop_goes_on_for_a_time() {
        let text = scenario(
            "{ repeat_for = '2 s', do = [ { sleep = '1 s' }, { repeat = 2, do = [ { signal = 'a' } ] } ] }, { exit = true }",
        );
        let mut run = read(&text, &[]).unwrap().processes[0].program.start().unwrap();
        let mut names = |now: u64| {
            let operation = run.next(Nanos(now * 1_000_000_000)).unwrap().expect("there is one more");
            operation.action.name()
        };
        let found = [0, 1, 1, 1, 2, 2, 2].map(&mut names);
        assert_eq!(found, ["sleep", "signal", "signal", "sleep", "signal", "signal", "exit"]);
    }

    #[test]
    fn a_loop_whose_rounds_take_no_time_is_given_up() {
        let text = scenario("{ repeat_for = '2 s', do = [ { signal = 'a' } ] }");
        let mut run = read(&text, &[]).unwrap().processes[0].program.start().unwrap();
        let error = (0..2_000_000).find_map(|_| run.next(Nanos::ZERO).err()).expect("it ends");
        assert_snapshot!(error.0.to_string(), @"a `repeat_for` of 2.000 s has 1000000 rounds that take no time; use `repeat`, or add a sleep");
    }

    #[test]
    fn an_operation_knows_when_and_how_it_is_begun() {
        let file = "\n[[file]]\npath = '/data/f'\nsize = '4 KiB'";
        let operation = |text: &str| {
            let processes = read(&(scenario(text) + file), &[]).unwrap().processes;
            processes[0].program.start().unwrap().next(Nanos::ZERO).unwrap().expect("there is one")
        };
        let depth = NonZeroU32::new(4);
        let found =
            operation("{ read = '/data/f', size = '4 KiB', depth = 4, by = 'io_uring', not_before = '2 s' }");
        assert_eq!(
            (found.depth, found.by, found.not_before),
            (depth, AsyncBy::IoUring, Some(Nanos(2_000_000_000)))
        );
        let found = operation("{ fsync = '/data/f', depth = 4 }");
        assert_eq!((found.depth, found.by), (depth, AsyncBy::Threads));
        assert_eq!(operation("{ drain = true, not_before = '1 s' }").action, Action::Drain);
        assert_eq!(operation("{ sleep = '1 s', not_before = '1 s' }").not_before, Some(Nanos(1_000_000_000)));
    }

    #[test]
    fn what_is_not_asynchronous_has_no_depth() {
        assert_snapshot!(error("{ read = '/data/f', call = '4 KiB', depth = 4 }"), @"x.toml:6: an asynchronous operation is one call, so it has no `call`; for many calls at once write pattern = { depth = 16 }");
        assert_snapshot!(error("{ read = '/data/f', buffer = 'fresh', depth = 4 }"), @"x.toml:6: an asynchronous read uses its buffer again; remove `buffer`, or write { alloc = ... } before it");
        assert_snapshot!(error("{ read = '/data/f', call = '4 KiB', pattern = { backwards = true }, depth = 4 }"), @"x.toml:6: the process waits for the end of a pattern, whose calls have their own `depth`; put it into the pattern: pattern = { depth = 16 }");
        assert_snapshot!(error("{ read = '/data/f', by = 'libaio' }"), @"x.toml:6: `by` is about operations or calls at once, and there is no `depth`; add depth = 16");
        assert_snapshot!(error("{ read = '/data/f', depth = 0 }"), @"x.toml:6: `depth` is the number 0, but must be a whole number from 1 to 65536; write for example depth = 1");
        assert_snapshot!(error("{ fsync = '/data/f', depth = 4, by = 'aio' }"), @r#"x.toml:6: `by` cannot be "aio"; known words: `threads`, `libaio`, `io_uring`, `posix_aio`"#);
        assert_snapshot!(error("{ close = '/data/f', depth = 4 }"), @"x.toml:6: unknown key `depth` in close; known keys: `close`, `fd`, `not_before`");
        assert_snapshot!(error("{ repeat = 2, not_before = '1 s', do = [ { sleep = '1 s' } ] }"), @"x.toml:6: a loop has no `not_before`; give it to the first of its operations");
        assert_snapshot!(error("{ repeat_for = '1 s', do = [] }"), @"x.toml:6: `do` of a `repeat_for` is empty; put operations into it or remove it");
        assert_snapshot!(error("{ repeat_for = '1 s', as = 'k', do = [ { sleep = '1 s' } ] }"), @"x.toml:6: unknown key `as` in repeat_for; known keys: `repeat_for`, `do`, `not_before`");
    }

    #[test]
    fn loops_nest() {
        let text = "{ repeat = 2, do = [ { sleep = '1 s' }, { repeat = 3, do = [ { sleep = '2 s' } ] } ] }, { sleep = '3 s' }";
        let seconds = actions(text).into_iter().map(|action| match action {
            Action::Sleep { time, .. } => time.0 / 1_000_000_000,
            other => panic!("only sleeps were asked for, not {}", other.name()),
        });
        assert_eq!(seconds.collect::<Vec<_>>(), [1, 2, 2, 2, 1, 2, 2, 2, 3]);
    }

    /// The paths of copy 2.
    fn paths(operations: &str) -> Vec<String> {
        let path = |action: Action| action.path().expect("all are about files").to_string();
        actions(operations).into_iter().map(path).collect()
    }

    #[test]
    fn a_loop_runs_over_files() {
        assert_eq!(
            paths("{ repeat = 3, as = 'k', do = [ { write = '/data/{n}/f{k}', size = '1 B' } ] }"),
            ["/data/2/f1", "/data/2/f2", "/data/2/f3"]
        );
        let nested = "{ repeat = 2, as = 'i', do = [ { repeat = 1, do = [ { repeat = 2, as = 'k', do = [
                          { write = '/data/{k}-{i}', size = '1 B' } ] } ] }, { write = '/data/i{i}', size = '1 B' } ] }";
        assert_eq!(
            paths(nested),
            ["/data/1-1", "/data/2-1", "/data/i1", "/data/1-2", "/data/2-2", "/data/i2"]
        );
    }

    #[test]
    fn a_loop_without_rounds_does_nothing_and_is_read_for_its_errors() {
        let none = "{ repeat = 0, do = [ { read = '/data/gone' }, { wait = 'never' }, { exit = true } ] }";
        let text = format!("{none}, {{ repeat = 0, do = [ {none} ] }}, {{ signal = 'a' }}");
        assert_eq!(actions(&text), [Action::Signal { event: "a".into() }]);
        assert_snapshot!(error("{ repeat = 0, do = [ { sleep = 1 } ] }"), @r#"x.toml:6: `sleep` is the number 1 without a unit; a quantity is a string with its unit: sleep = "28 s""#);
    }

    #[test]
    fn a_loop_of_a_million_rounds_is_not_written_out() {
        let text = scenario(
            "{ repeat = 1_000_000, as = 'k', do = [ { write = '/data/f{k}', size = '1 B' }, { signal = '{k}' } ] }",
        );
        let processes = read(&text, &[]).unwrap().processes;
        let mut run = processes[0].program.start().unwrap();
        let last = std::iter::from_fn(|| run.next(Nanos::ZERO).unwrap())
            .nth(1_999_998)
            .expect("there is a last write");
        assert_eq!(&**last.action.path().unwrap(), "/data/f1000000");
        assert_eq!(processes[0].program.events(), None);
    }

    #[test]
    fn the_events_of_every_round_are_known_before() {
        let text = scenario(
            "{ repeat = 2, as = 'i', do = [ { signal = 'a' }, { repeat = 900_000, do = [ { repeat = 2, as = 'k', do = [
                 { signal = '{n}.{i}.{k}' } ] } ] } ] }, { wait = '1.2.2' }",
        );
        let events = read(&text, &[]).unwrap().processes[1].program.events().expect("they are few");
        assert_eq!(events.waits, ["1.2.2".into()]);
        assert_eq!(events.signals, ["a", "2.1.1", "2.1.2", "2.2.1", "2.2.2"].map(Into::into));
    }

    #[test]
    fn a_round_has_a_name_of_its_own() {
        let named =
            |name: &str| error(&format!("{{ repeat = 2, as = {name}, do = [ {{ sleep = '1 s' }} ] }}"));
        assert_snapshot!(named("'n'"), @r#"x.toml:6: `as` cannot be "n", which is the number of a copy; choose another name"#);
        assert_snapshot!(named("''"), @r#"x.toml:6: `as` is "", which cannot be a name; use letters, digits and `_`"#);
        assert_snapshot!(named("'{k}'"), @r#"x.toml:6: `as` is "{k}", which cannot be a name; use letters, digits and `_`"#);
        assert_snapshot!(named("1"), @r#"x.toml:6: `as` is the number 1, but must be a name; write for example as = "k""#);
        let nested =
            "{ repeat = 2, as = 'k', do = [ { repeat = 2, as = 'k', do = [ { sleep = '1 s' } ] } ] }";
        assert_snapshot!(error(nested), @r#"x.toml:6: `as` cannot be "k", which is the round of a loop around it; choose another name"#);
        let loops = scenario("{ repeat = 2, as = 'apps', do = [ { sleep = '1 s' } ] }");
        assert_snapshot!(refusal(&format!("parameter.apps = 1\n{loops}")), @r#"x.toml:7: `as` cannot be "apps", which is a parameter; choose another name"#);
    }

    #[test]
    fn a_round_is_known_inside_its_loop_only() {
        assert_snapshot!(error("{ repeat = 2, as = 'k', do = [ { sleep = '1 s' } ] }, { signal = '{k}' }"), @"x.toml:6: `{k}` is no parameter; add it to [parameter], or write {{ for a brace");
        assert_snapshot!(error("{ repeat = 2, as = 'file', do = [ { signal = '{flie}' } ] }"), @"x.toml:6: `{flie}` is no parameter; did you mean `file`?");
    }

    #[test]
    fn a_round_is_no_quantity() {
        let offset =
            "{ repeat = 2, as = 'k', do = [ { write = '/data/f', offset = '{k} GB', size = '1 GB' } ] }";
        assert_snapshot!(error(offset), @r#"x.toml:6: `{k}` in "{k} GB" is the number of a round, which only paths and events can have; write the value out, or build the scenario in Python"#);
    }

    #[test]
    fn the_number_of_a_copy_needs_a_count() {
        let without = scenario("{ repeat = 3, do = [ { read = '/data/f{n}' } ] }").replace("count = 2\n", "");
        assert_snapshot!(refusal(&without.replace("'p{n}'", "'p'")), @r#"x.toml:5: `{n}` in "/data/f{n}" is the number of a copy, but this process has no `count`; add for example count = 8, or count rounds with `as` in `repeat`"#);
        assert_snapshot!(refusal(&without), @r#"x.toml:5: `{n}` in "/data/f{n}" is the number of a copy, but this process has no `count`; add for example count = 8, or count rounds with `as` in `repeat`"#);
        assert_snapshot!(refusal(&without.replace("read = '/data/f{n}'", "sleep = '{n} s'")), @r#"x.toml:5: `{n}` in "{n} s" is the number of a copy, but this process has no `count`; add for example count = 8, or count rounds with `as` in `repeat`"#);
    }

    #[test]
    fn a_quantity_may_differ_by_copy() {
        assert_eq!(
            actions("{ repeat = 1, do = [ { sleep = '{n} s' } ] }"),
            [Action::Sleep { time: Nanos(2_000_000_000), random: None }]
        );
    }

    #[test]
    fn an_operation_knows_its_line() {
        let processes = read(&scenario("\n{ sleep = '1 s' }"), &[]).unwrap().processes;
        assert_eq!(processes[0].program.start().unwrap().next(Nanos::ZERO).unwrap().unwrap().line, Some(7));
    }

    #[test]
    fn two_verbs_are_refused() {
        assert_snapshot!(error("{ read = '/data/f', write = '/data/g', size = '1 B' }"), @"x.toml:6: one operation has two verbs, `read` and `write`; make two operations of it: { ... }, { ... }");
        assert_snapshot!(error("{ open = '/data/f', truncate = '/data/g' }"), @"x.toml:6: one operation has two verbs, `open` and `truncate`; make two operations of it: { ... }, { ... }");
    }

    #[test]
    fn no_verb_is_refused() {
        assert_snapshot!(error("{ raed = '/data/f' }"), @"x.toml:6: an operation has no verb; it has `raed`; did you mean `read`?");
        assert_snapshot!(error("{ size = '1 B' }"), @"x.toml:6: an operation has no verb; it has `size`; verbs: `read`, `write`, `open`, `fsync`, `fdatasync`, `sync`, `syncfs`, `sync_file_range`, `readahead`, `close`, `truncate`, `unlink` and 33 more");
        assert_snapshot!(error("{}"), @r#"x.toml:6: an operation is empty; write for example { read = "/data/f1" }"#);
        assert_snapshot!(error("'read'"), @r#"x.toml:6: an operation is the string "read", but must be a table; write for example { read = "/data/f1" }"#);
    }

    #[test]
    fn a_wrong_option_names_the_nearest() {
        assert_snapshot!(error("{ read = '/data/f', bufer = 'fresh' }"), @"x.toml:6: unknown key `bufer` in read; did you mean `buffer`?");
        assert_snapshot!(error("{ read = '/data/f', buffer = 'frehs' }"), @r#"x.toml:6: `buffer` cannot be "frehs"; did you mean `fresh`?"#);
    }

    #[test]
    fn a_write_says_how_much() {
        assert_snapshot!(error("{ write = '/data/f' }"), @r#"x.toml:6: write has no `size`; add for example size = "20 GB""#);
        assert_snapshot!(error("{ write = '/data/f', size = '0 B' }"), @r#"x.toml:6: `size` is zero, but must be more; write for example size = "20 GB""#);
    }

    #[test]
    fn a_write_begins_in_one_place() {
        assert_snapshot!(error("{ write = '/data/f', size = '1 B', append = true, offset = '1 B' }"), @"x.toml:6: a write has both `append` and `offset`; remove one of them");
    }

    #[test]
    fn what_takes_only_true_is_not_false() {
        assert_snapshot!(error("{ exit = false }"), @"x.toml:6: `exit` is false, but must be true; write for example exit = true");
        assert_snapshot!(error("{ drop_caches = 3 }"), @"x.toml:6: `drop_caches` is the number 3, but must be true; write for example drop_caches = true");
    }

    #[test]
    fn a_time_is_no_bare_number() {
        assert_snapshot!(error("{ compute = 28 }"), @r#"x.toml:6: `compute` is the number 28 without a unit; a quantity is a string with its unit: compute = "28 s""#);
    }

    #[test]
    fn a_path_is_absolute_and_written_out() {
        assert_snapshot!(error("{ read = 'f' }"), @r#"x.toml:6: the path "f" is not absolute; begin it with `/`"#);
        assert_snapshot!(error("{ read = '/data/../f' }"), @r#"x.toml:6: the path "/data/../f" has ".." in it; write the path out"#);
        assert_snapshot!(error("{ read = 1 }"), @r#"x.toml:6: `read` is the number 1, but must be an absolute path; write for example read = "/data/f1""#);
    }

    #[test]
    fn a_parameter_that_is_not_there_is_refused() {
        assert_snapshot!(error("{ read = '/data/{app}/f' }"), @"x.toml:6: `{app}` is no parameter; add it to [parameter], or write {{ for a brace");
    }

    #[test]
    fn a_loop_has_rounds_and_operations() {
        assert_snapshot!(error("{ repeat = -1, do = [ { sleep = '1 s' } ] }"), @"x.toml:6: `repeat` is the number -1, but must be a whole number from 0 to 1000000; write for example repeat = 1");
        assert_snapshot!(error("{ repeat = 1, do = [] }"), @"x.toml:6: `do` of a `repeat` is empty; put operations into it or remove it");
        assert_snapshot!(error("{ repeat = 1, do = 1 }"), @"x.toml:6: `do` is the number 1, but must be a list; write do = [ ... ]");
    }
}
