//! Measures waiting for the device: a block written and made durable, again and again.
//!
//! Times are by the clock, without waits for a processor: with other threads on it each wait ends with a tick of theirs.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use pagecast_core::units::Nanos;
use pagecast_core::workload::OpenFlag;

use super::{Failed, doing, make, new_file, random_memory};
use crate::io::{Direction, Io, Memory, Offsets, Sync, Times, Transfer, transfer};

/// The ways in which the writer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// fsync(2) after each write; its time alone counts.
    Fsync,
    /// fdatasync(2) after each write; its time alone counts.
    Fdatasync,
    /// The write itself, to a file opened with O_DSYNC.
    Dsync,
    /// fsync(2) after each write, which makes a new file longer; its time alone counts.
    Append,
}

impl Waiting {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Fsync, Self::Fdatasync, Self::Dsync, Self::Append];
    /// Their names, in the same order.
    pub const NAMES: [&str; 4] = ["fsync", "fdatasync", "O_DSYNC", "append"];
}

/// Writes over blocks of a file that is there, or blocks of a new one beside it, and gives how long each had to be waited for; at least
/// one, and no more than `most` or than `time` lets. One before them is not told of: it waits for whatever the device had taken before.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn syncs<I: Io>(
    io: &I,
    path: &Path,
    waiting: Waiting,
    block: NonZero<u64>,
    most: usize,
    time: Nanos,
    stop: &AtomicBool,
) -> Result<Vec<Nanos>, Failed> {
    let flags = (waiting == Waiting::Dsync).then_some(OpenFlag::Dsync);
    let new = path.with_extension("append");
    let file = match waiting {
        Waiting::Append => new_file(io, &new)?,
        _ => doing("open", io.open(path, make(flags)))?,
    };
    let places = match waiting {
        Waiting::Append => u64::MAX,
        _ => (doing("stat", io.length(&file))? / block).max(1),
    };
    let mut memory = random_memory(block)?;
    let mut wait = |number: usize| {
        let offset = number as u64 % places * block.get();
        one(io, &file, waiting, (offset, block), &mut memory, stop)
    };
    wait(0)?;
    let (mut took, begun) = (Vec::with_capacity(most), io.now());
    while took.is_empty() || (took.len() < most && io.now() - begun < time) {
        took.push(wait(took.len() + 1)?);
    }
    if waiting == Waiting::Append {
        doing("unlink", io.remove(&new))?;
    }
    Ok(took)
}

/// Writes a block and waits for it.
fn one<I: Io>(
    io: &I,
    file: &I::File,
    waiting: Waiting,
    (offset, block): (u64, NonZero<u64>),
    memory: &mut Memory,
    stop: &AtomicBool,
) -> Result<Nanos, Failed> {
    let what = Transfer {
        direction: Direction::Write,
        offsets: Offsets::From(offset),
        bytes: block.get(),
        call: block,
        spreads: false,
    };
    let mut begun = (io.now(), io.processor_wait());
    transfer(io, file, &what, memory, &mut Times::of_whole(), stop).map_err(Failed::of(Direction::Write))?;
    if waiting != Waiting::Dsync {
        begun = (io.now(), io.processor_wait());
    }
    match waiting {
        Waiting::Dsync => {}
        Waiting::Fsync | Waiting::Append => doing("fsync", io.sync(file, Sync::File))?,
        Waiting::Fdatasync => doing("fdatasync", io.sync(file, Sync::Data))?,
    }
    let (took, waited) = (io.now() - begun.0, io.processor_wait() - begun.1);
    Ok(Nanos(took.0.saturating_sub(waited.0)))
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Kernel};
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const BLOCK: NonZero<u64> = NonZero::new(4096).unwrap();
    const COSTS: Costs =
        Costs { call_ns: 100, latency_ns: 9000, device_ns_per_byte: 1, sync_ns: 50_000, ..Costs::NOTHING };

    fn measured(waiting: Waiting, most: usize, time: u64) -> Vec<Nanos> {
        let kernel = Kernel::new(COSTS);
        syncs(&kernel, Path::new("s"), waiting, BLOCK, most, Nanos(time), &GO_ON).unwrap()
    }

    #[test]
    fn waiting_counts_without_the_write_before_it() {
        // The block goes to the device when it is waited for, and then the device is flushed.
        for waiting in [Waiting::Fsync, Waiting::Fdatasync] {
            assert_eq!(measured(waiting, 3, u64::MAX), [Nanos(4096 + 50_000); 3]);
        }
        assert_eq!(measured(Waiting::Dsync, 2, u64::MAX), [Nanos(100 + 4096 + 50_000); 2]);
    }

    #[test]
    fn a_file_that_grows_is_a_new_one_that_is_gone_afterwards() {
        let kernel = Kernel::new(COSTS);
        let wait =
            |waiting| syncs(&kernel, Path::new("s"), waiting, BLOCK, 3, Nanos(u64::MAX), &GO_ON).unwrap();
        assert_eq!(wait(Waiting::Append), [Nanos(4096 + 50_000); 3]);
        assert_eq!(kernel.files(), 0);
        wait(Waiting::Fsync);
        assert_eq!(kernel.files(), 1);
    }

    #[test]
    fn a_slow_device_is_waited_for_once() {
        assert_eq!(measured(Waiting::Fsync, 100, 1).len(), 1);
    }
}
