//! Knows which paths are directories, and follows them when they are renamed.
//!
//! The forecast renames files only. A file below a directory that was renamed keeps its first name there; a directory that is made under the
//! old name gets a name of its own.
//!
//! Left out: a directory that was renamed below another one that is renamed after it.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

/// The directories of a recording.
#[derive(Debug, Default)]
pub struct Directories {
    known: FxHashSet<String>,
    /// Of those that were renamed, and of those that came after them, the name in the forecast.
    renamed: FxHashMap<String, String>,
    renames: u32,
}

impl Directories {
    /// The name of a path in the forecast.
    pub fn name<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if self.renamed.is_empty() {
            return Cow::Borrowed(path);
        }
        let first = |directory: &str| Some((directory.len(), self.renamed.get(directory)?));
        match Above(Some(path)).find_map(first) {
            Some((length, first)) => Cow::Owned(format!("{first}{}", &path[length..])),
            None => Cow::Borrowed(path),
        }
    }

    /// A path is a directory.
    pub fn add(&mut self, path: &str) {
        if !self.known.contains(path) {
            self.known.insert(path.to_owned());
        }
    }

    /// There is a file of this path.
    pub fn add_above(&mut self, path: &str) {
        for directory in Above(path.rsplit_once('/').map(|(directory, _)| directory)) {
            if self.known.contains(directory) {
                break;
            }
            self.known.insert(directory.to_owned());
        }
    }

    /// A path is no directory any more.
    pub fn remove(&mut self, path: &str) {
        self.known.remove(path);
    }

    /// True if a path is known to be a directory.
    pub fn has(&self, path: &str) -> bool {
        self.known.contains(path.trim_end_matches('/'))
    }

    /// A directory gets another path. Both are names of the recording.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.renames += 1;
        let first = self.name(from).into_owned();
        self.renamed.insert(from.to_owned(), format!("{from}#{}", self.renames));
        if first != to {
            self.renamed.insert(to.to_owned(), first);
        } else {
            self.renamed.remove(to);
        }
    }
}

/// A path, and the directories above it.
struct Above<'p>(Option<&'p str>);

impl<'p> Iterator for Above<'p> {
    type Item = &'p str;

    fn next(&mut self) -> Option<&'p str> {
        let path = self.0.filter(|path| !path.is_empty())?;
        self.0 = path.rsplit_once('/').map(|(directory, _)| directory);
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_others_are_below_is_a_directory() {
        let mut directories = Directories::default();
        directories.add_above("/a/b/c");
        assert_eq!(["/a", "/a/b/", "/a/b/c"].map(|path| directories.has(path)), [true, true, false]);
        directories.remove("/a/b");
        assert!(!directories.has("/a/b"));
    }

    #[test]
    fn files_keep_their_names_when_their_directory_is_renamed() {
        let mut directories = Directories::default();
        let names = |directories: &Directories| {
            ["/out/f", "/old/f", "/older/f", "/outer/f"].map(|path| directories.name(path).into_owned())
        };
        directories.rename("/out", "/old");
        assert_eq!(names(&directories), ["/out#1/f", "/out/f", "/older/f", "/outer/f"]);
        directories.rename("/old", "/older");
        assert_eq!(names(&directories), ["/out#1/f", "/old#2/f", "/out/f", "/outer/f"]);
        directories.rename("/out", "/old");
        assert_eq!(names(&directories)[1..], ["/out#1/f", "/out/f", "/outer/f"]);
        directories.rename("/older", "/out");
        assert_eq!(names(&directories)[..2], ["/out/f", "/out#1/f"]);
    }
}
