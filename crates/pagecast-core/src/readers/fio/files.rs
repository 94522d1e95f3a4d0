//! Works out which files a job has, how long they are and what of them it uses, as fio's `setup_files` does.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::job::{Job, Preallocation, READ, WRITE};
use super::random::{Random, Use, seed};
use super::values::Amount;
use crate::nearest::shorten;
use crate::readers::error::ReadError;
use crate::readers::placement::Placement;

/// A file of one thread.
#[derive(Clone, Debug)]
pub struct FileUse {
    /// Its place on the machine.
    pub path: Arc<str>,
    /// Its name in fio, of which fio makes a seed.
    pub name: Arc<str>,
    /// First byte of the part that is used.
    pub start: u64,
    /// The length of the part.
    pub bytes: u64,
    /// The length of the file once it is laid out.
    pub size: u64,
    /// The thread allocates it before it begins.
    pub allocates: Option<Preallocation>,
}

/// The files of all threads so far, as they are on the machine when the jobs begin.
#[derive(Default)]
pub struct Layout {
    files: FxHashMap<Arc<str>, OnDisk>,
    order: Vec<Arc<str>>,
    laid_bytes: u64,
}

#[derive(Clone, Copy)]
struct OnDisk {
    size: u64,
    is_laid_out: bool,
    /// When the thread that allocates it starts: its wave and its delay.
    from: (usize, u64),
}

/// Which clone of which job it is.
#[derive(Clone, Copy, Debug)]
pub struct Clone {
    /// Number of the clone within its job, from 0.
    pub index: u32,
    /// Number of the thread within the run, from 1.
    pub thread: u64,
    /// How many stonewalls are before it, and its delay.
    pub starts: (usize, u64),
}

impl Layout {
    /// The files that exist before, in the order in which they were laid out.
    pub fn existing(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        let sizes = self.order.iter().map(|path| (path, self.files[path]));
        sizes.filter(|(_, file)| file.is_laid_out).map(|(path, file)| (path, file.size))
    }

    /// The files of one thread. `room` is the size of the disk.
    ///
    /// # Errors
    /// Sizes that fio refuses, or that are not told.
    pub fn of_thread(
        &mut self,
        job: &Job,
        section: &str,
        clone: Clone,
        placement: &Placement,
        room: Option<u64>,
    ) -> Result<(Vec<FileUse>, u64), ReadError> {
        let names = names(job, section, clone.index);
        let placed: Vec<Arc<str>> = names.iter().map(|name| placement.place(name)).collect();
        for (name, path) in names.iter().zip(&placed) {
            self.note_device(job, name, path, room)?;
        }
        let known: u64 = placed.iter().map(|path| self.size_of(path)).sum();
        let size = self.size(job, known, room)?;
        let count = names.len() as u64;
        let each = if job.file_size.is_none() { size / count } else { 0 };
        let mut extra = if job.file_size.is_none() { (size - each * count) / job.least_of_all() } else { 0 };
        let mut random = Random::new(seed(job, clone.thread, Use::FileSizes), job.draws_64_bits());
        let mut used = Vec::with_capacity(names.len());
        let mut total = 0_u64;
        for (name, path) in names.into_iter().zip(placed) {
            let on_disk = self.size_of(&path);
            let start = start_of(job, on_disk, clone.index)?;
            let end_error = || {
                let what = format!("offset {start} is beyond the end of {name}, which has {on_disk} bytes");
                job.place.error(what, "correct offset")
            };
            let mut bytes = match job.file_size {
                None => {
                    let bytes = each + if extra > 0 { job.least_of_all() } else { 0 };
                    extra = extra.saturating_sub(1);
                    if bytes > 0 { bytes } else { on_disk.checked_sub(start).ok_or_else(end_error)? }
                }
                Some((low, high)) if (low..=high).contains(&on_disk) => {
                    on_disk.checked_sub(start).ok_or_else(end_error)?
                }
                Some((low, high)) => {
                    let drawn = low + if high > low { random.below(high - low) } else { 0 };
                    let drawn = if high > low { drawn - drawn % job.least_of_all() } else { drawn };
                    drawn.checked_sub(start).ok_or_else(end_error)?
                }
            };
            if let Some(Amount::Percent(percent)) = job.size.filter(|size| *size != Amount::Percent(100)) {
                let share = (u128::from(bytes + start) * u128::from(percent) / 100) as u64;
                bytes = share.min(bytes);
                bytes -= bytes % job.least_of_all();
            }
            let counted = match job.io_size {
                Some(Amount::Percent(percent)) => (u128::from(bytes) * u128::from(percent) / 100) as u64,
                _ => bytes,
            };
            total = total.saturating_add(counted);
            let end = start.checked_add(bytes).ok_or_else(end_error)?;
            let allocates = if end > on_disk && !job.create_on_open {
                self.extend(job, &path, end, clone)
            } else {
                self.note_reader(job, &path, clone);
                None
            };
            let size = if end > on_disk { end } else { on_disk };
            used.push(FileUse { path, name: name.into(), start, bytes, size, allocates });
        }
        if let Some(room) = room.filter(|&room| self.laid_bytes > room) {
            let what = format!(
                "the files that the jobs need have {} bytes, and the disk has {room}",
                self.laid_bytes
            );
            return Err(job.place.error(what, "make size smaller, or the disk larger"));
        }
        let size = if size == 0 || (total > 0 && size > total) { total } else { size };
        if size < job.least_of_all() {
            let what = format!("has requests of {} bytes, and only {size} to move", job.least_of_all());
            return Err(job.place.error(what, "make bs smaller or size larger"));
        }
        Ok((used, size))
    }

    fn size_of(&self, path: &Arc<str>) -> u64 {
        self.files.get(path).map_or(0, |file| file.size)
    }

    /// `size`, or 0 if that of the files counts.
    fn size(&self, job: &Job, known: u64, room: Option<u64>) -> Result<u64, ReadError> {
        if let Some(Amount::Bytes(size)) = job.size.filter(|size| *size != Amount::Bytes(0)) {
            return Ok(size);
        }
        if job.fill_device {
            let free = room.map(|room| room.saturating_sub(self.laid_bytes));
            return free
                .ok_or_else(|| job.place.error("fill_device needs the size of the disk", "give size="));
        }
        if known == 0 && job.file_size.is_none() {
            return Err(job.place.error(
                format!("job `{}` says no size, and its files do not exist", shorten(&job.name)),
                "add size= or filesize=",
            ));
        }
        Ok(0)
    }

    /// A device is a file that has been there before.
    fn note_device(
        &mut self,
        job: &Job,
        name: &str,
        path: &Arc<str>,
        room: Option<u64>,
    ) -> Result<(), ReadError> {
        if !is_device(name) || self.files.contains_key(path) {
            return Ok(());
        }
        if ["null", "zero", "full", "random", "urandom"]
            .iter()
            .any(|pipe| name.ends_with(&format!("/dev/{pipe}")))
        {
            return Err(job.place.error(format!("{name} is no disk"), "name a file or a disk"));
        }
        let wanted = job.size.and_then(|size| match size {
            Amount::Bytes(bytes) if bytes > 0 => Some(bytes),
            _ => None,
        });
        let start = match job.offset {
            Amount::Bytes(start) => start,
            Amount::Percent(_) => 0,
        };
        let free = room.map(|room| room.saturating_sub(self.laid_bytes));
        let size = wanted.map(|bytes| bytes.saturating_add(start)).or(free);
        let size = size.filter(|&size| size > 0).ok_or_else(|| {
            job.place.error(format!("the size of the device {name} is not known"), "add size=")
        })?;
        self.lay_out(path, size);
        Ok(())
    }

    fn lay_out(&mut self, path: &Arc<str>, size: u64) {
        let before = self.files.insert(Arc::clone(path), OnDisk { size, is_laid_out: true, from: (0, 0) });
        if before.is_none() {
            self.order.push(Arc::clone(path));
        }
        self.laid_bytes =
            self.laid_bytes.saturating_add(size.saturating_sub(before.map_or(0, |file| file.size)));
    }

    /// Lays a file out, or has the thread allocate it.
    fn extend(&mut self, job: &Job, path: &Arc<str>, size: u64, clone: Clone) -> Option<Preallocation> {
        let needs_data =
            job.rw.reads || (job.overwrite && !job.file_append) || job.engine == super::engines::Engine::Mmap;
        let was_there = self.files.get(path).is_some_and(|file| file.is_laid_out);
        if needs_data || was_there {
            self.lay_out(path, size);
            return None;
        }
        let on_disk = match job.preallocation {
            Preallocation::Extend | Preallocation::Truncate => size,
            Preallocation::None | Preallocation::KeepSize => 0,
        };
        let file = OnDisk { size: on_disk, is_laid_out: false, from: clone.starts };
        if self.files.insert(Arc::clone(path), file).is_none() {
            self.order.push(Arc::clone(path));
        }
        Some(job.preallocation).filter(|&kind| kind != Preallocation::None)
    }

    /// A thread that reads a file which another one allocates later gets it with data.
    fn note_reader(&mut self, job: &Job, path: &Arc<str>, clone: Clone) {
        let is_later = |file: &OnDisk| !file.is_laid_out && file.from > clone.starts;
        if let Some(file) = self.files.get(path).filter(|file| job.rw.reads && is_later(file)) {
            let size = file.size;
            self.lay_out(path, size);
        }
    }
}

/// True of a name of a block device.
pub fn is_device(name: &str) -> bool {
    name.starts_with("/dev/") && !name.starts_with("/dev/shm/")
}

/// The names of a thread's files, as fio makes them.
fn names(job: &Job, section: &str, clone: u32) -> Vec<String> {
    let folder = |index: u32| {
        let at = index as usize % job.directories.len().max(1);
        job.directories.get(at).map_or(String::new(), |folder| format!("{folder}/"))
    };
    if !job.file_names.is_empty() {
        return job.file_names.iter().map(|name| format!("{}{name}", folder(0))).collect();
    }
    if job.files == 1 && is_device(section) {
        return vec![section.to_owned()];
    }
    let name = |number: u32| {
        format!("{}{}", folder(clone), file_name(&job.file_name_format, section, clone, number))
    };
    (0..job.files).map(name).collect()
}

/// `filename_format` with its keywords replaced, in whatever letters they are.
fn file_name(format: &str, section: &str, clone: u32, number: u32) -> String {
    let format = if format.is_empty() { "$jobname.$jobnum.$filenum" } else { format };
    let words = [
        ("$jobname", section.to_owned()),
        ("$jobnum", clone.to_string()),
        ("$filenum", number.to_string()),
        ("$clientuid", String::new()),
    ];
    let mut name = String::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let word = words
            .iter()
            .find(|(word, _)| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
        let length = match word {
            Some((word, value)) => {
                name.push_str(value);
                word.len()
            }
            None => {
                name.push(letter);
                letter.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    name
}

/// First byte that a thread uses (`get_start_offset`).
fn start_of(job: &Job, on_disk: u64, clone: u32) -> Result<u64, ReadError> {
    if job.file_append {
        return Ok(on_disk);
    }
    let share = |percent: u32| (u128::from(on_disk) * u128::from(percent) / 100) as u64;
    let (mut is_share, clone) = (false, u64::from(clone));
    let mut bytes = |amount| match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(percent) => {
            is_share = true;
            share(percent)
        }
    };
    let (offset, increment) = (bytes(job.offset), bytes(job.offset_increment));
    let start = increment.checked_mul(clone).and_then(|moved| offset.checked_add(moved));
    let start = start.ok_or_else(|| job.place.error("offset is more than 2^64", "make it smaller"))?;
    if !is_share {
        return Ok(start);
    }
    let align = if job.offset_align > 0 { job.offset_align } else { job.least_of_all() };
    Ok(start.div_ceil(align).saturating_mul(align))
}

/// The larger of the largest requests.
pub fn most_of_all(job: &Job) -> u64 {
    job.most(READ).max(job.most(WRITE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_format() {
        assert_eq!(file_name("", "a", 2, 3), "a.2.3");
        assert_eq!(file_name("x/$JobName-$filenum$", "é", 0, 7), "x/é-7$");
    }

    #[test]
    fn devices_are_told_by_name() {
        assert!(is_device("/dev/sda") && !is_device("/dev/shm/x") && !is_device("dev/sda"));
    }
}
