//! Opens files below a directory and never leaves it, whatever a path says and whatever links are put into it meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{self, AllocateMode, OpenFlag};
use rustix::fs::{self, AtFlags, CWD, FallocateFlags, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, pread};
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};

use super::{Direction, Io, Memory, Open, Sync};
use crate::drop_caches::{self, What};
use crate::error::{ProbeError, Trouble};
use crate::filesystem::{FileSystem, Kind, MountTable};
use crate::syscall::{SharedMapping, readahead, sync_range, thread_device_read, write_range};

const USUAL_MODE: u32 = 0o666;
pub(super) const FOLDER_MODE: u32 = 0o777;

/// A directory that is open. All paths of its functions are within it, without links: a link in the way is an error (ELOOP).
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// The room of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// For this user (`f_bavail`).
    pub free: Bytes,
    /// In all.
    pub total: Bytes,
}

/// The means of measuring in a directory.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file system of the directory.
    pub file_system: FileSystem,
    /// Free on the disk, for this user.
    pub free: Bytes,
    /// The memory available without swapping.
    pub available: Bytes,
}

impl Folder {
    /// Opens a directory that has a device below it, and says what it is on.
    ///
    /// # Errors
    /// [`ProbeError::NoDisk`] for one in memory, and those of [`Self::open`].
    pub fn open_on_disk(path: &Path) -> Result<(Self, FileSystem), ProbeError> {
        let folder = Self::open(path)?;
        let file_system = folder.file_system()?;
        if matches!(file_system.kind, Kind::Memory | Kind::MadeUp) {
            return Err(ProbeError::NoDisk { path: path.to_owned(), file_system: file_system.name() });
        }
        Ok((folder, file_system))
    }

    /// Opens a directory; here links are followed.
    ///
    /// # Errors
    /// [`ProbeError::Path`] if there is none, or if it may not be looked into.
    pub fn open(path: &Path) -> Result<Self, ProbeError> {
        let trouble = |error: Errno| match error {
            Errno::NOTDIR => Trouble::NoFolder,
            _ => Trouble::new("open", error.into()),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|error| ProbeError::Path { path: path.to_owned(), trouble: trouble(error) })?;
        Ok(Self { descriptor, path: path.to_owned() })
    }

    /// Its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that leads to it as long as it is open: wherever it is moved, whatever becomes of the working directory, and also if this
    /// user may not go through the directories above it.
    #[must_use]
    pub fn sure_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    /// Opens a directory in it that was made just now.
    pub(super) fn sub_folder(&self, name: &str) -> io::Result<Self> {
        Ok(Self { descriptor: self.folder(Path::new(name))?, path: self.path.join(name) })
    }

    /// What it is on.
    ///
    /// # Errors
    /// [`ProbeError::Path`] if the kernel does not say.
    pub fn file_system(&self) -> Result<FileSystem, ProbeError> {
        let found = fs::fstat(&self.descriptor).map_err(|error| self.trouble("stat", error.into()))?;
        Ok(MountTable::read().file_system(self.as_fd(), found.st_dev))
    }

    /// What its file system has left.
    ///
    /// # Errors
    /// [`ProbeError::Path`] if the kernel does not say.
    pub fn space(&self) -> Result<Space, ProbeError> {
        let found = fs::fstatvfs(&self.descriptor).map_err(|error| self.trouble("statvfs", error.into()))?;
        let bytes = |blocks: u64| Bytes(blocks.saturating_mul(found.f_frsize));
        Ok(Space { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
    }

    /// Checks that `needed` bytes can be written here, and writes nothing.
    ///
    /// # Errors
    /// [`ProbeError::NoRoom`], and [`ProbeError::Path`] if the folder may not be written to.
    pub fn check_room(&self, needed: Bytes) -> Result<(), ProbeError> {
        fs::accessat(&self.descriptor, ".", fs::Access::WRITE_OK | fs::Access::EXEC_OK, AtFlags::EACCESS)
            .map_err(|error| match error {
                Errno::ACCESS | Errno::ROFS => {
                    ProbeError::Path { path: self.path.clone(), trouble: Trouble::NotWritable(error.into()) }
                }
                _ => self.trouble("access", error.into()),
            })?;
        let free = self.space()?.free;
        match needed <= free {
            true => Ok(()),
            false => Err(ProbeError::NoRoom { path: self.path.clone(), needed, free }),
        }
    }

    /// Makes a directory, and those on the way to it; those that are there already stay.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn make_folders(&self, path: &Path) -> io::Result<()> {
        let mut so_far = PathBuf::new();
        for name in names(path)? {
            let parent = self.folder(&so_far)?;
            match fs::mkdirat(&parent, name, Mode::from_raw_mode(FOLDER_MODE)) {
                Ok(()) | Err(Errno::EXIST) => so_far.push(name),
                Err(error) => return Err(error.into()),
            }
        }
        self.folder(&so_far).map(drop)
    }

    /// Opens a directory in it.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        self.beneath(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens what is there.
    pub(crate) fn beneath(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        self.beneath_with(path, flags, Mode::empty())
    }

    /// Opens a file, which is made with the usual mode if it is not there.
    pub(super) fn open_with(&self, path: &Path, flags: OFlags, create: bool) -> io::Result<OwnedFd> {
        let mode = if create { Mode::from_raw_mode(USUAL_MODE) } else { Mode::empty() };
        self.beneath_with(path, flags, mode)
    }

    /// openat2(2), which never leaves the folder. Kernels before 5.6 and some sandboxes have none: there one name after the other is
    /// opened, without following links.
    fn beneath_with(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let path: PathBuf = names(path)?.collect();
        let whole = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match fs::openat2(&self.descriptor, whole, flags, mode, resolve) {
            Err(Errno::NOSYS | Errno::PERM) => Ok(self.step_by_step(whole, flags, mode)?),
            answer => Ok(answer?),
        }
    }

    fn step_by_step(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let on_the_way = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut held = None;
        for folder in path.parent().into_iter().flat_map(Path::components) {
            let from = held.as_ref().map_or(self.as_fd(), OwnedFd::as_fd);
            held = Some(fs::openat(from, folder.as_os_str(), on_the_way, Mode::empty())?);
        }
        let from = held.as_ref().map_or(self.as_fd(), OwnedFd::as_fd);
        fs::openat(from, path.file_name().unwrap_or(OsStr::new(".")), flags, mode)
    }

    /// The directory that a path is in, and its name there.
    pub(super) fn place<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }

    fn trouble(&self, doing: &'static str, error: io::Error) -> ProbeError {
        ProbeError::Path { path: self.path.clone(), trouble: Trouble::new(doing, error) }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The names of a path within a folder; one that would leave it is refused.
fn names(path: &Path) -> io::Result<impl Iterator<Item = &OsStr>> {
    let leaves = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().any(leaves) {
        return Err(Errno::XDEV.into()); // what openat2 says
    }
    Ok(path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    }))
}

thread_local! {
    /// That of this thread, open as long as the thread lives.
    static SCHEDSTAT: Option<File> = File::open("/proc/thread-self/schedstat").ok();
}

/// The second number of `schedstat` (Documentation/scheduler/sched-stats.rst); reading it takes no memory.
fn run_delay(schedstat: &File) -> Option<Nanos> {
    let mut text = [0; 96];
    let length = pread(schedstat, &mut text, 0).ok()?;
    let second = text[..length].split(u8::is_ascii_whitespace).nth(1)?;
    std::str::from_utf8(second).ok()?.parse().ok().map(Nanos)
}

fn nanos(time: Timespec) -> Nanos {
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

impl Io for Folder {
    type File = OwnedFd;
    type Mapped = SharedMapping;

    fn now(&self) -> Nanos {
        nanos(clock_gettime(ClockId::Monotonic))
    }

    fn processor_time(&self) -> Nanos {
        nanos(clock_gettime(ClockId::ThreadCPUTime))
    }

    fn processor_wait(&self) -> Nanos {
        SCHEDSTAT.with(|file| file.as_ref().and_then(run_delay).unwrap_or_default())
    }

    fn device_read(&self) -> Bytes {
        thread_device_read()
    }

    fn sleep_until(&self, time: Nanos) {
        let time =
            Timespec { tv_sec: (time.0 / 1_000_000_000) as i64, tv_nsec: (time.0 % 1_000_000_000) as _ };
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &time);
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<OwnedFd> {
        let flag = |is_set: bool, flag: OFlags| if is_set { flag } else { OFlags::empty() };
        let flags = OFlags::RDWR
            | flag(how.create, OFlags::CREATE)
            | flag(how.truncate, OFlags::TRUNC)
            | flag(how.flags.has(OpenFlag::Direct), OFlags::DIRECT)
            | flag(how.flags.has(OpenFlag::Sync), OFlags::SYNC)
            | flag(how.flags.has(OpenFlag::Dsync), OFlags::DSYNC)
            | flag(how.flags.has(OpenFlag::Append), OFlags::APPEND);
        self.open_with(path, flags, how.create)
    }

    fn read(
        &self,
        file: &OwnedFd,
        memory: &mut Memory,
        at: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize> {
        memory.read(file.as_fd(), at, length, offset)
    }

    fn write(
        &self,
        file: &OwnedFd,
        memory: &mut Memory,
        at: usize,
        length: usize,
        offset: u64,
    ) -> io::Result<usize> {
        memory.write(file.as_fd(), at, length, offset)
    }

    fn copy(
        &self,
        from: &OwnedFd,
        to: &OwnedFd,
        by: workload::CopyBy,
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        let (mut read, mut written) = (offset, offset);
        match by {
            workload::CopyBy::ReadWrite => unreachable!("the caller reads and writes"),
            workload::CopyBy::Sendfile => {
                // It writes where the file is, and no other call of ours looks at that place.
                fs::seek(to, fs::SeekFrom::Start(offset))?;
                Ok(fs::sendfile(to, from, Some(&mut read), length)?)
            }
            workload::CopyBy::CopyFileRange => {
                Ok(fs::copy_file_range(from, Some(&mut read), to, Some(&mut written), length)?)
            }
        }
    }

    fn sync(&self, file: &OwnedFd, what: Sync) -> io::Result<()> {
        match what {
            Sync::File => Ok(fs::fsync(file)?),
            Sync::Data => Ok(fs::fdatasync(file)?),
            Sync::Range { offset, length, wait } => write_range(file.as_fd(), offset, length, wait),
        }
    }

    fn sync_all(&self) {
        fs::sync();
    }

    fn sync_file_system(&self) -> io::Result<()> {
        Ok(fs::syncfs(&self.descriptor)?)
    }

    fn sync_range(
        &self,
        file: &OwnedFd,
        offset: u64,
        length: u64,
        flags: workload::SyncRangeFlags,
    ) -> io::Result<()> {
        sync_range(file.as_fd(), offset, length, flags)
    }

    fn readahead(&self, file: &OwnedFd, offset: u64, length: u64) -> io::Result<()> {
        readahead(file.as_fd(), offset, length as usize)
    }

    fn map(&self, file: &OwnedFd, offset: u64, length: NonZero<usize>) -> io::Result<SharedMapping> {
        SharedMapping::new(file.as_fd(), offset, length)
    }

    fn advise_mapped(&self, mapped: &SharedMapping, advice: workload::MapAdvice) -> io::Result<()> {
        mapped.advise(advice)
    }

    fn pass_mapped(
        &self,
        mapped: &mut SharedMapping,
        direction: Direction,
        from: usize,
        memory: &mut Memory,
        length: usize,
    ) {
        mapped.pass(direction, from, memory, length);
    }

    fn sync_mapped(&self, mapped: &SharedMapping, is_async: bool) -> io::Result<()> {
        mapped.sync(is_async)
    }

    fn drop_caches(&self) -> io::Result<()> {
        drop_caches::write(What::All)
    }

    fn advise(&self, file: &OwnedFd, advice: workload::Advice, offset: u64, length: u64) -> io::Result<()> {
        let advice = match advice {
            workload::Advice::DontNeed => fs::Advice::DontNeed,
            workload::Advice::WillNeed => fs::Advice::WillNeed,
            workload::Advice::Sequential => fs::Advice::Sequential,
            workload::Advice::Random => fs::Advice::Random,
            workload::Advice::Normal => fs::Advice::Normal,
            workload::Advice::NoReuse => fs::Advice::NoReuse,
        };
        Ok(fs::fadvise(file, offset, NonZero::new(length), advice)?)
    }

    fn length(&self, file: &OwnedFd) -> io::Result<u64> {
        Ok(fs::fstat(file)?.st_size as u64)
    }

    fn set_length(&self, file: &OwnedFd, length: u64) -> io::Result<()> {
        Ok(fs::ftruncate(file, length)?)
    }

    fn allocate(&self, file: &OwnedFd, mode: AllocateMode, offset: u64, length: u64) -> io::Result<()> {
        let flags = match mode {
            AllocateMode::Extend => FallocateFlags::empty(),
            AllocateMode::KeepSize => FallocateFlags::KEEP_SIZE,
            AllocateMode::PunchHole => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            AllocateMode::ZeroRange => FallocateFlags::ZERO_RANGE,
        };
        Ok(fs::fallocate(file, flags, offset, length)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.place(path)?;
        Ok(fs::unlinkat(&parent, name, AtFlags::empty())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn folder() -> (TempDir, Folder) {
        let place = TempDir::new().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        (place, folder)
    }

    #[test]
    fn nothing_outside_can_be_reached() {
        let (place, folder) = folder();
        symlink("/etc/passwd", place.path().join("link")).unwrap();
        symlink("/etc", place.path().join("etc")).unwrap();
        let refused = |path: &str| folder.open(Path::new(path), Open::default()).unwrap_err().raw_os_error();
        assert_eq!(refused("/etc/passwd"), Some(libc::EXDEV));
        assert_eq!(refused("a/../../x"), Some(libc::EXDEV));
        assert_eq!((refused("link"), refused("etc/passwd")), (Some(libc::ELOOP), Some(libc::ELOOP)));
        let step =
            |path: &str| folder.step_by_step(Path::new(path), OFlags::NOFOLLOW, Mode::empty()).unwrap_err();
        assert_eq!(step("link"), Errno::LOOP);
        assert_eq!(step("etc/passwd"), Errno::NOTDIR, "a link is no directory");
    }

    #[test]
    fn files_are_made_written_read_and_removed() {
        let (place, folder) = folder();
        folder.make_folders(Path::new("a/b")).unwrap();
        folder.make_folders(Path::new("a/b")).unwrap();
        let file = folder.open(Path::new("a/b/f"), Open { create: true, ..Open::default() }).unwrap();
        let mut memory = super::super::mock::memory(4096);
        memory.fill(0x5a);
        assert_eq!(folder.write(&file, &mut memory, 0, 10_000, 0).unwrap(), 10_000, "round and round");
        let written = std::fs::read(place.path().join("a/b/f")).unwrap();
        assert!(written.len() == 10_000 && written.iter().all(|&byte| byte == 0x5a));
        assert_eq!(folder.read(&file, &mut memory, 0, 20_000, 5000).unwrap(), 5000);
        folder.set_length(&file, 100).unwrap();
        assert_eq!(folder.length(&file).unwrap(), 100);
        folder.sync(&file, Sync::Data).unwrap();
        folder.remove(Path::new("a/b/f")).unwrap();
        assert!(!place.path().join("a/b/f").exists());
    }

    #[test]
    fn a_file_is_copied_to_the_same_place_of_another_one() {
        let (place, folder) = folder();
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(place.path().join("f"), &bytes).unwrap();
        let file =
            |name: &str| folder.open(Path::new(name), Open { create: true, ..Open::default() }).unwrap();
        for by in [workload::CopyBy::Sendfile, workload::CopyBy::CopyFileRange] {
            let (from, to) = (file("f"), file(by.name()));
            assert_eq!(folder.copy(&from, &to, by, 0, 100_000).unwrap(), 100_000);
            assert_eq!(folder.copy(&from, &to, by, 100_000, 300_000).unwrap(), 200_000);
            assert_eq!(folder.copy(&from, &to, by, 300_000, 1).unwrap(), 0, "nothing is left");
            assert!(std::fs::read(place.path().join(by.name())).unwrap() == bytes, "{by:?}");
        }
    }

    #[test]
    fn a_call_whose_memory_was_withdrawn_ends_and_says_so() {
        let (_place, folder) = folder();
        let file = folder.open(Path::new("f"), Open { create: true, ..Open::default() }).unwrap();
        let mut memory = super::super::mock::memory(4096);
        let withdrawal = memory.withdrawal();
        assert_eq!(folder.write(&file, &mut memory, 0, 10_000, 0).unwrap(), 10_000);
        withdrawal.withdraw();
        let refused = |answer: io::Result<usize>| answer.unwrap_err().raw_os_error();
        assert_eq!(refused(folder.write(&file, &mut memory, 0, 4096, 0)), Some(libc::EFAULT));
        assert_eq!(refused(folder.read(&file, &mut memory, 0, 4096, 0)), Some(libc::EFAULT));
        drop(memory);
        withdrawal.withdraw();
    }

    #[test]
    fn room_is_checked_before() {
        let (_place, folder) = folder();
        folder.check_room(Bytes(1)).unwrap();
        let error = folder.check_room(Bytes(u64::MAX)).unwrap_err().to_string();
        assert!(error.contains("free, and "), "{error}");
    }

    #[test]
    fn a_file_is_no_folder() {
        let error = Folder::open(Path::new("/etc/passwd")).unwrap_err().to_string();
        assert_eq!(error, "/etc/passwd: is no directory; name one on the disk to be measured");
    }

    #[test]
    fn clocks_go_forward() {
        let (_place, folder) = folder();
        let (now, used) = (folder.now(), folder.processor_time());
        folder.sleep_until(now + Nanos(2_000_000));
        assert!(folder.now() >= now + Nanos(2_000_000));
        while folder.processor_time() == used {}
        assert!(folder.processor_wait() <= folder.processor_wait());
    }
}
