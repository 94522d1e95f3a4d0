//! Places, sizes, durability and advice of open files; mappings.

use std::sync::Arc;

use super::super::files::Kind;
use super::{Done, Meaning, On};
use crate::units::Bytes;
use crate::workload::{Action, Advice, AllocateMode, SyncRangeFlag};

impl On<'_, '_, '_, '_> {
    /// The meaning of a call, if it is one of these; every other one takes the recorded time.
    pub(super) fn attributes(&mut self, name: &str) -> Done {
        match name {
            "lseek" | "_llseek" => self.seek(),
            "fsync" => self.on_fd(|path| Action::Fsync { path }),
            "fdatasync" => self.on_fd(|path| Action::Fdatasync { path }),
            "sync" => {
                self.push(Action::Sync, None);
                Ok(Meaning::Forecast)
            }
            "syncfs" => self.sync_file_system(),
            "sync_file_range" => self.sync_file_range(1, 3),
            "sync_file_range2" => self.sync_file_range(2, 1),
            "fadvise64" | "fadvise64_64" => self.advise(),
            "readahead" => {
                let (offset, bytes) =
                    (self.arguments.number(1).unwrap_or(0), self.arguments.number(2).map(Bytes));
                self.on_fd(|path| Action::Readahead { path, offset, bytes })
            }
            "ftruncate" | "ftruncate64" => match self.arguments.number(1).map(Bytes) {
                Some(size) => self.changed_through(|path| Action::Truncate { path, size }),
                None => Ok(Meaning::Recorded),
            },
            "truncate" | "truncate64" => match self.arguments.number(1).map(Bytes) {
                Some(size) => self.on_path((None, 0), |path| Action::Truncate { path, size }),
                None => Ok(Meaning::Recorded),
            },
            "fallocate" => self.fallocate(),
            "fstat" | "fstat64" => self.tell_size("st_size", 1),
            "newfstatat" if self.arguments.has(3, "AT_EMPTY_PATH") => self.tell_size("st_size", 2),
            "statx" if self.arguments.has(2, "AT_EMPTY_PATH") => self.tell_size("stx_size", 4),
            "mmap" | "mmap2" => self.maps(),
            _ => Ok(Meaning::Recorded),
        }
    }

    fn seek(&mut self) -> Done {
        if self.arguments.text(2) == "SEEK_END" && self.arguments.text(1) == "0" {
            self.set_size(Bytes(self.returned));
        }
        self.move_to(0, self.returned);
        Ok(Meaning::Recorded)
    }

    fn tell_size(&mut self, field: &str, at: usize) -> Done {
        let fd = self.arguments.fd(0).map_or(-1, |number| number.fd);
        if self.arguments.has(at, "S_IFDIR")
            && let Some((_, file)) = self.recording.files.get(self.table, fd)
        {
            let path = Arc::clone(&file.path);
            self.recording.files.directories.add(&path);
        }
        if self.arguments.has(at, "S_IFREG")
            && let Some(size) = self.arguments.field(at, field)
        {
            self.set_size(Bytes(size));
        }
        Ok(Meaning::Recorded)
    }

    /// The size of a file is known, if nobody has changed it. It is told when the file is used.
    fn set_size(&mut self, size: Bytes) {
        let fd = self.arguments.fd(0).map(|number| number.fd);
        let Some((_, file)) = fd.and_then(|fd| self.recording.files.get(self.table, fd)) else { return };
        if file.kind == Kind::File && file.opens.is_some() && !self.recording.order.is_changed(file.key) {
            file.size = Some(size);
        }
    }

    fn on_fd(&mut self, action: impl FnOnce(Arc<str>) -> Action) -> Done {
        match self.through(0)? {
            Ok(through) => {
                self.push(action(through.path), Some(through.number));
                Ok(Meaning::Forecast)
            }
            Err(_) => Ok(Meaning::Recorded),
        }
    }

    fn changed_through(&mut self, action: impl FnOnce(Arc<str>) -> Action) -> Done {
        if let Ok(through) = self.through(0)? {
            self.recording.order.change(through.key, self.pid);
        }
        self.on_fd(action)
    }

    /// syncfs(2) takes a directory, too.
    fn sync_file_system(&mut self) -> Done {
        let Some(number) = self.arguments.fd(0) else { return Ok(Meaning::Recorded) };
        let opened = self.recording.files.get(self.table, number.fd).map(|(_, open)| Arc::clone(&open.path));
        let path = match (number.path, opened) {
            (Some(path), _) => self.recording.name(path)?,
            (None, Some(path)) => path,
            (None, None) => return Ok(Meaning::Recorded),
        };
        if self.recording.kind_of(&path) != Kind::File {
            return Ok(Meaning::Recorded);
        }
        self.push(Action::SyncFs { path }, None);
        Ok(Meaning::Forecast)
    }

    fn sync_file_range(&mut self, offset_at: usize, flags_at: usize) -> Done {
        let number = |at| self.arguments.number(at).unwrap_or(0);
        let (offset, bytes) = (number(offset_at), number(offset_at + 1));
        let names = ["SYNC_FILE_RANGE_WAIT_BEFORE", "SYNC_FILE_RANGE_WRITE", "SYNC_FILE_RANGE_WAIT_AFTER"];
        let set = SyncRangeFlag::ALL.into_iter().zip(names);
        let flags =
            set.filter(|(_, name)| self.arguments.has(flags_at, name)).map(|(flag, _)| flag).collect();
        let bytes = (bytes > 0).then_some(Bytes(bytes));
        self.on_fd(|path| Action::SyncFileRange { path, offset, bytes, flags })
    }

    fn advise(&mut self) -> Done {
        let advice = match self.arguments.text(3) {
            "POSIX_FADV_DONTNEED" => Advice::DontNeed,
            "POSIX_FADV_WILLNEED" => Advice::WillNeed,
            "POSIX_FADV_SEQUENTIAL" => Advice::Sequential,
            "POSIX_FADV_RANDOM" => Advice::Random,
            "POSIX_FADV_NOREUSE" => Advice::NoReuse,
            _ => Advice::Normal,
        };
        let (offset, bytes) = (self.arguments.number(1).unwrap_or(0), self.arguments.number(2).unwrap_or(0));
        let bytes = (bytes > 0).then_some(Bytes(bytes));
        self.on_fd(|path| Action::Fadvise { path, advice, offset, bytes })
    }

    fn fallocate(&mut self) -> Done {
        let (Some(offset), Some(bytes)) = (self.arguments.number(2), self.arguments.number(3)) else {
            return Ok(Meaning::Recorded);
        };
        let has = |flag| self.arguments.has(1, flag);
        let mode = match () {
            () if has("FALLOC_FL_PUNCH_HOLE") => AllocateMode::PunchHole,
            () if has("FALLOC_FL_ZERO_RANGE") => AllocateMode::ZeroRange,
            () if has("FALLOC_FL_KEEP_SIZE") => AllocateMode::KeepSize,
            () if self.arguments.text(1) == "0" => AllocateMode::Extend,
            () => return Ok(self.unknown("modes of fallocate that move blocks")),
        };
        self.changed_through(|path| Action::Fallocate { path, mode, offset, bytes: Bytes(bytes) })?;
        Ok(Meaning::Recorded)
    }

    /// A mapping of a file. Its pages are read and written without calls.
    fn maps(&mut self) -> Done {
        if self.arguments.fd(4).is_none_or(|number| number.fd < 0) || self.through(4)?.is_err() {
            return Ok(Meaning::Recorded);
        }
        let is_written = self.arguments.has(3, "MAP_SHARED") && self.arguments.has(2, "PROT_WRITE");
        Ok(self.unknown(match is_written {
            true => "shared mappings: what is read and written through them is not recorded",
            false => "mappings of files: what is read through them is not recorded",
        }))
    }
}
