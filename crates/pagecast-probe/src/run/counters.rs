//! Reads the kernel's counters many times a second: files of /proc and /sys that stay open, and numbers found in them by their place.
//!
//! A line of /proc/vmstat or /proc/meminfo stays where it is as long as the machine runs. So names are compared once, and later only lines
//! are counted.

use std::fs::File;
use std::path::Path;

use rustix::io::pread;

use crate::counters::{SECTOR, stat_path};
use crate::io::Folder;
use crate::residency::page_size;

/// How many bytes the largest of the files may have: /proc/vmstat has about 5000.
const ROOM: usize = 32 << 10;

/// One number of a file.
struct Wanted {
    /// Of the column.
    name: &'static str,
    /// The start of the line; empty for a line without a name.
    line: &'static str,
    /// The index of the word after that.
    word: usize,
    /// The text before the number in this word.
    before: &'static str,
    /// The factor of the number.
    factor: u64,
}

const fn named(name: &'static str, line: &'static str, factor: u64) -> Wanted {
    Wanted { name, line, word: 0, before: "", factor }
}

const fn pressure(name: &'static str, line: &'static str) -> Wanted {
    // some avg10=0.00 avg60=0.00 avg300=0.00 total=0
    Wanted { name, line, word: 3, before: "total=", factor: 1 }
}

const fn field(name: &'static str, word: usize, factor: u64) -> Wanted {
    Wanted { name, line: "", word, before: "", factor }
}

/// Of /proc/meminfo, in KiB.
const MEMINFO: [Wanted; 3] = [
    named("mem_total_bytes", "MemTotal:", 1024),
    named("mem_available_bytes", "MemAvailable:", 1024),
    named("buffers_bytes", "Buffers:", 1024),
];

/// Of /proc/vmstat, in pages; a factor of 0 stands for the size of a page.
const VMSTAT: [Wanted; 27] = [
    named("nr_free_pages_bytes", "nr_free_pages", 0),
    named("nr_inactive_anon_bytes", "nr_inactive_anon", 0),
    named("nr_active_anon_bytes", "nr_active_anon", 0),
    named("nr_inactive_file_bytes", "nr_inactive_file", 0),
    named("nr_active_file_bytes", "nr_active_file", 0),
    named("nr_anon_pages_bytes", "nr_anon_pages", 0),
    named("nr_file_pages_bytes", "nr_file_pages", 0),
    named("nr_shmem_bytes", "nr_shmem", 0),
    named("nr_mapped_bytes", "nr_mapped", 0),
    named("nr_dirty_bytes", "nr_dirty", 0),
    named("nr_writeback_bytes", "nr_writeback", 0),
    named("nr_dirtied_bytes", "nr_dirtied", 0),
    named("nr_written_bytes", "nr_written", 0),
    named("nr_dirty_threshold_bytes", "nr_dirty_threshold", 0),
    named("nr_dirty_background_threshold_bytes", "nr_dirty_background_threshold", 0),
    named("workingset_refault_file_bytes", "workingset_refault_file", 0),
    named("workingset_activate_file_bytes", "workingset_activate_file", 0),
    named("pgscan_kswapd_bytes", "pgscan_kswapd", 0),
    named("pgscan_direct_bytes", "pgscan_direct", 0),
    named("pgsteal_kswapd_bytes", "pgsteal_kswapd", 0),
    named("pgsteal_direct_bytes", "pgsteal_direct", 0),
    named("pgactivate_bytes", "pgactivate", 0),
    named("pgdeactivate_bytes", "pgdeactivate", 0),
    named("pgpgin_bytes", "pgpgin", 1024),
    named("pgpgout_bytes", "pgpgout", 1024),
    named("pswpin_bytes", "pswpin", 0),
    named("pswpout_bytes", "pswpout", 0),
];

const IO_PRESSURE: [Wanted; 2] = [pressure("io_some_us", "some"), pressure("io_full_us", "full")];
const MEMORY_PRESSURE: [Wanted; 2] = [pressure("memory_some_us", "some"), pressure("memory_full_us", "full")];
const CPU_PRESSURE: [Wanted; 1] = [pressure("cpu_some_us", "some")];

/// Of /sys/dev/block/*/stat.
const DEVICE: [Wanted; 6] = [
    field("device_reads", 0, 1),
    field("device_read_bytes", 2, SECTOR),
    field("device_writes", 4, 1),
    field("device_written_bytes", 6, SECTOR),
    field("device_in_flight", 8, 1),
    field("device_busy_ms", 9, 1),
];

/// One file that stays open.
struct Source {
    file: File,
    wanted: &'static [Wanted],
    /// Of each line that has something, its number and what it has: indices into `wanted`.
    lines: Vec<(usize, usize)>,
    /// The index of its first number in a sample.
    column: usize,
}

impl Source {
    fn open(path: &Path, wanted: &'static [Wanted]) -> Option<Self> {
        Some(Self { file: File::open(path).ok()?, wanted, lines: Vec::new(), column: 0 })
    }

    /// Finds the lines; gives the names of those numbers that there are.
    fn find(&mut self, text: &[u8]) -> Vec<&'static str> {
        let wanted = self.wanted;
        let lines = text.split(|&byte| byte == b'\n').enumerate();
        self.lines = lines
            .flat_map(|(number, line)| {
                let has = move |one: &Wanted| one.number(line).is_some();
                (0..wanted.len()).filter(move |&at| has(&wanted[at])).map(move |at| (number, at))
            })
            .collect();
        self.lines.iter().map(|&(_, at)| wanted[at].name).collect()
    }

    fn read<'b>(&self, buffer: &'b mut [u8]) -> &'b [u8] {
        let length = pread(&self.file, &mut *buffer, 0).unwrap_or(0);
        &buffer[..length]
    }

    /// Takes the numbers out of a text that has the lines where they were.
    fn numbers(&self, text: &[u8], values: &mut [u64]) {
        let mut lines = text.split(|&byte| byte == b'\n').enumerate();
        let mut current: Option<(usize, &[u8])> = None;
        for (place, &(number, at)) in self.lines.iter().enumerate() {
            while current.is_none_or(|(now, _)| now < number) {
                current = lines.next();
                if current.is_none() {
                    return;
                }
            }
            let line = current.map_or(&[][..], |(_, line)| line);
            values[self.column + place] = self.wanted[at].number(line).unwrap_or(0);
        }
    }
}

impl Wanted {
    fn number(&self, line: &[u8]) -> Option<u64> {
        let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        if !self.line.is_empty() && words.next()? != self.line.as_bytes() {
            return None;
        }
        let word = words.nth(self.word)?.strip_prefix(self.before.as_bytes())?;
        let number = word.iter().try_fold(0_u64, |number, byte| {
            byte.is_ascii_digit().then(|| number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')))
        })?;
        Some(number.wrapping_mul(if self.factor == 0 { page_size() } else { self.factor }))
    }
}

/// All counters of one machine.
pub(super) struct Counters {
    sources: Vec<Source>,
    buffer: Box<[u8]>,
    /// The names of the columns of a sample.
    pub names: Vec<&'static str>,
}

impl Counters {
    /// Opens what there is; some kernels have no pressure, and not every folder is on a device.
    pub fn open(folder: &Folder) -> Self {
        let device = folder.file_system().ok().and_then(|system| system.block_device());
        let device = device.or_else(|| rustix::fs::fstat(folder).ok().map(|found| found.st_dev));
        let stat = device.map(stat_path);
        let wanted: [(&str, &'static [Wanted]); 6] = [
            ("/proc/meminfo", &MEMINFO),
            ("/proc/vmstat", &VMSTAT),
            ("/proc/pressure/io", &IO_PRESSURE),
            ("/proc/pressure/memory", &MEMORY_PRESSURE),
            ("/proc/pressure/cpu", &CPU_PRESSURE),
            (stat.as_deref().unwrap_or(""), &DEVICE),
        ];
        let sources = wanted.into_iter().filter_map(|(path, wanted)| Source::open(Path::new(path), wanted));
        let mut counters =
            Self { sources: sources.collect(), buffer: vec![0; ROOM].into_boxed_slice(), names: Vec::new() };
        for source in &mut counters.sources {
            source.column = counters.names.len();
            let text = source.read(&mut counters.buffer).to_vec();
            counters.names.extend(source.find(&text));
        }
        counters
    }

    /// Reads all of them; `values` has one place for each name.
    pub fn read(&mut self, values: &mut [u64]) {
        for source in &self.sources {
            let text = source.read(&mut self.buffer);
            source.numbers(text, values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(wanted: &'static [Wanted], text: &str) -> Vec<(&'static str, u64)> {
        let mut source = Source::open(Path::new("/dev/null"), wanted).unwrap();
        let names = source.find(text.as_bytes());
        let mut values = vec![0; names.len()];
        source.numbers(text.as_bytes(), &mut values);
        names.into_iter().zip(values).collect()
    }

    #[test]
    fn names_of_lines_are_whole() {
        let text = "nr_free_pages 3\nnr_dirty_threshold 7\nnr_dirty 2\npgpgin 5\n";
        let page = page_size();
        assert_eq!(
            found(&VMSTAT, text),
            [
                ("nr_free_pages_bytes", 3 * page),
                ("nr_dirty_threshold_bytes", 7 * page),
                ("nr_dirty_bytes", 2 * page),
                ("pgpgin_bytes", 5120)
            ]
        );
    }

    #[test]
    fn every_kind_of_file_is_understood() {
        assert_eq!(found(&MEMINFO, "MemTotal:   100 kB\nMemFree: 1 kB\n"), [("mem_total_bytes", 102_400)]);
        let text = "some avg10=0.16 avg60=0.32 avg300=0.31 total=666\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
        assert_eq!(found(&IO_PRESSURE, text), [("io_some_us", 666), ("io_full_us", 9)]);
        let stat = "  10 2 16 5  20 3 32 6 1 7 2 0 0 0 0\n";
        let values: Vec<u64> = found(&DEVICE, stat).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [10, 8192, 20, 16_384, 1, 7]);
    }

    #[test]
    fn this_machine_has_counters_that_agree() {
        let folder = Folder::open(Path::new("/")).unwrap();
        let mut counters = Counters::open(&folder);
        let mut values = vec![0; counters.names.len()];
        counters.read(&mut values);
        let value = |name| values[counters.names.iter().position(|&one| one == name).unwrap()];
        assert!(value("nr_free_pages_bytes") < value("mem_total_bytes"));
        assert!(value("nr_dirty_background_threshold_bytes") <= value("nr_dirty_threshold_bytes"));
    }
}
