//! Changes the names of files and directories: rename, link, mkdir, rmdir; and looks one up: stat.

use std::io;
use std::path::Path;

use rustix::fs::{self, AtFlags, Mode};

use super::Io;
use super::folder::{FOLDER_MODE, Folder};

/// A kernel whose names can be changed. Paths are within the folder; links on the way are not followed.
pub trait Names: Io {
    /// rename(2) of a file or directory. Links on the way are not followed, here and below.
    ///
    /// # Errors
    /// What the kernel said.
    fn rename(&self, path: &Path, to: &Path) -> io::Result<()>;

    /// link(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn link(&self, path: &Path, to: &Path) -> io::Result<()>;

    /// mkdir(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn mkdir(&self, path: &Path) -> io::Result<()>;

    /// rmdir(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn rmdir(&self, path: &Path) -> io::Result<()>;

    /// lstat(2).
    ///
    /// # Errors
    /// What the kernel said.
    fn stat(&self, path: &Path) -> io::Result<()>;

    /// Makes the directories above a path that are not there.
    ///
    /// # Errors
    /// What the kernel said.
    fn make_above(&self, path: &Path) -> io::Result<()>;
}

impl Names for Folder {
    fn rename(&self, path: &Path, to: &Path) -> io::Result<()> {
        let ((from, name), (to, new)) = (self.place(path)?, self.place(to)?);
        Ok(fs::renameat(&from, name, &to, new)?)
    }

    fn link(&self, path: &Path, to: &Path) -> io::Result<()> {
        let ((from, name), (to, new)) = (self.place(path)?, self.place(to)?);
        Ok(fs::linkat(&from, name, &to, new, AtFlags::empty())?)
    }

    fn mkdir(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.place(path)?;
        Ok(fs::mkdirat(&parent, name, Mode::from_raw_mode(FOLDER_MODE))?)
    }

    fn rmdir(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.place(path)?;
        Ok(fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    fn stat(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.place(path)?;
        Ok(fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).map(drop)?)
    }

    fn make_above(&self, path: &Path) -> io::Result<()> {
        self.make_folders(path.parent().unwrap_or(Path::new("")))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn names_change_inside_only() {
        let place = TempDir::new().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let outside = TempDir::new().unwrap();
        let path = |name: &str| place.path().join(name);
        let other = outside.path().join("f");
        std::fs::write(path("f"), "f").unwrap();
        std::fs::write(&other, "outside").unwrap();
        symlink(outside.path(), path("out")).unwrap();
        symlink(&other, path("link")).unwrap();
        let [f, out, link] = ["f", "out/f", "link"].map(Path::new);
        let up = Path::new("a/../../f");
        let refused = |answer: io::Result<()>| answer.unwrap_err().raw_os_error().unwrap();
        let is_refused =
            |answer: io::Result<()>| [libc::ELOOP, libc::ENOTDIR, libc::EXDEV].contains(&refused(answer));
        for outside in [out, up] {
            assert!(is_refused(folder.rename(f, outside)) && is_refused(folder.rename(outside, f)));
            assert!(is_refused(folder.link(f, outside)) && is_refused(folder.link(outside, f)));
            assert!(is_refused(folder.mkdir(outside)) && is_refused(folder.rmdir(outside)));
            assert!(is_refused(folder.stat(outside)) && is_refused(folder.remove(outside)));
        }
        // A link itself is moved, or gets another name, and not what it points to.
        folder.link(link, Path::new("second")).unwrap();
        folder.rename(link, Path::new("moved")).unwrap();
        assert!(path("second").is_symlink() && path("moved").is_symlink());
        folder.remove(Path::new("moved")).unwrap();
        folder.mkdir(Path::new("d")).unwrap();
        folder.rename(f, Path::new("d/g")).unwrap();
        folder.rename(Path::new("d"), Path::new("e")).unwrap();
        folder.link(Path::new("e/g"), f).unwrap();
        assert_eq!(refused(folder.rmdir(Path::new("e"))), libc::ENOTEMPTY);
        folder.remove(Path::new("e/g")).unwrap();
        folder.rmdir(Path::new("e")).unwrap();
        assert_eq!(refused(folder.stat(Path::new("e"))), libc::ENOENT);
        assert_eq!(std::fs::read(path("f")).unwrap(), b"f");
        assert_eq!(std::fs::read(&other).unwrap(), b"outside", "nothing outside has changed");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
