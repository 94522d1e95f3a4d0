//! Gives the files of a workload their places on a machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the files of a workload are on the machine: a path under a mount stays, every other one goes below a directory.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The mounts of the host, by path.
    pub mounts: Vec<String>,
    /// The directory that paths under no mount and relative ones go below; absolute.
    pub dir: String,
    /// Whether a path has gone there.
    is_used: Arc<AtomicBool>,
}

impl Placement {
    /// The mounts of a host, by path, and the directory for all other paths.
    #[must_use]
    pub fn new(mounts: Vec<String>, dir: impl Into<String>) -> Self {
        Self { mounts, dir: dir.into(), is_used: Arc::default() }
    }

    /// Whether a path was under no mount.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// The place of a path of the workload. "." and ".." are worked out as text, so that no path leaves the directory.
    #[must_use]
    pub fn place(&self, path: &str) -> Arc<str> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let normal = format!("/{}", parts.join("/"));
        let is_mounted = path.starts_with('/') && self.mounts.iter().any(|mount| is_below(&normal, mount));
        let placed = if is_mounted { normal } else { self.below_dir(&normal) };
        // A control character would spoil every table that shows the path.
        placed.replace(char::is_control, "?").into()
    }

    fn below_dir(&self, path: &str) -> String {
        self.is_used.store(true, Ordering::Relaxed);
        format!("{}{path}", self.dir.trim_end_matches('/'))
    }
}

fn is_below(path: &str, mount: &str) -> bool {
    let rest = path.strip_prefix(mount.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_under_no_mount_goes_below_the_directory() {
        let placement = Placement::new(vec!["/data".into(), "/scratch".into()], "/data/in");
        let places =
            ["/data/f", "/data", "f", "./a/../b", "../../etc/x", "/usr/lib/x", "/scratch//y/", "/database/z"];
        let placed = places.map(|path| placement.place(path).to_string());
        let wanted = [
            "/data/f",
            "/data/in/data",
            "/data/in/f",
            "/data/in/b",
            "/data/in/etc/x",
            "/data/in/usr/lib/x",
            "/scratch/y",
            "/data/in/database/z",
        ];
        assert_eq!(placed, wanted);
    }

    #[test]
    fn a_root_mount_covers_every_absolute_path() {
        let placement = Placement::new(vec!["/".into()], "/home");
        assert_eq!(["/x/y", "x"].map(|path| placement.place(path).to_string()), ["/x/y", "/home/x"]);
    }
}
