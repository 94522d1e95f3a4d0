//! What it costs to wait for the device: a block written and made durable, again and again.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use pagecast_core::units::Nanos;
use pagecast_core::workload::OpenFlag;

use super::{Failed, doing, make, random_memory};
use crate::io::{Direction, Io, Offsets, Sync, Times, Transfer, transfer};

/// How the writer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// fsync(2) after each write; its time alone counts.
    Fsync,
    /// fdatasync(2) after each write; its time alone counts.
    Fdatasync,
    /// The write itself, to a file opened with O_DSYNC.
    Dsync,
}

impl Waiting {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fsync, Self::Fdatasync, Self::Dsync];
    /// Their names, in the same order.
    pub const NAMES: [&str; 3] = ["fsync", "fdatasync", "O_DSYNC"];
}

/// Writes over blocks of a file that is there, and gives how long each had to be waited for; at least one, and no more than
/// `most` or than `time` lets.
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
    let file = doing("open", io.open(path, make(flags)))?;
    let places = (doing("stat", io.length(&file))? / block).max(1);
    let (mut memory, mut times) = (random_memory(block)?, Times::of_whole());
    let (mut took, begun) = (Vec::with_capacity(most), io.now());
    while took.is_empty() || (took.len() < most && io.now() - begun < time) {
        let what = Transfer {
            direction: Direction::Write,
            offsets: Offsets::From(took.len() as u64 % places * block.get()),
            bytes: block.get(),
            call: block,
            spreads: false,
        };
        transfer(io, &file, &what, &mut memory, &mut times, stop).map_err(Failed::of(Direction::Write))?;
        let written = io.now();
        took.push(match waiting {
            Waiting::Dsync => times.duration(),
            Waiting::Fsync => {
                doing("fsync", io.sync(&file, Sync::File))?;
                io.now() - written
            }
            Waiting::Fdatasync => {
                doing("fdatasync", io.sync(&file, Sync::Data))?;
                io.now() - written
            }
        });
    }
    Ok(took)
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
    fn a_slow_device_is_waited_for_once() {
        assert_eq!(measured(Waiting::Fsync, 100, 1).len(), 1);
    }
}
