//! Reads `[[process]]` with `from`: the processes and files of a workload in another format.
//!
//! A path of the workload stays where a mount covers it; every other one goes below `files_in`. Files that the scenario has by
//! itself, as `[[file]]`, keep the size that it gives them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::cgroups::cgroup_of;
use super::document::{Node, Place, shorten};
use super::files::Files;
use super::hosts::{Hosts, find_host, host_of};
use super::paths::Mounts;
use super::processes::Processes;
use super::schema::IMPORTED;
use super::slots::{TaskHosts, check_slots};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::machine::{Host, MountSource};
use crate::nearest::{hint, list};
use crate::readers::fio::CALLS_OF_A_REQUEST;
use crate::readers::{
    Compute, FORMATS, Format, Input, Level, ListOrder, Options, Pace, Placement, Replay, Strace,
    Surroundings, Workflow, format_called, format_of,
};
use crate::units::{Bytes, Nanos};
use crate::workload::{InitialFile, Note, Process, Workload, WorkloadProcess};

/// Where a scenario was given.
#[derive(Clone, Copy)]
pub struct Shell<'a> {
    /// Relative paths start here.
    pub directory: &'a Path,
    /// Its variables, which job files may name.
    pub environment: &'a BTreeMap<String, String>,
}

/// A file in another format that processes of a scenario come from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub name: String,
    /// The name of its format.
    pub format: &'static str,
    /// What its requests are made to.
    pub level: Level,
    /// What its reader has to say.
    pub notes: Vec<Note>,
}

/// True if the table is one of these.
pub fn is_imported(node: &Node) -> bool {
    node.as_table().is_some_and(|table| table.get("from").is_some())
}

/// Adds the processes and files of a workload.
///
/// # Errors
/// A file that cannot be read, and names and files that others have.
pub fn import(
    node: &Node,
    shell: Shell<'_>,
    hosts: &Hosts<'_>,
    mounts: &Mounts<'_>,
    files: &mut Files<'_>,
    processes: &mut Processes,
) -> Result<Source, ScenarioError> {
    let fields = Fields::open(node, &IMPORTED, "[[process]]")?;
    let host = first_host(&fields, hosts)?;
    let options = options(&fields, mounts.host(host), shell)?;
    let (input, name) = open(&fields, shell.directory)?;
    let format = format(&fields, &input)?;
    let workload = format.read(input, &options)?;
    let tasks = TaskHosts::of(&fields, hosts, mounts, &options.placement.dir, &workload)?;
    let Workload { files: its_files, processes: its_processes, mut notes, .. } = workload;
    if options.placement.is_used() && options.placement.mounts.len() > 1 && fields.node("files_in").is_none()
    {
        let dir = &options.placement.dir;
        let text = format!(
            "relative paths and those under no mount are below {dir}; files_in names another directory"
        );
        notes.push(Note { place: name.clone(), text });
    }
    notes.extend(tasks.notes().into_iter().map(|text| Note { place: name.clone(), text }));
    let is_cached = fields.get("cached")?.unwrap_or(false);
    for file in its_files {
        let cached = if is_cached { file.size } else { Bytes::ZERO };
        let file = InitialFile { host, path: file.path, size: file.size, cached, dirty: Bytes::ZERO };
        files.add_unless_there(file, fields.at)?;
    }
    let adding = Adding {
        prefix: fields.get::<String>("name")?,
        tasks,
        host,
        cgroup: cgroup_of(&fields, mounts.host(host))?,
        after: fields.get::<Vec<String>>("after")?.unwrap_or_default(),
        start: fields.get("start")?.unwrap_or(Nanos::ZERO),
        table: processes.next_table(),
    };
    let mut names = Vec::with_capacity(its_processes.len());
    for process in its_processes {
        let process = adding.process(process);
        check_slots(&process, mounts.machine(), &|key| fields.place(key))?;
        names.push(Arc::clone(&process.name));
        processes.add(process, false, &|key| fields.place(key))?;
    }
    if let Some(prefix) = adding.prefix {
        processes.note_imported(prefix, names);
    }
    Ok(Source { name, format: format.name, level: format.level, notes })
}

/// What all processes of a workload get from the scenario.
struct Adding {
    prefix: Option<String>,
    tasks: TaskHosts,
    host: usize,
    cgroup: Option<usize>,
    after: Vec<String>,
    start: Nanos,
    /// The first number of a table of descriptors that is free.
    table: u32,
}

impl Adding {
    fn process(&self, process: WorkloadProcess) -> Process {
        let name = |name: &Arc<str>| match &self.prefix {
            Some(prefix) => format!("{prefix}.{name}").into(),
            None => Arc::clone(name),
        };
        let slots = process.slots.as_ref().map(|slots| self.tasks.slots(slots));
        let outer = self.after.iter().map(|name| name.as_str().into()).filter(|_| process.after.is_empty());
        Process {
            name: name(&process.name),
            host: slots.as_ref().map_or(self.host, |slots| slots.hosts[0]),
            cgroup: self.cgroup,
            after: process.after.iter().map(name).chain(outer).collect(),
            start: self.start + process.start,
            descriptors: process.descriptors.map(|table| self.table + table),
            ioprio: process.ioprio,
            slots,
            program: process.program,
        }
    }
}

fn options(fields: &Fields<'_>, host: &Host, shell: Shell<'_>) -> Result<Options, ScenarioError> {
    let pace = match fields.get::<String>("pace")? {
        None => Pace::default(),
        Some(text) => Pace::parse(&text).ok_or_else(|| {
            let what = format!("`pace` is \"{}\"", shorten(&text));
            fields
                .place("pace")
                .error(what, "write \"recorded\", \"fast\", or a factor above 0 such as \"0.5\"")
        })?,
    };
    let placement = placement(fields, host)?;
    Ok(Options {
        surroundings: Surroundings {
            fio_overhead: match fields.get("fio_overhead")? {
                Some(given) => given,
                None => Nanos::from_seconds(CALLS_OF_A_REQUEST * host.memory.cost.call.as_seconds()),
            },
            ..surroundings(host, &placement.dir, shell)
        },
        placement,
        lenient: fields.get("lenient")?.unwrap_or(false),
        pace,
        replay: fields.word("replay", &Replay::ALL)?.unwrap_or_default(),
        columns: fields.get("columns")?,
        workflow: workflow(fields)?,
        strace: Strace {
            overhead: fields.get("strace_overhead")?,
            system_files: fields.get("system_files")?.unwrap_or(false),
        },
    })
}

/// What a job file may ask for: the shell's variables, and the host with the disk that relative paths go to.
fn surroundings(host: &Host, dir: &str, shell: Shell<'_>) -> Surroundings {
    let mounts = host.mounts.iter().filter(|mount| is_below(dir, &mount.path));
    let disk = mounts.max_by_key(|mount| mount.path.len()).and_then(|mount| match mount.source {
        MountSource::Disk(disk) => host.disks.get(disk),
        MountSource::Nfs { .. } | MountSource::Striped(_) | MountSource::Tmpfs => None,
    });
    Surroundings {
        environment: shell.environment.clone(),
        memory: host.memory.size,
        cores: host.cores,
        room: disk.map(|disk| disk.size),
        fio_overhead: Nanos::ZERO,
    }
}

fn is_below(path: &str, mount: &str) -> bool {
    let rest = path.strip_prefix(mount.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn workflow(fields: &Fields<'_>) -> Result<Workflow, ScenarioError> {
    let usual = Workflow::default();
    Ok(Workflow {
        order: fields.word("task_order", &ListOrder::ALL)?.unwrap_or(usual.order),
        compute: fields.word("compute", &Compute::ALL)?.unwrap_or(usual.compute),
        speed: fields.get("core_speed")?.unwrap_or(usual.speed),
        on_recorded_machines: fields.word("machines", &[true, false])?.unwrap_or(usual.on_recorded_machines),
    })
}

/// The host whose mounts are those of the workload.
fn first_host(fields: &Fields<'_>, hosts: &Hosts<'_>) -> Result<usize, ScenarioError> {
    match fields.get::<Vec<String>>("hosts")?.as_deref() {
        Some([first, ..]) => find_host(first, hosts, fields.place("hosts")),
        _ => host_of(fields, hosts),
    }
}

fn placement(fields: &Fields<'_>, host: &Host) -> Result<Placement, ScenarioError> {
    let mounts: Vec<String> = host.mounts.iter().map(|mount| mount.path.clone()).collect();
    let dir = match fields.get::<String>("files_in")? {
        Some(dir) => dir,
        None => match mounts.iter().find(|mount| *mount == "/").or(mounts.first()) {
            Some(mount) => mount.clone(),
            None => {
                let what = format!("host `{}` has no mount for the files of a workload", host.name);
                return Err(fields.at.error(what, "give the machine a [machine.mount.\"/data\"]"));
            }
        },
    };
    Ok(Placement::new(mounts, dir))
}

fn open(fields: &Fields<'_>, base: &Path) -> Result<(Input, String), ScenarioError> {
    let from = fields.need::<String>("from")?;
    if from == "-" {
        return Ok((Input::open(Path::new("-"), "<stdin>")?, "<stdin>".to_owned()));
    }
    let path = base.join(&from);
    let name = path.display().to_string();
    let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
    let input = Input::open(&path, &name).map_err(|error| {
        let at: &Place = fields.place("from");
        at.error(format!("\"{}\" {}", shorten(&name), error.what), error.remedy)
    })?;
    Ok((input, name))
}

fn format(fields: &Fields<'_>, input: &Input) -> Result<&'static Format, ScenarioError> {
    let known = || FORMATS.iter().map(|format| format.name);
    match fields.get::<String>("format")? {
        Some(name) => format_called(&name).ok_or_else(|| {
            let what = format!("there is no format `{}`", shorten(&name));
            fields.place("format").error(what, hint(&name, known(), "formats"))
        }),
        None => format_of(&input.origin, &input.head).ok_or_else(|| {
            let what = format!("\"{}\" is of no format that is known", shorten(&input.origin));
            let names: Vec<&str> = known().collect();
            fields.place("from").error(what, format!("name it with format = \"...\": {}", list(&names)))
        }),
    }
}
