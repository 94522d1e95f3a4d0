//! Options of the type of I/O: directions, offsets, random numbers, synchronisation.

use super::known::{Known, done, no_effect, refused};
use super::words::{ADVICE, distribution, random_words, sync_range};
use crate::readers::fio::job::{Direction, Sequencer, SyncIo, Unified};
use crate::readers::fio::wrong::Wrong;

const fn direction(reads: bool, writes: bool, is_random: bool) -> Option<Direction> {
    Some(Direction { reads, writes, is_random })
}

pub(super) const KINDS: &[Known] = &[
    done("direct", &[], "", |job, value| {
        job.direct = value.truth()?;
        Ok(())
    }),
    refused("atomic", &["0"], "O_ATOMIC is no flag of Linux"),
    done("buffered", &[], "", |job, value| {
        job.direct = !value.truth()?;
        Ok(())
    }),
    done(
        "rw",
        &["readwrite"],
        "but for trims, which are refused: fio discards blocks of devices alone, and discards are not modelled",
        |job, value| {
            let words = [
                ("read", direction(true, false, false)),
                ("write", direction(false, true, false)),
                ("randread", direction(true, false, true)),
                ("randwrite", direction(false, true, true)),
                ("rw", direction(true, true, false)),
                ("readwrite", direction(true, true, false)),
                ("randrw", direction(true, true, true)),
                ("trim", None),
                ("randtrim", None),
                ("trimwrite", None),
                ("randtrimwrite", None),
            ];
            let (found, rest) = value.word(&words)?;
            job.rw = found
                .ok_or_else(|| Wrong::new("trims, and discards are not modelled", "take reads and writes"))?;
            (job.step, job.repeat) = (0, 1);
            match rest {
                None => {}
                Some(rest) if job.rw.is_random => {
                    job.repeat = value.of(rest).number_in(1, u64::from(u32::MAX))? as u32
                }
                Some(rest) => {
                    let (sign, size) = rest.strip_prefix('-').map_or((1, rest), |size| (-1, size));
                    job.step = sign * value.of(size).number_in(0, i64::MAX as u64)? as i64;
                }
            }
            Ok(())
        },
    ),
    done("rw_sequencer", &[], "", |job, value| {
        let words = [("sequential", Sequencer::Sequential), ("identical", Sequencer::Identical)];
        job.sequencer = value.word(&words)?.0;
        Ok(())
    }),
    done("unified_rw_reporting", &[], "", |job, value| {
        let words = [
            ("none", Unified::None),
            ("0", Unified::None),
            ("mixed", Unified::Mixed),
            ("1", Unified::Mixed),
            ("both", Unified::Both),
            ("2", Unified::Both),
        ];
        job.reporting.unified = value.word(&words)?.0;
        Ok(())
    }),
    done(
        "randrepeat",
        &[],
        "0 takes seeds that are not the usual ones, but always the same: a simulation can be repeated",
        |job, value| {
            job.rand_repeat = value.truth()?;
            Ok(())
        },
    ),
    done("allrandrepeat", &[], "", |job, value| {
        job.all_rand_repeat = value.truth()?;
        Ok(())
    }),
    done("randseed", &[], "", |job, value| {
        job.rand_seed = Some(value.number()?);
        Ok(())
    }),
    done("fadvise_hint", &[], "", |job, value| {
        job.hint = value.word(&ADVICE)?.0;
        Ok(())
    }),
    no_effect("write_hint", &[], "no device of a machine takes it"),
    done("offset", &["fileoffset"], "", |job, value| {
        job.offset = value.amount()?;
        Ok(())
    }),
    done("offset_align", &[], "", |job, value| {
        job.offset_align = value.number()?;
        Ok(())
    }),
    done("offset_increment", &[], "", |job, value| {
        job.offset_increment = value.amount()?;
        Ok(())
    }),
    done("number_ios", &[], "", |job, value| {
        job.number_ios = value.number()?;
        Ok(())
    }),
    done("fsync", &[], "", |job, value| {
        job.fsync = value.small()?;
        Ok(())
    }),
    done("fdatasync", &[], "", |job, value| {
        job.fdatasync = value.small()?;
        Ok(())
    }),
    no_effect("write_barrier", &[], "none of the engines here has it"),
    done("sync_file_range", &[], "", |job, value| {
        job.sync_range = Some(sync_range(value)?);
        Ok(())
    }),
    done("overwrite", &[], "", |job, value| {
        job.overwrite = value.truth()?;
        Ok(())
    }),
    done("end_fsync", &[], "", |job, value| {
        job.end_fsync = value.truth()?;
        Ok(())
    }),
    done("fsync_on_close", &[], "", |job, value| {
        job.fsync_on_close = value.truth()?;
        Ok(())
    }),
    done("rwmixread", &[], "", |job, value| {
        job.percent_reads = value.number_in(0, 100)? as u32;
        Ok(())
    }),
    done("rwmixwrite", &[], "", |job, value| {
        job.percent_reads = 100 - value.number_in(0, 100)? as u32;
        Ok(())
    }),
    done(
        "random_distribution",
        &[],
        "`zipf` and `pareto` sum up at most 10,000,000 blocks, as in fio",
        |job, value| {
            job.distribution = distribution(value)?;
            Ok(())
        },
    ),
    done("percentage_random", &[], "", |job, value| {
        value.each(&mut job.percent_random, |value| Ok(value.number_in(0, 100)? as u32))
    }),
    done("norandommap", &[], "", |job, value| {
        job.no_random_map = value.flag()?;
        Ok(())
    }),
    no_effect("softrandommap", &[], "the map of blocks is never too large"),
    done("random_generator", &[], "", |job, value| {
        job.generator = value.word(&random_words())?.0;
        Ok(())
    }),
    done("sync", &[], "", |job, value| {
        let words = [
            ("none", SyncIo::None),
            ("0", SyncIo::None),
            ("sync", SyncIo::Sync),
            ("1", SyncIo::Sync),
            ("dsync", SyncIo::Dsync),
        ];
        job.sync = value.word(&words)?.0;
        Ok(())
    }),
    done(
        "invalidate",
        &[],
        "POSIX_FADV_DONTNEED when a file is opened, before each loop, and when a time-based job begins again",
        |job, value| {
            job.invalidate = value.truth()?;
            Ok(())
        },
    ),
];
