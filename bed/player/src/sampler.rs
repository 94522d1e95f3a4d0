//! What the kernel's counters say every 100 ms.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(100);

/// A file of counters, the names of its lines that are kept, and what a name becomes as a column.
struct Source {
    path: &'static str,
    names: &'static [&'static str],
    suffix: &'static str,
}

const SOURCES: [Source; 2] = [
    Source {
        path: "/proc/meminfo",
        names: &[
            "MemFree",
            "MemAvailable",
            "Buffers",
            "Cached",
            "Active(file)",
            "Inactive(file)",
            "Dirty",
            "Writeback",
            "Slab",
        ],
        suffix: "_kB",
    },
    Source {
        path: "/proc/vmstat",
        names: &[
            "nr_dirty_threshold",
            "nr_dirty_background_threshold",
            "nr_dirtied",
            "nr_written",
            "pgpgin",
            "pgpgout",
            "pgscan_kswapd",
            "pgscan_direct",
            "pgsteal_kswapd",
            "pgsteal_direct",
            "workingset_refault_file",
            "workingset_activate_file",
        ],
        suffix: "",
    },
];

/// The lines of /sys/kernel/debug/bdi/DEVICE/stats that are kept; all but the last are in kB.
const DEVICE_NAMES: [&str; 4] = ["BdiWriteback", "BdiReclaimable", "BdiDirtyThresh", "BdiWriteBandwidth"];

/// Reads the counters until it is told to stop.
pub struct Sampler {
    files: Vec<File>,
    device: Option<File>,
    samples: Vec<(f64, Vec<u64>)>,
}

impl Sampler {
    /// Opens what it will read; `device` is the number of the disk as MAJOR:MINOR, for its write-back figures.
    pub fn open(device: &str) -> io::Result<Self> {
        let files = SOURCES.iter().map(|source| File::open(source.path)).collect::<io::Result<_>>()?;
        let device = File::open(format!("/sys/kernel/debug/bdi/{device}/stats")).ok();
        Ok(Self { files, device, samples: Vec::with_capacity(4096) })
    }

    /// Samples every 100 ms from `start` until `is_over`.
    pub fn run(mut self, start: Instant, is_over: &AtomicBool) -> io::Result<Self> {
        let mut text = vec![0; 1 << 16];
        for number in 0.. {
            let due = start + PERIOD * number;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let time_s = start.elapsed().as_secs_f64();
            let mut values = Vec::with_capacity(32);
            for (source, file) in SOURCES.iter().zip(&self.files) {
                read(file, &mut text, source.names, &mut values)?;
            }
            match &self.device {
                Some(file) => read(file, &mut text, &DEVICE_NAMES, &mut values)?,
                None => values.extend([0; DEVICE_NAMES.len()]),
            }
            self.samples.push((time_s, values));
        }
        Ok(self)
    }

    /// Writes `mem.csv`.
    pub fn table(&self, case: &str, repetition: u32) -> String {
        let mut text = "case,rep,t_s".to_owned();
        for source in &SOURCES {
            source.names.iter().for_each(|name| _ = write!(text, ",{name}{}", source.suffix));
        }
        text += ",BdiWriteback_kB,BdiReclaimable_kB,BdiDirtyThresh_kB,BdiWriteBandwidth_kBps\n";
        for (time_s, values) in &self.samples {
            let _ = write!(text, "{case},{repetition},{time_s:.4}");
            values.iter().for_each(|value| _ = write!(text, ",{value}"));
            text.push('\n');
        }
        text
    }
}

/// Appends the values of `names` in the order of these; 0 for a line that is not there.
fn read(file: &File, buffer: &mut [u8], names: &[&str], values: &mut Vec<u64>) -> io::Result<()> {
    let length = file.read_at(buffer, 0)?;
    let text = String::from_utf8_lossy(&buffer[..length]);
    let first = values.len();
    values.resize(first + names.len(), 0);
    for line in text.lines() {
        let mut words = line.split([' ', ':', '\t']).filter(|word| !word.is_empty());
        let (Some(name), Some(value)) = (words.next(), words.next()) else { continue };
        if let Some(index) = names.iter().position(|known| *known == name) {
            values[first + index] = value.parse().unwrap_or(0);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn values_come_in_the_order_of_the_names_and_a_missing_line_is_zero() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"MemFree:   12 kB\nActive(file): 7 kB\nnr_dirtied 99\nBdiWriteback:\t    5 kB\n")
            .unwrap();
        let mut values = vec![1];
        read(&file, &mut [0; 256], &["nr_dirtied", "Active(file)", "Dirty", "BdiWriteback"], &mut values)
            .unwrap();
        assert_eq!(values, [1, 99, 7, 0, 5]);
    }

    #[test]
    fn every_sample_has_a_value_for_every_column() {
        let is_over = AtomicBool::new(false);
        let sampler = Sampler::open("no:device").unwrap();
        let sampler = thread::scope(|scope| {
            let running = scope.spawn(|| sampler.run(Instant::now(), &is_over).unwrap());
            thread::sleep(PERIOD / 2);
            is_over.store(true, Ordering::Relaxed);
            running.join().unwrap()
        });
        let table = sampler.table("a", 1);
        let counts: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [28, 28]);
    }
}
