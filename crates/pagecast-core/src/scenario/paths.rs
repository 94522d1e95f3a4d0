//! Normalizes absolute paths, and finds the mount they are under.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::document::{Place, shorten};
use crate::error::ScenarioError;
use crate::fs::striped::kept_at;
use crate::machine::{Host, Machine, MountSource, StripeServer, Striped};
use crate::nearest::list;

/// The path without a slash at its end and without empty or "." parts.
///
/// # Errors
/// A path that is not absolute, and one with "..", which would depend on links that nobody described.
pub fn normalise(path: &str, at: &Place) -> Result<String, ScenarioError> {
    let wrong =
        |what: &str, remedy: &str| Err(at.error(format!("the path \"{}\" {what}", shorten(path)), remedy));
    if !path.starts_with('/') {
        return wrong("is not absolute", "begin it with `/`");
    }
    if path.contains(char::is_control) {
        return wrong("has a control character", "remove it");
    }
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
    if parts.peek().is_none() {
        return Ok("/".to_owned());
    }
    let mut normal = String::with_capacity(path.len());
    for part in parts {
        if part == ".." {
            return wrong("has \"..\" in it", "write the path out");
        }
        normal.push('/');
        normal.push_str(part);
    }
    Ok(normal)
}

/// Where the bytes of a file are, which for NFS are the server's.
pub struct Home {
    /// The host.
    pub host: usize,
    /// The disk of the host.
    pub disk: usize,
    /// The path as that host sees it.
    pub path: Arc<str>,
}

/// Finds the mount of a path, for every host of a machine.
pub struct Mounts<'a> {
    machine: &'a Machine,
    hosts: &'a [Host],
    by_path: Vec<FxHashMap<&'a str, usize>>,
}

impl<'a> Mounts<'a> {
    /// The machine.
    pub fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// A host of the machine.
    pub fn host(&self, index: usize) -> &'a Host {
        &self.hosts[index]
    }

    /// Prepares the search.
    pub fn new(machine: &'a Machine) -> Self {
        let index = |host: &'a Host| {
            host.mounts.iter().enumerate().map(|(i, mount)| (mount.path.as_str(), i)).collect()
        };
        Self { machine, hosts: &machine.hosts, by_path: machine.hosts.iter().map(index).collect() }
    }

    /// The index of the nearest mount above `path`, which is normal. A mount point is not under itself, and "/" is under none.
    pub fn find(&self, host: usize, path: &str) -> Option<usize> {
        let mut rest = if path == "/" { "" } else { path };
        while let Some(slash) = rest.rfind('/') {
            rest = &rest[..slash];
            if let Some(&mount) = self.by_path[host].get(if rest.is_empty() { "/" } else { rest }) {
                return Some(mount);
            }
        }
        None
    }

    /// Whether something is mounted at a path.
    pub fn has(&self, host: usize, path: &str) -> bool {
        self.by_path[host].contains_key(path)
    }

    /// As [`Mounts::find`], with an error that names the mounts.
    ///
    /// # Errors
    /// If no mount covers the path.
    pub fn need(&self, host: usize, path: &str, at: &Place) -> Result<usize, ScenarioError> {
        self.find(host, path).ok_or_else(|| {
            let host = &self.hosts[host];
            let mounts: Vec<&str> = host.mounts.iter().map(|mount| mount.path.as_str()).collect();
            let known = if mounts.is_empty() { "none".to_owned() } else { list(&mounts) };
            let what = format!("the path \"{}\" is under no mount of host `{}`", shorten(path), host.name);
            at.error(what, format!("correct it or add a mount (there are: {known})"))
        })
    }

    /// Where a host's file has its bytes.
    ///
    /// # Errors
    /// If no mount covers the path.
    pub fn home(&self, host: usize, path: &Arc<str>, at: &Place) -> Result<Home, ScenarioError> {
        let at_mount = self.need(host, path, at)?;
        let mount = &self.hosts[host].mounts[at_mount];
        match mount.source {
            MountSource::Disk(disk) => Ok(Home { host, disk, path: Arc::clone(path) }),
            MountSource::Tmpfs => {
                Ok(Home { host, disk: self.hosts[host].device_of(at_mount), path: Arc::clone(path) })
            }
            MountSource::Nfs { server, export, .. } => {
                let export = &self.hosts[server].mounts[export];
                let MountSource::Disk(disk) = export.source else {
                    panic!("an export has a disk; the machine's reader saw to it");
                };
                let below = &path[mount.path.trim_end_matches('/').len()..];
                let path = format!("{}{below}", export.path.trim_end_matches('/'));
                Ok(Home { host: server, disk, path: path.into() })
            }
            MountSource::Striped(Striped { metadata: StripeServer { host, mount: at, .. }, .. }) => {
                let kept = &self.hosts[host].mounts[at];
                let disk = self.hosts[host].device_of(at);
                Ok(Home { host, disk, path: kept_at(&kept.path, path, &mount.path) })
            }
        }
    }

    /// Whether a mount point of the host is `prefix` with more after it, so that it could cover what begins so.
    pub fn may_be_below(&self, host: usize, prefix: &str) -> bool {
        self.hosts[host].mounts.iter().any(|mount| mount.path.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn normal(path: &str) -> Result<String, String> {
        normalise(path, &Place::whole("x.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_has_one_normal_form() {
        assert_eq!(normal("/data/f1"), Ok("/data/f1".into()));
        assert_eq!(normal("/data//./f1//"), Ok("/data/f1".into()));
        assert_eq!(normal("//"), Ok("/".into()));
        assert_eq!(normal("/data/...f"), Ok("/data/...f".into()));
    }

    #[test]
    fn a_relative_path_is_refused() {
        assert_snapshot!(normal("data/f1").unwrap_err(), @r#"x.toml: the path "data/f1" is not absolute; begin it with `/`"#);
        assert_snapshot!(normal("").unwrap_err(), @r#"x.toml: the path "" is not absolute; begin it with `/`"#);
    }

    #[test]
    fn two_dots_are_refused() {
        assert_snapshot!(normal("/data/../f1").unwrap_err(), @r#"x.toml: the path "/data/../f1" has ".." in it; write the path out"#);
    }

    #[test]
    fn control_characters_are_refused() {
        assert_snapshot!(normal("/da\0ta").unwrap_err(), @r#"x.toml: the path "/da\u{0}ta" has a control character; remove it"#);
    }
}
