//! Makes policies by name.

use super::cawl::Cawl;
use super::endless_cache::EndlessCache;
use super::kernel::{Kernel, KernelOptions};
use super::no_cache::NoCache;
use super::wrench::{Wrench, WrenchOptions};
use super::{Options, Policy, Setting};
use crate::error::ScenarioError;
use crate::machine::Machine;
use crate::nearest::hint;

/// The models that answer for any workload, in the order in which they are shown.
pub const MODELS: [&str; 4] = ["kernel", "wrench", "no-cache", "endless-cache"];

/// All models: also those that answer for some workloads only, and are asked by name.
pub const ALL_MODELS: [&str; 5] = ["kernel", "wrench", "cawl", "no-cache", "endless-cache"];

/// The models that can answer for a machine, whatever runs on it: they know all its parts.
pub fn models_for(machine: &Machine) -> impl Iterator<Item = &'static str> {
    let has_cgroups = machine.hosts.iter().any(|host| !host.cgroups.is_empty());
    MODELS.into_iter().filter(move |&model| !has_cgroups || knows_cgroups(model))
}

fn knows_cgroups(model: &str) -> bool {
    model == "kernel"
}

/// Makes the page cache of one host.
///
/// # Errors
/// A model that does not exist or knows no memory cgroups where the host has some, or an option that it does not have or that does not fit.
pub fn make(
    model: &str,
    setting: &Setting<'_>,
    options: &Options<'_>,
) -> Result<Box<dyn Policy>, ScenarioError> {
    let memory = setting.host.memory.size;
    if ALL_MODELS.contains(&model) && !knows_cgroups(model) && !setting.host.cgroups.is_empty() {
        return Err(ScenarioError {
            place: options.origin.to_owned(),
            what: format!(
                "model `{model}` knows no memory cgroups, and host `{}` has some",
                setting.host.name
            ),
            remedy: "ask model `kernel`, or remove the cgroups".to_owned(),
        });
    }
    match model {
        "kernel" => Ok(Box::new(Kernel::new(setting, &KernelOptions::read(options, setting.host)?))),
        "wrench" => {
            let wrench_options = WrenchOptions::read(options, &setting.host.vm)?;
            Ok(Box::new(Wrench::new(memory, setting.memory_read, setting.memory_write, wrench_options)))
        }
        "cawl" => Ok(Box::new(Cawl::new(setting.host, options)?)),
        "no-cache" => options.only(&[]).map(|()| Box::new(NoCache::new(memory)) as _),
        "endless-cache" => {
            options.only(&[])?;
            Ok(Box::new(EndlessCache::new(memory, setting.memory_read, setting.memory_write)))
        }
        _ => Err(ScenarioError {
            place: options.origin.to_owned(),
            what: format!("there is no model `{model}`"),
            remedy: hint(model, ALL_MODELS, "models"),
        }),
    }
}
