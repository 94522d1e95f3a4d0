//! Reads `[[process]]`: the programs, their hosts, their order and their operations.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::braces::{Copies, Pattern, Scope, has_copy_number};
use super::certain::Certain;
use super::cgroups::cgroup_of;
use super::document::{Node, Place, Value, shorten};
use super::files::Files;
use super::hosts::Hosts;
use super::imported::{Shell, Source, import, is_imported};
use super::paths::Mounts;
use super::program::{Role, Use, differs_by_copy, read_program};
use super::schema::PROCESS;
use super::script::{CopyProgram, Step, empty_operations};
use super::slots::{check_slots, hosts_and_slots};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::nearest::hint;
use crate::stop;
use crate::units::Nanos;
use crate::workload::{IoPriority, Process};

/// How many processes of a circle a message names.
const NAMED_IN_CIRCLE: usize = 8;

/// How many operations that take no time all processes may have. Each is a row of the result, and so many take 2 GB; where time passes,
/// a run that gets long can be seen to do so.
const MOST_EMPTY: u64 = 10_000_000;

/// Reads all processes and their copies, and the files that have some in another format; `shell` is where the scenario was given.
///
/// # Errors
/// Whatever is wrong in one of them, and what [`Processes`] refuses.
pub fn read_processes(
    list: &[Node],
    hosts: &Hosts<'_>,
    mounts: &Mounts<'_>,
    files: &mut Files<'_>,
    shell: Shell<'_>,
) -> Result<(Vec<Process>, Vec<Source>), ScenarioError> {
    let (mut processes, mut certain) = (Processes::default(), Certain::default());
    let mut sources = Vec::new();
    for node in list {
        if is_imported(node) {
            certain.note_unknown();
            sources.push(import(node, shell, hosts, mounts, files, &mut processes)?);
            continue;
        }
        let fields = Fields::open(node, &PROCESS, "[[process]]")?;
        read_copies(&fields, hosts, mounts, &mut processes, &mut certain)?;
    }
    let processes = processes.finish()?;
    certain.check(files)?;
    Ok((processes, sources))
}

fn read_copies(
    fields: &Fields<'_>,
    hosts: &Hosts<'_>,
    mounts: &Mounts<'_>,
    processes: &mut Processes,
    certain: &mut Certain,
) -> Result<(), ScenarioError> {
    let list = fields.list("do")?;
    if list.is_empty() {
        return Err(fields
            .place("do")
            .error("`do` of a process is empty", "put operations into it or remove the process"));
    }
    let given = fields.get("count")?;
    let count = given.unwrap_or(1);
    let differs = differs_by_copy(list)?;
    let mut program = Program::read(list, Copies::of("process", given, 1))?;
    for n in 1..=count {
        stop::spend(stop::EVENT);
        let copies = Copies::of("process", given, n);
        if differs && n > 1 {
            program = Program::read(list, copies)?;
        }
        let fields = fields.clone().within(Scope::of(copies));
        processes.note_empty(&fields, program.empty)?;
        let process = read_process(&fields, n, &mut program, hosts, mounts)?;
        check_slots(&process, mounts.machine(), &|key| fields.place(key))?;
        if n == 1 {
            let host = (!has_several_hosts(&fields)?).then_some(process.host);
            certain.note_made(&program.uses, count, host, mounts);
        }
        if n == 1 || n == count {
            certain.note_needed(&program.uses, n, process.host, mounts)?;
        }
        processes.add(process, count > 1, &|key| fields.place(key))?;
    }
    if given.is_some() {
        processes.note_copies(fields, count)?;
    }
    Ok(())
}

fn has_several_hosts(fields: &Fields<'_>) -> Result<bool, ScenarioError> {
    if fields.node("hosts").is_some() {
        return Ok(true);
    }
    match fields.node("host") {
        Some(Node { value: Value::Text(text), at, .. }) => has_copy_number(text, at),
        _ => Ok(false),
    }
}

fn read_process(
    fields: &Fields<'_>,
    n: u32,
    program: &mut Program,
    hosts: &Hosts<'_>,
    mounts: &Mounts<'_>,
) -> Result<Process, ScenarioError> {
    let (host, slots) = hosts_and_slots(fields, hosts)?;
    program.check_paths(host, n, mounts)?;
    let others = slots.iter().flat_map(|slots| &slots.hosts[1..]);
    others.copied().try_for_each(|other| program.check_paths(other, n, mounts))?;
    let after: Vec<String> = fields.get("after")?.unwrap_or_default();
    Ok(Process {
        name: fields.need::<String>("name")?.into(),
        host,
        cgroup: cgroup_of(fields, mounts.host(host))?,
        after: after.into_iter().map(Arc::from).collect(),
        start: fields.get("start")?.unwrap_or(Nanos::ZERO),
        descriptors: None,
        ioprio: ioprio_of(fields)?,
        slots,
        program: Arc::new(CopyProgram { steps: Arc::clone(&program.steps), n }),
    })
}

/// The priority of the requests of a process.
pub fn ioprio_of(fields: &Fields<'_>) -> Result<IoPriority, ScenarioError> {
    let Some(text) = fields.get::<String>("ionice")? else { return Ok(IoPriority::default()) };
    IoPriority::parse(&text).ok_or_else(|| {
        let what = format!("`ionice` cannot be \"{}\"", shorten(&text));
        let remedy = "write \"idle\", or \"realtime\" or \"best-effort\" and a level from 0 to 7";
        fields.place("ionice").error(what, remedy)
    })
}

/// The processes so far; whom they wait for is looked at when all are known.
#[derive(Default)]
pub struct Processes {
    found: Vec<Process>,
    /// Where each says whom it waits for.
    after_at: Vec<Place>,
    by_name: FxHashMap<Arc<str>, usize>,
    /// The names of those that have copies, as written and as patterns, and how many they have.
    copied: Vec<(String, Pattern, u32)>,
    /// Those of a file in another format, by the name that the scenario gives it.
    imported: FxHashMap<String, Vec<Arc<str>>>,
    /// How many operations that take no time they have.
    empty: u64,
}

impl Processes {
    /// Adds a process; `at` gives the place of each of its keys.
    ///
    /// # Errors
    /// A name that another one has.
    pub fn add<'p>(
        &mut self,
        process: Process,
        is_copy: bool,
        at: &dyn Fn(&'static str) -> &'p Place,
    ) -> Result<(), ScenarioError> {
        if self.by_name.insert(Arc::clone(&process.name), self.found.len()).is_some() {
            let what = format!("two processes are called `{}`", shorten(&process.name));
            let of_copy = "put {n}, the number of the copy, into the name";
            return Err(at("name").error(what, if is_copy { of_copy } else { "rename one of them" }));
        }
        self.after_at.push(at("after").clone());
        self.found.push(process);
        Ok(())
    }

    /// The first number of a table of descriptors that no process has.
    pub fn next_table(&self) -> u32 {
        self.found.iter().filter_map(|process| process.descriptors).max().map_or(0, |last| last + 1)
    }

    /// Lets `after` name all processes of an imported file at once.
    pub fn note_imported(&mut self, name: String, members: Vec<Arc<str>>) {
        self.imported.insert(name, members);
    }

    /// Counts the operations of a process that take no time.
    fn note_empty(&mut self, fields: &Fields<'_>, empty: u64) -> Result<(), ScenarioError> {
        self.empty = self.empty.saturating_add(empty);
        if self.empty <= MOST_EMPTY {
            return Ok(());
        }
        let what = format!(
            "with those of this process there are more than {MOST_EMPTY} operations that take no time"
        );
        Err(fields.place("do").error(what, "give `repeat` or `count` less"))
    }

    /// Remembers how many copies a process has, for messages about a copy that it has not.
    fn note_copies(&mut self, fields: &Fields<'_>, count: u32) -> Result<(), ScenarioError> {
        if let Some(Node { value: Value::Text(name), at, .. }) = fields.node("name") {
            let pattern = Pattern::parse(name, &Scope::of(Copies::Number(count)), at)?;
            self.copied.push((name.clone(), pattern, count));
        }
        Ok(())
    }

    /// All processes.
    ///
    /// # Errors
    /// `after` that names nobody, or goes in a circle.
    pub fn finish(mut self) -> Result<Vec<Process>, ScenarioError> {
        let order = self.resolve_after()?;
        self.refuse_circle(&order)?;
        Ok(self.found)
    }

    /// For whom each process waits, as indices. Their names become those of the processes themselves, so that none is
    /// kept twice.
    fn resolve_after(&mut self) -> Result<Vec<Vec<usize>>, ScenarioError> {
        let mut order = Vec::with_capacity(self.found.len());
        for (process, at) in self.found.iter_mut().zip(&self.after_at) {
            let named = std::mem::take(&mut process.after).into_iter();
            let all = named.flat_map(|name| self.imported.get(&*name).cloned().unwrap_or_else(|| vec![name]));
            process.after = all.collect();
            let mut before = Vec::with_capacity(process.after.len());
            for name in &mut process.after {
                let Some((known, &index)) = self.by_name.get_key_value(name) else {
                    return Err(unknown(name, &self.by_name, &self.copied, at));
                };
                *name = Arc::clone(known);
                before.push(index);
            }
            order.push(before);
        }
        Ok(order)
    }

    fn refuse_circle(&self, order: &[Vec<usize>]) -> Result<(), ScenarioError> {
        let Some(circle) = find_circle(order) else { return Ok(()) };
        let names: Vec<String> =
            circle.iter().map(|&index| format!("`{}`", shorten(&self.found[index].name))).collect();
        let shown = names[..names.len().min(NAMED_IN_CIRCLE)].join(" after ");
        let more = if names.len() > NAMED_IN_CIRCLE { " after ..." } else { "" };
        let what = format!("processes wait for each other: {shown}{more} after {}", names[0]);
        Err(self.after_at[circle[0]].error(what, "remove one `after`"))
    }
}

fn unknown(
    name: &str,
    by_name: &FxHashMap<Arc<str>, usize>,
    copied: &[(String, Pattern, u32)],
    at: &Place,
) -> ScenarioError {
    if let Some((of, _, count)) = copied.iter().find(|(_, of, _)| of.may_become(name, &[u32::MAX])) {
        let copies = if *count == 1 { "copy" } else { "copies" };
        let (name, of) = (shorten(name), shorten(of));
        let what = format!("`after` names `{name}`, but `{of}` has only {count} {copies}");
        return at.error(what, "correct the name, or `count`");
    }
    let mut known: Vec<(usize, &str)> = by_name.iter().map(|(name, &index)| (index, &**name)).collect();
    known.sort_unstable();
    let what = format!("`after` names `{}`, and there is no such process", shorten(name));
    at.error(what, hint(name, known.into_iter().map(|(_, name)| name), "processes"))
}

/// A circle in "index waits for indices", if there is one.
fn find_circle(order: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut waiting: Vec<usize> = order.iter().map(Vec::len).collect();
    let mut followers = vec![Vec::new(); order.len()];
    for (index, before) in order.iter().enumerate() {
        before.iter().for_each(|&first| followers[first].push(index));
    }
    let mut ready: Vec<usize> = (0..order.len()).filter(|&index| waiting[index] == 0).collect();
    while let Some(done) = ready.pop() {
        for &next in &followers[done] {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(next);
            }
        }
    }
    // Whoever still waits does so for somebody who still waits: going back must come round.
    let mut path = vec![(0..order.len()).find(|&index| waiting[index] > 0)?];
    let mut position = FxHashMap::default();
    loop {
        let last = *path.last().expect("starts with one");
        if let Some(begin) = position.insert(last, path.len() - 1) {
            path.pop();
            return Some(path.split_off(begin));
        }
        let before = order[last].iter().copied().find(|&first| waiting[first] > 0);
        path.push(before.expect("it still waits for somebody"));
    }
}

/// The steps of a program, with the host for which its paths have been checked.
struct Program {
    steps: Arc<[Step]>,
    /// How many operations that take no time a copy has at most.
    empty: u64,
    uses: Vec<Use>,
    /// The host last checked, and which paths must be looked at for every copy.
    checked: Option<(usize, Vec<usize>)>,
}

impl Program {
    fn read(list: &[Node], copies: Copies) -> Result<Self, ScenarioError> {
        let (steps, uses) = read_program(list, copies)?;
        Ok(Self { empty: empty_operations(&steps), steps: steps.into(), uses, checked: None })
    }

    /// Refuses paths that no mount of the host covers.
    fn check_paths(&mut self, host: usize, n: u32, mounts: &Mounts<'_>) -> Result<(), ScenarioError> {
        if self.checked.as_ref().is_none_or(|&(checked, _)| checked != host) {
            let is_doubtful = |used: &Use| used.is_path() && mounts.find(host, used.text.prefix()).is_none();
            let doubtful = (0..self.uses.len()).filter(|&index| is_doubtful(&self.uses[index]));
            self.checked = Some((host, doubtful.collect()));
        }
        let (_, doubtful) = self.checked.as_ref().expect("it was just set");
        for &index in doubtful {
            let used = &self.uses[index];
            for path in used.ends(n) {
                // A mount point is on the file system that is mounted there.
                let is_mounted = used.role == Role::NeedsMount && mounts.has(host, &path);
                if !is_mounted {
                    mounts.need(host, &path, &used.at)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{HOSTS, MACHINE, read, refusal};

    fn process(name: &str, rest: &str) -> String {
        format!("[[process]]\nname = '{name}'\ndo = [ {{ sleep = '1 s' }} ]\n{rest}\n")
    }

    fn error(processes: &str) -> String {
        refusal(&format!("{MACHINE}\n{processes}"))
    }

    #[test]
    fn copies_wait_for_their_own() {
        let text = format!(
            "{MACHINE}\n{}{}",
            process("app{n}.a", "count = 2\nstart = '{n} s'"),
            process("app{n}.b", "count = 2\nafter = ['app{n}.a']")
        );
        let processes = read(&text, &[]).unwrap().processes;
        let names: Vec<&str> = processes.iter().map(|process| &*process.name).collect();
        assert_eq!(names, ["app1.a", "app2.a", "app1.b", "app2.b"]);
        assert_eq!(processes[1].start, Nanos(2_000_000_000));
        assert_eq!(processes[3].after, ["app2.a".into()]);
    }

    #[test]
    fn copies_may_run_on_their_own_hosts() {
        let hosts = HOSTS.replace("client", "node1").replace("server", "node2");
        let text = format!("{hosts}\n{}", process("p{n}", "count = 2\nhost = 'node{n}'"));
        let processes = read(&text, &[]).unwrap().processes;
        assert_eq!(processes.iter().map(|process| process.host).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn two_processes_with_one_name_are_refused() {
        assert_snapshot!(error(&(process("a", "") + &process("a", ""))), @"x.toml:7: two processes are called `a`; rename one of them");
    }

    #[test]
    fn copies_need_a_number_in_the_name() {
        assert_snapshot!(error(&process("a", "count = 2")), @"x.toml:3: two processes are called `a`; put {n}, the number of the copy, into the name");
    }

    #[test]
    fn counts_have_bounds() {
        assert_snapshot!(error(&process("a{n}", "count = 0")), @"x.toml:5: `count` is the number 0, but must be a whole number from 1 to 1000000; write for example count = 1");
        assert_snapshot!(error(&process("a{n}", "count = 2000000")), @"x.toml:5: `count` is the number 2000000, but must be a whole number from 1 to 1000000; write for example count = 1");
    }

    #[test]
    fn after_names_a_process() {
        assert_snapshot!(error(&(process("task1", "") + &process("task2", "after = ['taks1']"))), @"x.toml:9: `after` names `taks1`, and there is no such process; did you mean `task1`?");
    }

    #[test]
    fn after_names_a_copy_that_there_is() {
        let processes = process("job{n}", "count = '{jobs}'") + &process("end", "after = ['job1', 'job2']");
        let text = format!("{MACHINE}\nparameter.jobs = 1\n{processes}");
        assert_snapshot!(refusal(&text), @"x.toml:10: `after` names `job2`, but `job{n}` has only 1 copy; correct the name, or `count`");
        assert!(read(&text, &["parameter.jobs=2"]).is_ok());
    }

    #[test]
    fn the_number_of_a_copy_needs_a_count() {
        assert_snapshot!(error(&process("a{n}", "")), @r#"x.toml:3: `{n}` in "a{n}" is the number of a copy, but this process has no `count`; add for example count = 8, or count rounds with `as` in `repeat`"#);
        for rest in ["after = ['a{n}']", "host = '{n}'", "start = '{n} s'"] {
            assert!(error(&process("a", rest)).contains("has no `count`"), "{rest}");
        }
        let one = format!("{MACHINE}\n{}", process("a{n}", "count = 1"));
        assert_eq!(&*read(&one, &[]).unwrap().processes[0].name, "a1");
    }

    #[test]
    fn a_count_from_a_parameter_blames_who_set_it() {
        let text = format!("{MACHINE}\nparameter.jobs = 1\n{}", process("job{n}", "count = '{jobs}'"));
        assert_snapshot!(read(&text, &["parameter.jobs=0"]).map(|_| ()).unwrap_err(), @r#"x.toml:6: `count` is the string "0", but must be a whole number from 1 to 1000000 (`{jobs}` comes from --set parameter.jobs=0); write for example count = 1"#);
        assert_snapshot!(refusal(&text.replace("jobs = 1", "jobs = 'many'")), @r#"x.toml:6: `count` is the string "many", but must be a whole number from 1 to 1000000 (`{jobs}` comes from x.toml:2); write for example count = 1"#);
    }

    #[test]
    fn a_process_without_operations_is_refused() {
        assert_snapshot!(error("[[process]]\nname = 'a'\ndo = []"), @"x.toml:4: `do` of a process is empty; put operations into it or remove the process");
    }

    #[test]
    fn a_circle_is_named() {
        let circle = process("a", "after = ['c']")
            + &process("b", "after = ['a']")
            + &process("c", "after = ['b', 'd']");
        assert_snapshot!(error(&(circle + &process("d", ""))), @"x.toml:5: processes wait for each other: `a` after `c` after `b` after `a`; remove one `after`");
    }

    #[test]
    fn nobody_waits_for_himself() {
        assert_snapshot!(error(&process("a", "after = ['a']")), @"x.toml:5: processes wait for each other: `a` after `a`; remove one `after`");
    }

    #[test]
    fn a_long_circle_is_cut() {
        let after = |index: usize| format!("after = ['p{}']", (index + 1) % 20);
        let circle: String = (0..20).map(|index| process(&format!("p{index}"), &after(index))).collect();
        assert_snapshot!(error(&circle), @"x.toml:5: processes wait for each other: `p0` after `p1` after `p2` after `p3` after `p4` after `p5` after `p6` after `p7` after ... after `p0`; remove one `after`");
    }

    #[test]
    fn a_path_under_no_mount_is_refused() {
        let reads = |path: &str| {
            error(&format!("[[process]]\nname = 'a{{n}}'\ncount = 3\ndo = [ {{ read = '{path}' }} ]"))
        };
        assert_snapshot!(reads("/dta/f"), @r#"x.toml:5: the path "/dta/f" is under no mount of host `machine`; correct it or add a mount (there are: `/data`)"#);
        assert_snapshot!(reads("/data{n}/f"), @r#"x.toml:5: the path "/data1/f" is under no mount of host `machine`; correct it or add a mount (there are: `/data`)"#);
    }

    #[test]
    fn a_path_is_looked_up_on_the_host_of_its_process() {
        let text = |host| {
            format!(
                "{HOSTS}\n[[process]]\nname = 'a'\nhost = '{host}'\ndo = [ {{ write = '/remote/f', size = '1 B' }} ]"
            )
        };
        assert!(read(&text("client"), &[]).is_ok());
        assert_snapshot!(refusal(&text("server")), @r#"x.toml:6: the path "/remote/f" is under no mount of host `server`; correct it or add a mount (there are: `/export`)"#);
    }

    #[test]
    fn a_scenario_needs_a_process() {
        assert_snapshot!(error(""), @"x.toml:1: there is no process to simulate; add [[process]] with a name and do = [ ... ]");
    }

    #[test]
    fn a_process_needs_a_name_and_operations() {
        assert_snapshot!(error("[[process]]\ndo = [ { sleep = '1 s' } ]"), @r#"x.toml:2: [[process]] has no `name`; add for example name = "name""#);
        assert_snapshot!(error("[[process]]\nname = 'a'"), @r#"x.toml:2: [[process]] has no `do`; add for example do = [ { read = "/data/f1" } ]"#);
        assert_snapshot!(error("[[process]]\nname = ''\ndo = [ { sleep = '1 s' } ]"), @r#"x.toml:3: `name` is empty; write for example name = "name""#);
        assert_snapshot!(error("[[process]]\nname = 'a'\ndo = { read = '/data/f' }"), @"x.toml:4: `do` is a table, but must be a list; write do = [ ... ]");
    }

    #[test]
    fn a_hundred_thousand_copies_share_one_script() {
        let six = "{ write = '/data/app{n}/f1', size = '1 MB' }, { compute = '1 s' }, { write = '/data/app{n}/f2', size = '1 MB' }, \
                   { read = '/data/app{n}/f2' }, { compute = '1 s' }, { write = '/data/app{n}/f3', size = '1 MB' }";
        let text = format!("{MACHINE}\n[[process]]\nname = 'app{{n}}'\ncount = 100_000\ndo = [ {six} ]");
        let processes = read(&text, &[]).unwrap().processes;
        let mut last = processes[99_999].program.start().unwrap();
        let first = last.next(Nanos::ZERO).unwrap().expect("there are six operations");
        assert_eq!(&**first.action.path().expect("a write has a path"), "/data/app100000/f1");
        assert_eq!(std::iter::from_fn(|| last.next(Nanos::ZERO).unwrap()).count(), 5);
    }
}
