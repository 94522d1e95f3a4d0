//! The hosts of a scenario, and where their files are in the folder of a run.
//!
//! A file has one home: the mount of the host that keeps it, whichever host names it. A mount of NFS shows the exported mount of its server; a
//! striped one is a home of its own, which all hosts share that mount the same servers. The home of a lone host is its mount.

use std::path::{Path, PathBuf};

use pagecast_core::error::SimulationError;

use super::error::RunError;

/// A host as far as a run is concerned.
#[derive(Clone, Debug)]
pub struct Host<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its mounts.
    pub mounts: Vec<Mount<'a>>,
}

/// A mount of a host.
#[derive(Clone, Debug)]
pub struct Mount<'a> {
    /// Its path on the host.
    pub path: &'a str,
    /// Who keeps its files.
    pub source: Source<'a>,
}

/// Who keeps the files of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// The host itself.
    Here,
    /// Another host, by index, in its mount of this path.
    Server(usize, &'a str),
    /// Several hosts, by index, each a part of them in its mount of this path.
    Striped(Vec<(usize, &'a str)>),
}

/// The hosts, with the homes of their mounts.
#[derive(Debug)]
pub(super) struct Hosts {
    all: Vec<OneHost>,
}

#[derive(Debug)]
struct OneHost {
    name: String,
    mounts: Vec<OneMount>,
    /// The hosts whose files it can see, and that can see its own; itself among them.
    group: usize,
}

#[derive(Debug)]
struct OneMount {
    path: String,
    home: PathBuf,
}

impl Hosts {
    pub fn new(hosts: &[Host<'_>]) -> Self {
        let mut stripes: Vec<&[(usize, &str)]> = Vec::new();
        let mut groups: Vec<usize> = (0..hosts.len()).collect();
        let mut all = Vec::with_capacity(hosts.len());
        for (at, host) in hosts.iter().enumerate() {
            let mut mounts = Vec::with_capacity(host.mounts.len());
            for mount in &host.mounts {
                let own = |host: usize, path: &str| {
                    let within = path.trim_start_matches('/');
                    if hosts.len() == 1 {
                        PathBuf::from(within)
                    } else {
                        Path::new(hosts[host].name).join(within)
                    }
                };
                let home = match &mount.source {
                    Source::Here => own(at, mount.path),
                    &Source::Server(server, path) => {
                        join(&mut groups, at, server);
                        own(server, path)
                    }
                    Source::Striped(servers) => {
                        servers.iter().for_each(|&(server, _)| join(&mut groups, at, server));
                        let known = stripes.iter().position(|other| other == servers);
                        let number = known.unwrap_or_else(|| {
                            stripes.push(servers);
                            stripes.len() - 1
                        });
                        PathBuf::from(format!("striped{number}"))
                    }
                };
                mounts.push(OneMount { path: mount.path.to_owned(), home });
            }
            all.push(OneHost { name: host.name.to_owned(), mounts, group: 0 });
        }
        for (host, group) in all.iter_mut().zip(groups) {
            host.group = group;
        }
        Self { all }
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|host| host.name.as_str())
    }

    pub fn name(&self, host: usize) -> &str {
        &self.all[host].name
    }

    /// True if two hosts have files in common, or may have through others.
    pub fn share(&self, one: usize, other: usize) -> bool {
        self.all[one].group == self.all[other].group
    }

    /// The home of the mount that a path is below: of that with the longest path.
    pub fn home(&self, host: usize, path: &str) -> Option<&Path> {
        self.covering(host, path).map(|mount| &*mount.home)
    }

    /// Where a path of a host is in the folder of the run.
    pub fn within(&self, host: usize, path: &str) -> Option<PathBuf> {
        let mount = self.covering(host, path)?;
        let rest = path[mount.path.trim_end_matches('/').len()..].trim_start_matches('/');
        Some(if rest.is_empty() { mount.home.clone() } else { mount.home.join(rest) })
    }

    fn covering(&self, host: usize, path: &str) -> Option<&OneMount> {
        let is_below = |mount: &&OneMount| {
            path.strip_prefix(mount.path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        };
        self.all[host].mounts.iter().filter(is_below).max_by_key(|mount| mount.path.len())
    }

    /// The error of a path that is below no mount of its host.
    pub fn no_mount(&self, host: usize, path: &str, place: String, who: String) -> RunError {
        let of = &self.all[host];
        let mounts: Vec<&str> = of.mounts.iter().map(|mount| mount.path.as_str()).collect();
        let mounts = if mounts.is_empty() { "none".to_owned() } else { mounts.join(", ") };
        SimulationError::NoMount { place, who, path: path.into(), host: of.name.clone(), mounts }.into()
    }
}

/// Puts two hosts, and those with them, into one group.
fn join(groups: &mut [usize], one: usize, other: usize) {
    let (into, from) = (groups[one].min(groups[other]), groups[one].max(groups[other]));
    groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = into);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host<'a>(name: &'a str, mounts: &[(&'a str, Source<'a>)]) -> Host<'a> {
        let mounts = mounts.iter().map(|(path, source)| Mount { path, source: source.clone() }).collect();
        Host { name, mounts }
    }

    #[test]
    fn a_file_of_nfs_has_its_home_on_the_server() {
        let hosts = Hosts::new(&[
            host("client", &[("/data", Source::Server(1, "/export")), ("/", Source::Here)]),
            host("server", &[("/export", Source::Here)]),
            host("other", &[("/data", Source::Here)]),
        ]);
        let within = |host, path| hosts.within(host, path).map(|path| path.display().to_string());
        assert_eq!(within(0, "/data/a/f").as_deref(), Some("server/export/a/f"));
        assert_eq!(within(1, "/export/a/f").as_deref(), Some("server/export/a/f"));
        assert_eq!(within(0, "/tmp/f").as_deref(), Some("client/tmp/f"));
        assert_eq!(within(2, "/data/f").as_deref(), Some("other/data/f"));
        assert_eq!(within(1, "/data/f"), None);
        assert!(hosts.share(0, 1) && !hosts.share(1, 2));
        assert_eq!(hosts.home(0, "/data/f"), Some(Path::new("server/export")));
    }

    #[test]
    fn a_striped_mount_is_the_same_for_all_that_mount_the_same_servers() {
        let striped = |hosts: &[usize]| Source::Striped(hosts.iter().map(|&host| (host, "/data")).collect());
        let hosts = Hosts::new(&[
            host("a", &[("/pvfs", striped(&[2, 3]))]),
            host("b", &[("/scratch", striped(&[2, 3])), ("/one", striped(&[2]))]),
            host("io0", &[("/data", Source::Here)]),
            host("io1", &[("/data", Source::Here)]),
        ]);
        assert_eq!(hosts.within(0, "/pvfs/f"), hosts.within(1, "/scratch/f"));
        assert_ne!(hosts.within(1, "/one/f"), hosts.within(1, "/scratch/f"));
        assert!((0..4).all(|host| hosts.share(0, host)));
    }

    #[test]
    fn a_lone_host_has_its_mounts_in_the_folder() {
        let hosts = Hosts::new(&[host("host", &[("/data", Source::Here)])]);
        assert_eq!(hosts.within(0, "/data/f"), Some(PathBuf::from("data/f")));
    }
}
