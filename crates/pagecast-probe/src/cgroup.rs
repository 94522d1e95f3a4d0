//! Puts a command into a memory cgroup: the experiment "with less memory" on a machine that has more.
//!
//! Both versions. v2 (`memory.max`): the group has dirty limits of its own. v1 (`memory.limit_in_bytes`): dirty pages are limited by the
//! whole machine only. A group is made below our own, beside it, or below the root, wherever the kernel lets us.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use pagecast_core::units::Bytes;

use crate::error::{ProbeError, shown};
use crate::mountinfo::{self, Mounted};

/// The two interfaces of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
}

impl Version {
    /// 1 or 2.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    fn limit_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.limit_in_bytes",
            Self::V2 => "memory.max",
        }
    }

    fn peak_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.max_usage_in_bytes",
            Self::V2 => "memory.peak",
        }
    }

    /// The file with a line `oom_kill N`.
    fn kills_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.oom_control",
            Self::V2 => "memory.events",
        }
    }
}

/// A memory cgroup of our own; it is removed, with what still runs in it, when this is dropped.
#[derive(Debug)]
pub struct MemoryGroup {
    directory: PathBuf,
    version: Version,
    limit: Bytes,
}

/// Counts the groups that this process has made, for their names.
static MADE: AtomicU32 = AtomicU32::new(0);
/// The names of our groups: this, the number of the process that made it, and a running number.
const PREFIX: &str = "pagecast-";
/// How long the kernel may take to remove the processes of a group that were killed.
const REMOVAL: Duration = Duration::from_secs(2);
const REMOVAL_STEP: Duration = Duration::from_millis(10);

impl MemoryGroup {
    /// Makes an empty group that may use `limit` bytes.
    ///
    /// # Errors
    /// [`ProbeError::Group`] if there is no place where we may make one.
    pub fn create(limit: Bytes) -> Result<Self, ProbeError> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut reasons = Vec::new();
        for (parent, version) in places(&own, &mountinfo::read()) {
            match Self::create_below(&parent, version, limit) {
                Ok(group) => return Ok(group),
                Err(error) => reasons.push(format!("{}: {error}", shown(&parent))),
            }
        }
        if reasons.is_empty() {
            reasons.push("this kernel shows no memory controller".to_owned());
        }
        Err(ProbeError::Group(format!(
            "no memory cgroup can be made ({}); run it as root, or let systemd limit all of it: systemd-run --user --scope \
             -p MemoryMax={} pagecast cache cold ..., without --memory",
            reasons.join("; "),
            limit.0
        )))
    }

    fn create_below(parent: &Path, version: Version, limit: Bytes) -> io::Result<Self> {
        remove_left_over(parent);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&directory)?;
        let group = Self { directory, version, limit };
        fs::write(group.directory.join(version.limit_file()), limit.0.to_string()).map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                    io::Error::other("the memory controller is not enabled for groups made here")
                }
                _ => error,
            }
        })?;
        Ok(group)
    }

    /// Its interface.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The limit of its memory.
    #[must_use]
    pub fn limit(&self) -> Bytes {
        self.limit
    }

    /// Its path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The most memory that was in use at a time, page cache included; newer kernels only under v2 (5.19).
    #[must_use]
    pub fn peak(&self) -> Option<Bytes> {
        let text = fs::read_to_string(self.directory.join(self.version.peak_file())).ok()?;
        text.trim().parse().ok().map(Bytes)
    }

    /// The number of processes killed for lack of memory.
    #[must_use]
    pub fn out_of_memory_kills(&self) -> u64 {
        let text = fs::read_to_string(self.directory.join(self.version.kills_file())).unwrap_or_default();
        line_of(&text, "oom_kill").unwrap_or(0)
    }

    /// The file to which a process writes `0` to join.
    ///
    /// # Errors
    /// What the kernel said.
    pub(crate) fn door(&self) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.directory.join("cgroup.procs"))
    }

    fn kill_all(&self) {
        for pid in fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default().lines() {
            if let Some(pid) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let steps = REMOVAL.as_millis() / REMOVAL_STEP.as_millis();
        for _ in 0..steps {
            if fs::remove_dir(&self.directory).is_ok() || !self.directory.exists() {
                return;
            }
            self.kill_all();
            thread::sleep(REMOVAL_STEP);
        }
    }
}

/// How much page cache the groups that this process is in could hold: the least limit less anonymous memory. Nothing if
/// they have no limit.
#[must_use]
pub fn room_for_cache() -> Option<Bytes> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    // Below our own is the first place.
    let (group, version) = places(&own, &mountinfo::read()).into_iter().next()?;
    let text = |group: &Path, name| fs::read_to_string(group.join(name)).unwrap_or_default();
    match version {
        Version::V1 => room_v1(&text(&group, "memory.stat")),
        Version::V2 => {
            let groups =
                group.ancestors().map(|group| (text(group, "memory.max"), text(group, "memory.stat")));
            groups.filter_map(|(limit, stat)| room_v2(&limit, &stat)).min()
        }
    }
}

/// From `memory.stat` of v1, which has the least limit of all groups above.
fn room_v1(stat: &str) -> Option<Bytes> {
    let limit = Bytes(line_of(stat, "hierarchical_memory_limit")?);
    // Without a limit it says the largest whole number of pages below 2^63.
    (limit.0 < 1 << 62).then(|| limit.saturating_sub(Bytes(line_of(stat, "total_rss").unwrap_or(0))))
}

/// From `memory.max` and `memory.stat` of one group of v2.
fn room_v2(limit: &str, stat: &str) -> Option<Bytes> {
    let limit = Bytes(limit.trim().parse().ok()?); // or "max"
    Some(limit.saturating_sub(Bytes(line_of(stat, "anon").unwrap_or(0))))
}

/// The number of a line `name number`.
fn line_of(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Removes the empty groups of processes of ours that were killed before they could do so.
fn remove_left_over(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if maker.is_some_and(|pid| pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Where a group could be made: for v1 below our own and below the root; for v2, where a group with processes cannot have
/// groups with controllers below it, also beside our own.
fn places(own: &str, mounts: &[Mounted]) -> Vec<(PathBuf, Version)> {
    let v1 = own_group(own, |controllers| controllers.split(',').any(|name| name == "memory"))
        .and_then(|group| hierarchy(mounts, "cgroup", Some("memory"), group));
    let v2 = own_group(own, str::is_empty).and_then(|group| hierarchy(mounts, "cgroup2", None, group));
    let mut places = Vec::new();
    if let Some((root, group)) = v1 {
        places.extend([group, root].map(|place| (place, Version::V1)));
    } else if let Some((root, group)) = v2 {
        let beside = group.parent().filter(|parent| parent.starts_with(&root)).map(Path::to_owned);
        places.extend(
            [Some(group), beside, Some(root)].into_iter().flatten().map(|place| (place, Version::V2)),
        );
    }
    places.dedup();
    places
}

/// Our own group in the hierarchy whose controllers fit: a line `4:cpu,memory:/path` of /proc/self/cgroup.
fn own_group(own: &str, fits: impl Fn(&str) -> bool) -> Option<&str> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        fits(fields.next()?).then(|| fields.next())?
    })
}

/// Where a hierarchy is mounted, and our own group in it.
fn hierarchy(
    mounts: &[Mounted],
    type_name: &str,
    controller: Option<&str>,
    group: &str,
) -> Option<(PathBuf, PathBuf)> {
    let has = |mount: &Mounted, name| mount.options.split(',').any(|one| one == name);
    let is_it = |mount: &&Mounted| {
        mount.type_name == type_name && controller.is_none_or(|controller| has(mount, controller))
    };
    let mount = mounts.iter().find(is_it)?;
    // In a container, a part of the hierarchy is mounted.
    let below = Path::new(group).strip_prefix(&mount.root).unwrap_or(Path::new(group));
    let below = below.strip_prefix("/").unwrap_or(below);
    Some((mount.point.clone(), mount.point.join(below).components().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1_MOUNTS: &[u8] = b"31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        34 30 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        39 30 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn version_1_is_taken_where_it_has_the_memory() {
        let own = "4:memory:/app/a\n1:cpu:/\n0::/\n";
        let below = |place: &str| (PathBuf::from(place), Version::V1);
        assert_eq!(
            places(own, &mountinfo::parse(V1_MOUNTS)),
            [below("/sys/fs/cgroup/memory/app/a"), below("/sys/fs/cgroup/memory")]
        );
    }

    #[test]
    fn under_version_2_a_group_may_be_made_beside_our_own() {
        let mounts = b"30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let places = places("0::/user.slice/app.scope\n", &mountinfo::parse(mounts));
        let names: Vec<&str> = places.iter().map(|(place, _)| place.to_str().unwrap()).collect();
        assert_eq!(
            names,
            ["/sys/fs/cgroup/user.slice/app.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]
        );
        assert!(places.iter().all(|(_, version)| *version == Version::V2));
    }

    #[test]
    fn a_container_sees_a_part_of_the_hierarchy() {
        let mounts = b"30 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        let places = places("0::/docker/1\n", &mountinfo::parse(mounts));
        assert_eq!(places, [(PathBuf::from("/sys/fs/cgroup"), Version::V2)]);
    }

    #[test]
    fn what_a_group_can_cache_is_its_limit_less_anonymous_memory() {
        assert_eq!(room_v1("cache 5\nhierarchical_memory_limit 1000\ntotal_rss 300\n"), Some(Bytes(700)));
        assert_eq!(room_v1("hierarchical_memory_limit 9223372036854771712\ntotal_rss 300\n"), None);
        assert_eq!(room_v2("1000\n", "anon 300\nfile 200\n"), Some(Bytes(700)));
        assert_eq!(room_v2("max\n", "anon 300\n"), None);
        assert_eq!(room_v2("", ""), None);
    }

    #[test]
    fn groups_of_processes_that_were_killed_are_removed() {
        let parent = tempfile::TempDir::new().unwrap();
        let names =
            ["pagecast-4294967295-0", &format!("pagecast-{}-0", std::process::id()), "pagecast-app-1"];
        for name in names {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        remove_left_over(parent.path());
        assert_eq!(names.map(|name| parent.path().join(name).exists()), [false, true, true]);
    }

    #[test]
    fn without_a_hierarchy_the_message_says_what_to_do() {
        assert_eq!(places("", &[]), []);
        let refused = MemoryGroup::create_below(Path::new("/proc"), Version::V2, Bytes(1));
        assert!(refused.is_err());
    }
}
