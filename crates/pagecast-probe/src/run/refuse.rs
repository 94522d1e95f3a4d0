//! Refuses what one machine, and an ordinary process on it, does not have.

use pagecast_core::readers::Level;
use pagecast_core::stdio::{Library, LibraryCall};
use pagecast_core::workload::{Action, Operation};

use super::error::RunError;
use super::plan::{Job, MOST_DEPTH, OPEN_LOOP};

/// Refuses scenarios that no run can have.
pub(super) fn check_real(job: &Job<'_>) -> Result<(), RunError> {
    let unreal = |what: String, remedy| RunError::Unreal { place: job.origin.to_owned(), what, remedy };
    if let Some(source) = job.sources.iter().find(|source| source.level != Level::Files) {
        let of = if source.level == Level::Blocks { "a device" } else { "numbered objects" };
        let what = format!("{}, whose requests are to {of} and not to files,", source.name);
        return Err(unreal(what, "simulate it"));
    }
    if let Some(process) = job.processes.iter().find(|process| process.slots.is_some()) {
        let what = format!("process `{}` with `slots`, for which nobody keeps cores free,", process.name);
        return Err(unreal(what, "leave `slots` out, or forecast it: pagecast simulate"));
    }
    if let Some(process) = job.processes.iter().find(|process| process.cgroup.is_some()) {
        let what = format!("process `{}` in a memory cgroup of its own", process.name);
        let remedy = "leave `cgroup` out and start pagecast itself in one: systemd-run --scope -p MemoryMax=4G pagecast run ...";
        return Err(unreal(what, remedy));
    }
    Ok(())
}

/// Refuses operations that only a simulation can do; `place` says where one is written.
pub(super) fn check_operation(operation: &Operation, place: impl FnOnce() -> String) -> Result<(), RunError> {
    let name = operation.action.name();
    let (what, remedy) = match operation {
        Operation { action: Action::Stream { call: LibraryCall::Open { library, .. }, .. }, .. }
            if *library != Library::C =>
        {
            (
                format!("a stream of {}, which this program does not have,", library.name()),
                "leave `stream` out, or write what its library asks the kernel: `write` and `read` with `call`",
            )
        }
        Operation { action: Action::Pattern(pattern), .. } if pattern.depth > MOST_DEPTH => {
            let depth = pattern.depth;
            (
                format!("a pattern with a `depth` of {depth}, for each of which a thread is needed,"),
                "simulate it",
            )
        }
        Operation { depth: Some(depth), action, .. }
            if action.may_be_asynchronous() && depth.get() > MOST_DEPTH && *depth != OPEN_LOOP =>
        {
            (
                format!("a {name} with a `depth` of {depth}, for each of which a thread is needed,"),
                "simulate it",
            )
        }
        _ => return Ok(()),
    };
    Err(RunError::Unreal { place: place(), what, remedy })
}
