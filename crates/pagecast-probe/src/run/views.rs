//! The folder of a run, as each host sees it.
//!
//! Hosts may have directories of their own. Those that share files share one folder: it is made in the directory of one of them, and must show
//! in that of every other, as an export shows in the mounts of its clients. A host without a directory sees what one sees that shares files
//! with it.

use std::path::{Path, PathBuf};

use super::error::RunError;
use super::hosts::Hosts;
use crate::filesystem::Kind;
use crate::io::{Folder, Place, Workplace};
use crate::warm::available;

/// Where the hosts of a run have their files.
#[derive(Clone, Debug, Default)]
pub struct Directories {
    /// That of all hosts that have none of their own.
    pub all: Option<PathBuf>,
    /// Those of hosts, by name.
    pub of_host: Vec<(String, PathBuf)>,
}

/// A directory of a run.
#[derive(Clone, Debug)]
pub struct HostPlace {
    /// The hosts that see their files through it.
    pub hosts: Vec<String>,
    /// The directory.
    pub directory: PathBuf,
    /// The file system and disk that it is on.
    pub place: Place,
}

impl Directories {
    /// One for all hosts.
    #[must_use]
    pub fn of_all(directory: &Path) -> Self {
        Self { all: Some(directory.to_owned()), of_host: Vec::new() }
    }

    /// The directory that each host has, or that of the host whose it sees; `is_used` says of which hosts files are named.
    ///
    /// # Errors
    /// [`RunError::NoHost`] and [`RunError::NoDirectory`].
    pub(super) fn resolve(
        &self,
        hosts: &Hosts,
        is_used: impl Fn(usize) -> bool,
    ) -> Result<Vec<Option<&Path>>, RunError> {
        if let Some((name, _)) = self.of_host.iter().find(|(name, _)| hosts.names().all(|host| host != name))
        {
            let known = hosts.names().collect::<Vec<_>>().join(", ");
            return Err(RunError::NoHost { name: name.clone(), hosts: known });
        }
        let named = |host: usize| {
            let own = self.of_host.iter().rev().find(|(name, _)| name == hosts.name(host));
            own.map(|(_, directory)| directory.as_path()).or(self.all.as_deref())
        };
        let through = |host: usize| {
            named(host)
                .or_else(|| (0..hosts.count()).filter(|&other| hosts.share(host, other)).find_map(named))
        };
        (0..hosts.count())
            .map(|host| match through(host) {
                None if is_used(host) => Err(RunError::NoDirectory { host: hosts.name(host).to_owned() }),
                directory => Ok(directory),
            })
            .collect()
    }

    /// Checks each directory: that it can be written to, is on a disk, and has `space` left for `plan`.
    pub(super) fn check(
        &self,
        hosts: &Hosts,
        is_used: impl Fn(usize) -> bool,
        space: pagecast_core::units::Bytes,
    ) -> Result<Vec<HostPlace>, RunError> {
        let mut places: Vec<HostPlace> = Vec::new();
        for (host, directory) in self.resolve(hosts, is_used)?.into_iter().enumerate() {
            let Some(directory) = directory else { continue };
            let name = hosts.name(host).to_owned();
            if let Some(known) = places.iter_mut().find(|known| known.directory == directory) {
                known.hosts.push(name);
                continue;
            }
            let (folder, file_system) = Folder::open_on_disk(directory)?;
            folder.check_room(space)?;
            let place = Place { file_system, free: folder.space()?.free, available: available()? };
            places.push(HostPlace { hosts: vec![name], directory: directory.to_owned(), place });
        }
        Ok(places)
    }
}

enum Seen {
    Made(Workplace),
    Shown(Folder),
}

impl Seen {
    fn folder(&self) -> &Folder {
        match self {
            Self::Made(workplace) => workplace.folder(),
            Self::Shown(folder) => folder,
        }
    }
}

struct View {
    directory: PathBuf,
    seen: Seen,
    kind: Kind,
    /// The host that sees it first.
    host: usize,
    /// The number of the view that was made, if this shows another.
    tree: usize,
}

/// The folders of a run; they are removed when this is dropped.
pub(super) struct Views {
    all: Vec<View>,
    of_host: Vec<usize>,
}

impl Views {
    /// Makes the folders.
    ///
    /// # Errors
    /// [`RunError`]; [`RunError::NotShared`] if a directory does not show what it must.
    pub fn make(
        hosts: &Hosts,
        directories: &Directories,
        is_used: impl Fn(usize) -> bool,
    ) -> Result<Self, RunError> {
        let (mut all, mut of_host): (Vec<View>, Vec<usize>) = (Vec::new(), Vec::new());
        for (host, directory) in directories.resolve(hosts, is_used)?.into_iter().enumerate() {
            let Some(directory) = directory else {
                of_host.push(0);
                continue;
            };
            let known = all.iter().position(|view| view.directory == directory);
            let at = known.map_or_else(|| View::add(&mut all, host, directory), Ok)?;
            let shares = |other: &usize| directories.has(hosts, *other) && hosts.share(host, *other);
            if let Some(other) =
                (0..host).filter(shares).find(|&other| all[of_host[other]].tree != all[at].tree)
            {
                return Err(RunError::NotShared {
                    directory: directory.to_owned(),
                    host: hosts.name(host).to_owned(),
                    other: hosts.name(other).to_owned(),
                    shown: all[of_host[other]].directory.clone(),
                });
            }
            of_host.push(at);
        }
        Ok(Self { all, of_host })
    }

    /// The folder as a host sees it.
    pub fn folder(&self, host: usize) -> &Folder {
        self.all[self.of_host[host]].seen.folder()
    }

    /// The kind of file system that it is on.
    pub fn kind(&self, host: usize) -> Kind {
        self.all[self.of_host[host]].kind
    }

    /// All folders.
    pub fn folders(&self) -> impl Iterator<Item = &Folder> {
        self.all.iter().map(|view| view.seen.folder())
    }

    /// All folders that show the files of a host, each with the first host that sees it so.
    pub fn showing(&self, host: usize) -> impl Iterator<Item = (usize, &Folder, Kind)> {
        let tree = self.all[self.of_host[host]].tree;
        let same = self.all.iter().filter(move |view| view.tree == tree);
        same.map(|view| (view.host, view.seen.folder(), view.kind))
    }

    /// They stay, and are the user's from now on; gives the first of them.
    pub fn keep(&mut self) -> Option<PathBuf> {
        let made = self.all.iter_mut().filter_map(|view| match &mut view.seen {
            Seen::Made(workplace) => Some(workplace),
            Seen::Shown(_) => None,
        });
        let paths: Vec<PathBuf> = made
            .map(|workplace| {
                workplace.keep();
                std::path::absolute(workplace.path()).unwrap_or_else(|_| workplace.path().to_owned())
            })
            .collect();
        paths.into_iter().next()
    }
}

impl Directories {
    /// True if a host has a directory that was named for it, or for all.
    fn has(&self, hosts: &Hosts, host: usize) -> bool {
        self.all.is_some() || self.of_host.iter().any(|(name, _)| name == hosts.name(host))
    }
}

impl View {
    /// Adds the folder of a directory: one that another has made and that shows here, or a new one.
    fn add(all: &mut Vec<Self>, host: usize, directory: &Path) -> Result<usize, RunError> {
        let shown = all.iter().enumerate().find_map(|(tree, view)| match &view.seen {
            Seen::Made(made) => Some((tree, Folder::open(&directory.join(made.path().file_name()?)).ok()?)),
            Seen::Shown(_) => None,
        });
        let at = all.len();
        let (tree, seen) = match shown {
            Some((tree, folder)) => (tree, Seen::Shown(folder)),
            None => (at, Seen::Made(Workplace::create(directory, "run")?)),
        };
        let kind = seen.folder().file_system()?.kind;
        all.push(Self { directory: directory.to_owned(), seen, kind, host, tree });
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::hosts::{Host, Mount, Source};
    use super::*;

    fn hosts() -> Hosts {
        let mount = |path, source| Mount { path, source };
        Hosts::new(&[
            Host { name: "client", mounts: vec![mount("/data", Source::Server(1, "/export"))] },
            Host { name: "server", mounts: vec![mount("/export", Source::Here)] },
            Host { name: "other", mounts: vec![mount("/data", Source::Here)] },
        ])
    }

    fn own(of_host: &[(&str, &Path)]) -> Directories {
        let of_host = of_host.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect();
        Directories { all: None, of_host }
    }

    #[test]
    fn a_host_without_a_directory_sees_what_one_sees_that_shares_files_with_it() {
        let (hosts, place) = (hosts(), tempfile::tempdir().unwrap());
        let directories = own(&[("client", place.path())]);
        let error = directories.resolve(&hosts, |_| true).unwrap_err().to_string();
        assert_eq!(
            error,
            "host `other` has no directory; name one with --dir other=DIR, or one for all with --dir DIR"
        );
        let found = directories.resolve(&hosts, |host| host < 2).unwrap();
        assert_eq!(found, [Some(place.path()), Some(place.path()), None]);
        let error = own(&[("sever", place.path())]).resolve(&hosts, |_| true).unwrap_err().to_string();
        assert_eq!(error, "--dir sever=...: there is no host `sever`; there are client, server, other");
    }

    #[test]
    fn hosts_that_share_files_need_directories_that_show_the_same() {
        let hosts = hosts();
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error =
            Views::make(&hosts, &own(&[("client", one.path()), ("server", two.path())]), |host| host < 2);
        let text = error.err().unwrap().to_string();
        assert!(text.contains("host `server` shares files with host `client`"), "{text}");
        // A link shows the same directory, as the mount of an export does.
        let link = two.path().join("link");
        std::os::unix::fs::symlink(one.path(), &link).unwrap();
        let directories = own(&[("client", one.path()), ("server", &link), ("other", two.path())]);
        let views = Views::make(&hosts, &directories, |_| true).unwrap();
        std::fs::write(views.folder(0).sure_path().join("f"), "Z").unwrap();
        assert_eq!(std::fs::read_to_string(views.folder(1).sure_path().join("f")).unwrap(), "Z");
        assert_eq!((views.showing(0).count(), views.showing(2).count(), views.folders().count()), (2, 1, 3));
        drop(views);
        let left = |place: &Path| std::fs::read_dir(place).unwrap().count();
        assert_eq!((left(one.path()), left(two.path())), (0, 1), "the link stays");
    }
}
