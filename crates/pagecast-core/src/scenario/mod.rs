//! Reads a scenario: a machine, the files on it, the processes and the models to ask; from TOML, or built in code.
//!
//! From text to meaning: `document` is a tree in which everything knows its line, `overrides` and `braces` change it, `machine_file` puts
//! machine files below it, `schema` lists the keys, `table` reads them by it, and `machine`, `network`, `files`, `processes`, `program`,
//! `models` and `tolerance` give them their meaning; `certain` refuses scenarios that would surely fail. Every error is one
//! [`ScenarioError`].

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::ScenarioError;
use crate::machine::Machine;
use crate::nearest::hint;
pub use crate::policy::{ModelOptions, OptionValue};
use crate::workload::{InitialFile, Operation, Process};

use braces::{Copies, Parameter, Parameters};
use cgroups::find_cgroup;
use document::{Entry, Node, Place, Value, shorten};
use files::Files;
use hosts::{Hosts, find_host};
use machine_file::Folders;
use paths::Mounts;
use processes::Processes;
use script::Step;
use table::Fields;

mod as_workload;
mod braces;
mod certain;
mod cgroups;
mod copies;
mod disks;
mod document;
mod files;
mod hosts;
mod imported;
mod json_schema;
mod links;
mod machine;
mod machine_file;
mod mapped;
mod models;
mod mounts;
mod names;
mod overrides;
mod part;
mod paths;
mod patterns;
mod platform;
mod print;
mod processes;
mod program;
#[cfg(test)]
mod reference;
mod residency;
mod schema;
mod script;
mod slots;
mod streams;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod tolerance;
mod topology;
mod uncertainty;
mod write_cache;

pub use imported::{Shell, Source};
pub use json_schema::json_schema;
pub use machine_file::shipped_machines;
pub use print::machine_to_toml;
pub use residency::Residency;
pub use tolerance::Tolerance;

/// Everything a simulation needs but the model and the seed. It can be simulated any number of times.
#[derive(Clone)]
pub struct Scenario {
    /// What is shown in messages for the file it came from, `<python>` or the like otherwise.
    pub origin: String,
    /// Models that it asks for by itself.
    pub models: Vec<String>,
    /// Options of each model, as written: `[model.wrench] chunk = "100 MB"`.
    pub model_options: BTreeMap<String, ModelOptions>,
    /// When the cache content of each file is recorded.
    pub residency: Residency,
    /// How far a forecast may be from what is measured.
    pub tolerance: Tolerance,
    /// Hosts and links.
    pub machine: Machine,
    /// Files that exist before time 0.
    pub files: Vec<InitialFile>,
    /// Processes in the order of the file. Those that `after` names exist, and nobody waits for himself.
    pub processes: Vec<Process>,
    /// The files in other formats that some of the processes come from.
    pub sources: Vec<Source>,
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// `origin` is the file's name in messages. Machine files that `from` names by path are relative to `base_dir`, and
    /// by name in `machine_dir`. Each override is "key=value", as after `--set`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place and the remedy.
    pub fn from_toml(
        text: &[u8],
        origin: &str,
        base_dir: &Path,
        machine_dir: &Path,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        let shell = Shell { directory: base_dir, environment: &BTreeMap::new() };
        Self::from_toml_in(shell, text, origin, machine_dir, overrides)
    }

    /// The same in a shell with variables, which job files may name.
    ///
    /// # Errors
    /// As [`Self::from_toml`].
    pub fn from_toml_in(
        shell: Shell<'_>,
        text: &[u8],
        origin: &str,
        machine_dir: &Path,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        let mut root = document::parse(text, origin, "start from `pagecast init`")?;
        pass_over_sweep(&mut root)?;
        overrides.iter().try_for_each(|text| overrides::apply(&mut root, text))?;
        put_parameters_in(&mut root)?;
        refuse_machine_file(&root)?;
        let root = Fields::open(&root, &schema::SCENARIO, "the scenario")?;
        let machine = machine::read_machine(&root, Folders { base: shell.directory, shipped: machine_dir })?;
        let mounts = Mounts::new(&machine);
        let hosts = hosts_of(&machine);
        let processes = root.list("process")?;
        if processes.is_empty() {
            return Err(root
                .at
                .error("there is no process to simulate", "add [[process]] with a name and do = [ ... ]"));
        }
        let mut files = files::read_files(root.list("file")?, &hosts, Files::new(&machine, &mounts))?;
        let (processes, sources) = processes::read_processes(processes, &hosts, &mounts, &mut files, shell)?;
        Ok(Self {
            origin: origin.to_owned(),
            models: models::read_models(&root)?,
            model_options: models::read_options(&root)?,
            residency: root.word("residency", &[Residency::End, Residency::Operation])?.unwrap_or_default(),
            tolerance: tolerance::read_tolerance(&root)?,
            processes,
            sources,
            files: files.files,
            machine,
        })
    }

    /// Puts a scenario together from its parts and checks them as those of a file; it asks for no model by itself.
    ///
    /// # Errors
    /// What is wrong in the files or processes; the place is always `origin`. Operations are not looked at.
    pub fn from_parts(
        origin: &str,
        machine: Machine,
        files: Vec<InitialFile>,
        processes: Vec<Process>,
    ) -> Result<Self, ScenarioError> {
        let (files, processes) = checked(origin, &machine, files, processes)?;
        Ok(Self {
            origin: origin.to_owned(),
            models: Vec::new(),
            model_options: BTreeMap::new(),
            residency: Residency::End,
            tolerance: Tolerance::default(),
            files,
            processes,
            sources: Vec::new(),
            machine,
        })
    }

    /// Multiplies values of its hosts: number of the host, key as in its table, factor.
    ///
    /// # Errors
    /// A key that is none, or whose value is no amount.
    pub fn scale(&mut self, factors: &[(usize, String, f64)]) -> Result<(), ScenarioError> {
        let at = Place::whole(&self.origin);
        factors.iter().try_for_each(|(host, key, factor)| {
            let scaled = self.machine.hosts[*host].scale(key, *factor);
            scaled.map_err(|why| uncertainty::refusal(&at, key, why))
        })
    }

    /// The options of a model: those of the scenario, and what the caller puts over them.
    #[must_use]
    pub fn options_of(&self, model: &str, over: &[(String, String)]) -> ModelOptions {
        let own = self.model_options.get(model).into_iter().flatten();
        let own = own.map(|(key, value)| (key.clone(), value.clone()));
        let over = over.iter().map(|(key, text)| {
            (key.clone(), OptionValue { text: text.clone(), at: format!("option {model}.{key}") })
        });
        own.chain(over).collect()
    }

    /// Refuses models that are asked for or given options and do not exist; `known` are those that do.
    ///
    /// # Errors
    /// The first such model, with the nearest known one.
    pub fn check_models(&self, known: &[&str]) -> Result<(), ScenarioError> {
        let asked = self.models.iter();
        match asked.chain(self.model_options.keys()).find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(ScenarioError {
                place: self.origin.clone(),
                what: format!("there is no model `{}`", shorten(name)),
                remedy: hint(name, known.iter().copied(), "models"),
            }),
        }
    }

    /// Checks files and processes once more, as somebody may have changed them since.
    ///
    /// # Errors
    /// As [`Self::from_parts`].
    pub fn check(&self) -> Result<(), ScenarioError> {
        checked(&self.origin, &self.machine, self.files.clone(), self.processes.clone()).map(|_| ())
    }
}

/// Files and processes that were not read from a file; the same is refused with the same words, and the place is `origin`.
fn checked(
    origin: &str,
    machine: &Machine,
    files: Vec<InitialFile>,
    processes: Vec<Process>,
) -> Result<(Vec<InitialFile>, Vec<Process>), ScenarioError> {
    let at = Place::whole(origin);
    let mounts = Mounts::new(machine);
    let mut checked_files = Files::new(machine, &mounts);
    files.into_iter().try_for_each(|file| checked_files.add(file, false, &|_| &at))?;
    let mut checked_processes = Processes::default();
    for process in processes {
        slots::check_slots(&process, machine, &|_| &at)?;
        checked_processes.add(process, false, &|_| &at)?;
    }
    Ok((checked_files.files, checked_processes.finish()?))
}

/// Hosts of a machine and their memory cgroups by name, for scenarios that are put together from parts.
pub struct Names<'a> {
    machine: &'a Machine,
    hosts: Hosts<'a>,
    at: Place,
}

impl<'a> Names<'a> {
    /// The names of a machine; messages call the scenario `origin`.
    #[must_use]
    pub fn new(machine: &'a Machine, origin: &str) -> Self {
        Self { machine, hosts: hosts_of(machine), at: Place::whole(origin) }
    }

    /// The index of a host; of the first one if none is named.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn host(&self, name: Option<&str>) -> Result<usize, ScenarioError> {
        name.map_or(Ok(0), |name| find_host(name, &self.hosts, &self.at))
    }

    /// The index of a memory cgroup of a host, if one is named.
    ///
    /// # Errors
    /// If the host has no such cgroup.
    pub fn cgroup(&self, host: usize, name: Option<&str>) -> Result<Option<usize>, ScenarioError> {
        name.map(|name| find_cgroup(name, &self.machine.hosts[host], &self.at)).transpose()
    }
}

fn hosts_of(machine: &Machine) -> Hosts<'_> {
    machine.hosts.iter().enumerate().map(|(index, host)| (host.name.as_str(), index)).collect()
}

/// Reads a machine file: `[machine]` or hosts and links as in a scenario, or the keys of one machine at its top.
///
/// # Errors
/// The first thing that is wrong, with its place and the remedy.
pub fn load_machine(
    text: &[u8],
    origin: &str,
    base_dir: &Path,
    machine_dir: &Path,
) -> Result<Machine, ScenarioError> {
    let mut root =
        document::parse(text, origin, "write a machine into it, or name one of `pagecast machine list`")?;
    refuse_scenario(&root)?;
    if !root.as_table().is_some_and(machine_file::has_machine_tables) {
        let at = root.at.clone();
        root = machine_file::wrap("machine", root, &at);
    }
    let root = Fields::open(&root, &schema::MACHINES, "the machine file")?;
    machine::read_machine(&root, Folders { base: base_dir, shipped: machine_dir })
}

/// Reads one operation of a program as a scenario has it in its braces: `read = "/data/f", size = "1 GB"`.
///
/// # Errors
/// What is wrong in it; a loop, or several operations.
pub fn operation(text: &str) -> Result<Operation, ScenarioError> {
    let text = text.trim();
    let text = if text.starts_with('{') { text.to_owned() } else { format!("{{ {text} }}") };
    let root = document::parse(
        format!("do = [{text}]").as_bytes(),
        OPERATION,
        "write for example read = \"/data/f\"",
    )?;
    let list = match root.as_table().and_then(|table| table.get("do")) {
        Some(Node { value: Value::List(list), .. }) => list.as_slice(),
        _ => &[],
    };
    let (steps, _) = program::read_program(list, Copies::of("operation", None, 0))?;
    match <[_; 1]>::try_from(steps) {
        Ok([Step::Do { operation, .. }]) => Ok(*operation),
        _ => Err(Place::whole(OPERATION).error(
            "there is more than one operation",
            "give one, without `repeat`, and begin the next when it is done",
        )),
    }
}

/// What messages name in the place of a file.
const OPERATION: &str = "<operation>";

/// Takes `[sweep]` out: what `pagecast sweep` varies and measures is its own affair.
fn pass_over_sweep(root: &mut Node) -> Result<(), ScenarioError> {
    let Value::Table(table) = &mut root.value else { return Ok(()) };
    match table.remove("sweep") {
        Some(node) if node.as_table().is_none() => {
            let what = format!("`sweep` is {}, but must be a table", node.describe());
            Err(node.at.error(what, "write [sweep] with measure = [\"makespan\"]"))
        }
        _ => Ok(()),
    }
}

/// A machine file that was given as a scenario: it has keys of a machine at its top, and nothing of a scenario.
fn refuse_machine_file(root: &Node) -> Result<(), ScenarioError> {
    let entries = root.as_table().map_or(&[][..], |table| &table.entries);
    match entries.first() {
        Some(first) if entries.iter().all(|entry| schema::MACHINE.key(&entry.key).is_some()) => {
            let remedy = "name it in a scenario: [machine] from = \"PATH\", or as --machine beside one";
            Err(first.at.error("this is a machine file, not a scenario", remedy))
        }
        _ => Ok(()),
    }
}

/// A scenario that was given as a machine file.
fn refuse_scenario(root: &Node) -> Result<(), ScenarioError> {
    match root.as_table().and_then(|table| table.get("process")) {
        Some(process) => {
            let remedy =
                "a machine file has the keys of [machine] alone, as `pagecast machine show` prints them";
            Err(process.at.error("this is a scenario, not a machine file", remedy))
        }
        None => Ok(()),
    }
}

/// Replaces `{name}` in every string by the parameter; a parameter may use those before it.
fn put_parameters_in(root: &mut Node) -> Result<(), ScenarioError> {
    let Value::Table(table) = &mut root.value else { return Ok(()) };
    let mut parameters = Parameters::new();
    for entry in table.get_mut("parameter").map_or(Ok(&mut [][..]), parameters_of)? {
        braces::check_name(&entry.key, &entry.at)?;
        braces::substitute(&mut entry.node, &parameters, None)?;
        let text = models::scalar(&entry.node, &entry.key)?;
        parameters.insert(entry.key.clone(), Parameter { text, at: entry.node.at.clone() });
    }
    let others = table.entries.iter_mut().filter(|entry| entry.key != "parameter");
    others.map(|entry| &mut entry.node).try_for_each(|node| braces::substitute(node, &parameters, None))
}

fn parameters_of(node: &mut Node) -> Result<&mut [Entry], ScenarioError> {
    let what = format!("`parameter` is {}, but must be a table", node.describe());
    match &mut node.value {
        Value::Table(table) => Ok(&mut table.entries),
        _ => Err(node.at.error(what, "write [parameter]")),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::testing::{MACHINE, PROCESS, error, read, refusal};
    use super::*;

    #[test]
    fn parameters_stand_for_text_and_numbers() {
        let text = format!(
            "{MACHINE}\nresidency = 'operation'\n[parameter]\napps = 3\nbig = '{{apps}} GB'\ndir = '/data/app{{n}}'\n\
             [[file]]\npath = '{{dir}}/f1'\nsize = '{{big}}'\ncount = '{{apps}}'\n{PROCESS}"
        );
        let scenario = read(&text, &["parameter.apps=2"]).unwrap();
        assert_eq!(scenario.residency, Residency::Operation);
        assert_eq!(scenario.files.len(), 2);
        assert_eq!(&*scenario.files[1].path, "/data/app2/f1");
        assert_eq!(scenario.files[1].size.0, 2_000_000_000);
    }

    #[test]
    fn parameters_are_scalars() {
        assert_snapshot!(error("[parameter]\nsizes = ['1 GB']"), @"x.toml:3: `sizes` is a list, but must be a string, a number or a boolean");
        assert_snapshot!(error("parameter = 1"), @"x.toml:2: `parameter` is the number 1, but must be a table; write [parameter]");
    }

    #[test]
    fn an_unknown_key_at_the_top_names_the_nearest() {
        assert_snapshot!(error("proces = 1"), @"x.toml:2: unknown key `proces` in the scenario; did you mean `process`?");
    }

    #[test]
    fn a_machine_file_is_no_scenario_and_the_other_way_round() {
        let here = Path::new("");
        let machine = Scenario::from_toml(b"cores = 1\n[memory]", "x.toml", here, here, &[]);
        assert_snapshot!(machine.err().unwrap(), @r#"x.toml:1: this is a machine file, not a scenario; name it in a scenario: [machine] from = "PATH", or as --machine beside one"#);
        let scenario = b"[machine]\nfrom = 'x'\n[[process]]\nname = 'p'";
        let refused = load_machine(scenario, "m.toml", here, here).unwrap_err();
        assert_snapshot!(refused, @"m.toml:3: this is a scenario, not a machine file; a machine file has the keys of [machine] alone, as `pagecast machine show` prints them");
    }

    #[test]
    fn one_operation_is_read_by_itself() {
        let name = |text| operation(text).map(|operation| operation.action.name());
        assert_eq!(
            name("read = '/data/f', call = '4 KiB', pattern = { random = 'uniform' }").unwrap(),
            "read"
        );
        assert_eq!(name("{ sync = true }").unwrap(), "sync");
        let several = ["read = '/f'}, { sync = true", "repeat = 2, do = [{ sync = true }]"];
        for text in several {
            assert!(
                name(text).unwrap_err().to_string().contains("there is more than one operation"),
                "{text}"
            );
        }
        assert_snapshot!(name("").unwrap_err(), @"<operation>:1: an operation is empty; write for example { read = \"/data/f1\" }");
        assert_snapshot!(name("reed = '/f'").unwrap_err(), @"<operation>:1: an operation has no verb; it has `reed`; did you mean `read`?");
    }

    #[test]
    fn a_word_for_residency_is_one_of_two() {
        assert_snapshot!(error("residency = 'always'"), @r#"x.toml:2: `residency` cannot be "always"; known words: `end`, `operation`"#);
    }

    #[test]
    fn text_that_is_no_toml_has_a_line() {
        assert_snapshot!(refusal("a = 1\nb = = 2"), @"x.toml:2: extra `=`, expected nothing; correct the TOML");
    }

    #[test]
    fn an_empty_file_is_refused() {
        assert_snapshot!(refusal(""), @"x.toml: the file is empty; start from `pagecast init`");
    }

    #[test]
    fn parts_are_checked_like_a_file() {
        let Scenario { machine, files, processes, .. } =
            read(&format!("{MACHINE}\n[[file]]\npath = '/data/f'\nsize = '1 GB'\n{PROCESS}"), &[]).unwrap();
        let twice = |files: &[InitialFile], processes: &[Process]| {
            Scenario::from_parts("<python>", machine.clone(), files.to_vec(), processes.to_vec())
                .map(|_| ())
                .unwrap_err()
        };
        let put_together =
            Scenario::from_parts("<python>", machine.clone(), files.clone(), processes.clone());
        assert_eq!(put_together.unwrap().files, files);
        assert_snapshot!(twice(&[&files[..], &files[..]].concat(), &processes), @r#"<python>: the file "/data/f" is there twice; remove one of them"#);
        assert_snapshot!(twice(&files, &[&processes[..], &processes[..]].concat()), @"<python>: two processes are called `p`; rename one of them");
    }

    /// Text that is often nearly right.
    fn texts() -> impl Strategy<Value = String> {
        let words = [
            "[[process]]",
            "[machine]",
            "name",
            "=",
            "'p{n}'",
            "do",
            "[",
            "]",
            "{",
            "}",
            "read",
            "'/data/f'",
            ",",
            "\n",
            "1",
            "-1",
            "nan",
            "'1 GB'",
            "count",
            "repeat",
            "'{n'",
            ".",
            "after",
            "host",
            "from",
            "mount",
            "disk",
            "nfs",
            "'a:/b'",
        ];
        let some = prop::collection::vec(prop::sample::select(words.to_vec()), 0..40);
        prop_oneof![".*", some.prop_map(|words| words.join(" "))]
    }

    proptest! {
        #[test]
        fn no_text_and_no_override_panics(text in texts(), more in texts(), set in texts()) {
            // The first is nearly always wrong at once, the second comes further.
            let whole = format!("{MACHINE}\n{more}\n{PROCESS}");
            for text in [text, whole] {
                let refused = read(&text, &[&set]).err().into_iter().chain(read(&text, &[]).err());
                prop_assert!(refused.into_iter().all(|error| !error.contains('\n')));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let refused = Scenario::from_toml(&bytes, "x.toml", Path::new(""), Path::new(""), &[]).map(|_| ());
            prop_assert!(refused.is_err());
        }

        #[test]
        fn no_value_panics(key in "[a-z_]{1,8}", value in ".*") {
            let table = read(&format!("{MACHINE}\n{PROCESS}"), &[&format!("machine.disk.ssd.{key}={value}")]);
            prop_assert!(table.is_err() || ["size", "read", "write", "sharing", "unevenness"].contains(&&*key));
        }
    }
}
