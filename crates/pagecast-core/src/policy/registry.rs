//! All policies by name.

use super::endless_cache::EndlessCache;
use super::kernel::{Kernel, KernelOptions};
use super::no_cache::NoCache;
use super::wrench::{Wrench, WrenchOptions};
use super::{Options, Policy, Setting};
use crate::error::ScenarioError;
use crate::scenario::nearest::hint;

/// The models there are, in the order in which they are shown.
pub const MODELS: [&str; 4] = ["kernel", "wrench", "no-cache", "endless-cache"];

/// Makes the page cache of one host.
///
/// # Errors
/// A model that does not exist, or an option that it does not have or that does not fit.
pub fn make(
    model: &str,
    setting: &Setting<'_>,
    options: &Options<'_>,
) -> Result<Box<dyn Policy>, ScenarioError> {
    let memory = setting.host.memory.size;
    match model {
        "kernel" => Ok(Box::new(Kernel::new(setting, KernelOptions::read(options, setting.host)?))),
        "wrench" => {
            let wrench_options = WrenchOptions::read(options, &setting.host.vm)?;
            Ok(Box::new(Wrench::new(memory, setting.memory_read, setting.memory_write, wrench_options)))
        }
        "no-cache" => options.only(&[]).map(|()| Box::new(NoCache::new(memory)) as _),
        "endless-cache" => {
            options.only(&[])?;
            Ok(Box::new(EndlessCache::new(memory, setting.memory_read, setting.memory_write)))
        }
        _ => Err(ScenarioError {
            place: options.origin.to_owned(),
            what: format!("there is no model `{model}`"),
            remedy: hint(model, MODELS, "models"),
        }),
    }
}
