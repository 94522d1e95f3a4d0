//! Finds the hosts that keys name.

use rustc_hash::FxHashMap;

use super::document::{Place, shorten};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::nearest::hint;

/// The index of each host by its name.
pub type Hosts<'a> = FxHashMap<&'a str, usize>;

/// The index of a host, or an error that names the nearest.
///
/// # Errors
/// If there is no such host.
pub fn find_host(name: &str, hosts: &Hosts<'_>, at: &Place) -> Result<usize, ScenarioError> {
    hosts.get(name).copied().ok_or_else(|| {
        let mut known: Vec<_> = hosts.iter().map(|(name, index)| (index, *name)).collect();
        known.sort_unstable();
        let remedy = hint(name, known.into_iter().map(|(_, name)| name), "hosts");
        at.error(format!("there is no host `{}`", shorten(name)), remedy)
    })
}

/// The host that a file or process names, or the first.
///
/// # Errors
/// If there is no such host.
pub fn host_of(fields: &Fields<'_>, hosts: &Hosts<'_>) -> Result<usize, ScenarioError> {
    let name = fields.get::<String>("host")?;
    name.map_or(Ok(0), |name| find_host(&name, hosts, fields.place("host")))
}
