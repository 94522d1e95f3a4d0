//! Holds the options of one job, with fio's defaults (version 3.33).

use std::sync::Arc;

use super::engines::Engine;
use super::steady::Criterion;
use super::target::Target;
use super::values::Amount;
use super::wrong::Place;
use crate::units::Nanos;
use crate::workload::{IoPriority, SyncRangeFlags};

/// Index of reads in an array for both directions.
pub const READ: usize = 0;
/// Index of writes.
pub const WRITE: usize = 1;

/// What `rw` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// Offsets are random.
    pub is_random: bool,
}

/// `rw_sequencer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequencer {
    /// The offset after the last one.
    Sequential,
    /// The last offset again.
    Identical,
}

/// A size of `bssplit` and its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Bytes of a request.
    pub bytes: u64,
    /// Per cent of the requests.
    pub percent: u32,
}

/// A zone of `random_distribution=zoned` or `zoned_abs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Per cent of the requests.
    pub percent: u32,
    /// Its length: per cent of the file, or bytes.
    pub length: u64,
}

/// `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// All blocks equally often.
    Uniform,
    /// Zipf's, with theta and, if given, the centre.
    Zipf(f64, Option<f64>),
    /// Pareto's, with its power and, if given, the centre.
    Pareto(f64, Option<f64>),
    /// Normal, with the deviation in per cent and, if given, the centre.
    Normal(f64, Option<f64>),
    /// Zones in per cent of the file, for each direction.
    Zoned([Arc<[Zone]>; 2]),
    /// Zones in bytes.
    ZonedAbsolute([Arc<[Zone]>; 2]),
}

/// `random_generator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// L'Ecuyer's taus88.
    Tausworthe,
    /// A linear feedback shift register.
    Lfsr,
    /// L'Ecuyer's taus258.
    Tausworthe64,
}

/// `file_service_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// One after the other.
    RoundRobin,
    /// Any.
    Random,
    /// One to its end, then the next.
    Sequential,
}

/// `sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncIo {
    /// No flag.
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// `fallocate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preallocation {
    /// Nothing.
    None,
    /// fallocate(2) with mode 0, which `native` and `posix` come to on Linux.
    Extend,
    /// With FALLOC_FL_KEEP_SIZE.
    KeepSize,
    /// ftruncate(2).
    Truncate,
}

/// `fadvise_hint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// None.
    None,
    /// By `rw`: random or sequential.
    ByPattern,
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_RANDOM.
    Random,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unified {
    /// Reads and writes apart.
    None,
    /// Together.
    Mixed,
    /// Both.
    Both,
}

/// `zonemode=strided`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// True for `strided`, false for `none`; unset follows `zonesize`.
    pub mode: Option<bool>,
    /// `zonesize`.
    pub size: u64,
    /// `zonerange`.
    pub range: u64,
    /// `zoneskip`.
    pub skip: u64,
}

/// `thinktime` and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// How long.
    pub time: Nanos,
    /// How much of it on a processor.
    pub spin: Nanos,
    /// After how many requests, if given.
    pub blocks: Option<u32>,
    /// After how much time of requests; 0 is never.
    pub every: Nanos,
}

/// `exit_what`: which threads a thread ends with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWhat {
    /// Those of its group.
    Group,
    /// All that have begun.
    Stonewall,
    /// All.
    All,
}

/// `flow` and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`.
    pub id: u32,
    /// `flow`; 0 is none.
    pub weight: u32,
    /// `flow_sleep`; 0 asks again at once.
    pub sleep: Nanos,
}

/// `steadystate` and its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// `steadystate`.
    pub criterion: Criterion,
    /// `steadystate_duration`, in seconds.
    pub seconds: u64,
    /// `steadystate_ramp_time`.
    pub ramp: Nanos,
}

/// What is reported of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// `clat_percentiles`.
    pub clat: bool,
    /// `lat_percentiles`.
    pub lat: bool,
    /// `slat_percentiles`.
    pub slat: bool,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// `group_reporting`.
    pub by_group: bool,
    /// `stats`.
    pub stats: bool,
}

/// The options of one section, merged with those it inherits.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name, which `name=` may change.
    pub name: String,
    /// The head of its section.
    pub place: Place,
    /// `description`.
    pub description: Option<String>,
    /// `kb_base`.
    pub kb_base: u64,
    /// `rw`.
    pub rw: Direction,
    /// Behind the colon of a sequential `rw`: bytes between two requests.
    pub step: i64,
    /// Behind the colon of a random `rw`: requests for each random offset.
    pub repeat: u32,
    /// `rw_sequencer`.
    pub sequencer: Sequencer,
    /// `bs`.
    pub bs: [u64; 2],
    /// `bsrange`, or the least and the most of `bssplit`.
    pub bs_range: [Option<(u64, u64)>; 2],
    /// `bssplit`; empty without.
    pub bs_split: [Arc<[Split]>; 2],
    /// `bs_unaligned`.
    pub bs_unaligned: bool,
    /// `bs_is_seq_rand`.
    pub bs_is_seq_rand: bool,
    /// `ba`; 0 is the least request.
    pub align: [u64; 2],
    /// `size`.
    pub size: Option<Amount>,
    /// `io_size`.
    pub io_size: Option<Amount>,
    /// `filesize`.
    pub file_size: Option<(u64, u64)>,
    /// `fill_device`.
    pub fill_device: bool,
    /// `file_append`.
    pub file_append: bool,
    /// `offset`.
    pub offset: Amount,
    /// `offset_align`.
    pub offset_align: u64,
    /// `offset_increment`.
    pub offset_increment: Amount,
    /// `number_ios`; 0 is no bound.
    pub number_ios: u64,
    /// `directory`, its parts.
    pub directories: Vec<String>,
    /// `filename`, its parts; those of [global] come first.
    pub file_names: Vec<String>,
    /// `filename_format`.
    pub file_name_format: String,
    /// `nrfiles`.
    pub files: u32,
    /// `openfiles`; 0 is all.
    pub open_files: u32,
    /// `file_service_type`, and requests before the next file.
    pub service: (Service, u32),
    /// `ioengine`.
    pub engine: Engine,
    /// `uncached` of pvsync2 and io_uring.
    pub uncached: bool,
    /// `iodepth`.
    pub depth: u32,
    /// `iodepth_low`; 0 is `iodepth`.
    pub depth_low: u32,
    /// `iodepth_batch_complete_min`.
    pub complete_min: u32,
    /// `direct`.
    pub direct: bool,
    /// `sync`.
    pub sync: SyncIo,
    /// `fsync`.
    pub fsync: u32,
    /// `fdatasync`.
    pub fdatasync: u32,
    /// `sync_file_range`: the flags and after how many writes.
    pub sync_range: Option<(SyncRangeFlags, u32)>,
    /// `end_fsync`.
    pub end_fsync: bool,
    /// `fsync_on_close`.
    pub fsync_on_close: bool,
    /// `overwrite`.
    pub overwrite: bool,
    /// `create_on_open`.
    pub create_on_open: bool,
    /// `create_only`.
    pub create_only: bool,
    /// `fallocate`.
    pub preallocation: Preallocation,
    /// `unlink`.
    pub unlink: bool,
    /// `unlink_each_loop`.
    pub unlink_each_loop: bool,
    /// `invalidate`.
    pub invalidate: bool,
    /// `pre_read`.
    pub pre_read: bool,
    /// `fadvise_hint`.
    pub hint: Hint,
    /// `thinktime` and its options.
    pub think: Think,
    /// `rate`; 0 is none.
    pub rate: [u64; 2],
    /// `rate_iops`; 0 is none.
    pub rate_iops: [u64; 2],
    /// `rate_process=poisson`.
    pub is_poisson: bool,
    /// `rate_ignore_thinktime`.
    pub rate_ignores_think: bool,
    /// `runtime`; 0 is none.
    pub runtime: Nanos,
    /// `time_based`.
    pub time_based: bool,
    /// `ramp_time`.
    pub ramp: Nanos,
    /// `loops`.
    pub loops: u32,
    /// `startdelay`, from and to.
    pub start_delay: (Nanos, Nanos),
    /// `randrepeat`.
    pub rand_repeat: bool,
    /// `allrandrepeat`.
    pub all_rand_repeat: bool,
    /// `randseed`, if given.
    pub rand_seed: Option<u64>,
    /// `norandommap`.
    pub no_random_map: bool,
    /// `random_generator`.
    pub generator: Generator,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `percentage_random`.
    pub percent_random: [u32; 2],
    /// `rwmixread`.
    pub percent_reads: u32,
    /// `numjobs`.
    pub jobs: u32,
    /// `prio` and `prioclass`.
    pub ioprio: IoPriority,
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `wait_for`.
    pub wait_for: Option<String>,
    /// `exitall`.
    pub exit_all: bool,
    /// `exit_what`.
    pub exit_what: ExitWhat,
    /// `flow` and its options.
    pub flow: Flow,
    /// `steadystate`, as it is written.
    pub steady_criterion: Criterion,
    /// `steadystate_duration` and `steadystate_ramp_time`.
    pub steady_times: (Nanos, Nanos),
    /// The check that is made of both.
    pub steady: Option<Steady>,
    /// `latency_target` and its options.
    pub target: Target,
    /// `max_latency`; 0 is none.
    pub most_latency: [Nanos; 2],
    /// `verify` is on.
    pub verify: bool,
    /// `do_verify`.
    pub do_verify: bool,
    /// `verify_backlog`; 0 is none.
    pub verify_backlog: u32,
    /// `verify_backlog_batch`; 0 is `verify_backlog`.
    pub verify_batch: u32,
    /// `zonemode`, `zonesize`, `zonerange`, `zoneskip`.
    pub strides: Strides,
    /// What is reported.
    pub reporting: Reporting,
}

impl Job {
    /// fio's defaults.
    pub fn new(place: Place) -> Self {
        let none = Amount::Bytes(0);
        Self {
            name: String::new(),
            place,
            description: None,
            kb_base: 1024,
            rw: Direction { reads: true, writes: false, is_random: false },
            step: 0,
            repeat: 1,
            sequencer: Sequencer::Sequential,
            bs: [4096; 2],
            bs_range: [None; 2],
            bs_split: [Arc::from([]), Arc::from([])],
            bs_unaligned: false,
            bs_is_seq_rand: false,
            align: [0; 2],
            size: None,
            io_size: None,
            file_size: None,
            fill_device: false,
            file_append: false,
            offset: none,
            offset_align: 0,
            offset_increment: none,
            number_ios: 0,
            directories: Vec::new(),
            file_names: Vec::new(),
            file_name_format: "$jobname.$jobnum.$filenum".to_owned(),
            files: 1,
            open_files: 0,
            service: (Service::RoundRobin, 1),
            engine: Engine::Psync,
            uncached: false,
            depth: 1,
            depth_low: 0,
            complete_min: 1,
            direct: false,
            sync: SyncIo::None,
            fsync: 0,
            fdatasync: 0,
            sync_range: None,
            end_fsync: false,
            fsync_on_close: false,
            overwrite: false,
            create_on_open: false,
            create_only: false,
            preallocation: Preallocation::Extend,
            unlink: false,
            unlink_each_loop: false,
            invalidate: true,
            pre_read: false,
            hint: Hint::ByPattern,
            think: Think { time: Nanos::ZERO, spin: Nanos::ZERO, blocks: None, every: Nanos::ZERO },
            rate: [0; 2],
            rate_iops: [0; 2],
            is_poisson: false,
            rate_ignores_think: false,
            runtime: Nanos::ZERO,
            time_based: false,
            ramp: Nanos::ZERO,
            loops: 1,
            start_delay: (Nanos::ZERO, Nanos::ZERO),
            rand_repeat: true,
            all_rand_repeat: false,
            rand_seed: None,
            no_random_map: false,
            generator: Generator::Tausworthe,
            distribution: Distribution::Uniform,
            percent_random: [100; 2],
            percent_reads: 50,
            jobs: 1,
            ioprio: IoPriority::default(),
            stonewall: false,
            new_group: false,
            wait_for: None,
            exit_all: false,
            exit_what: ExitWhat::Group,
            flow: Flow { id: 0, weight: 0, sleep: Nanos::ZERO },
            steady_criterion: Criterion::default(),
            steady_times: (Nanos::ZERO, Nanos::ZERO),
            steady: None,
            target: Target { latency: Nanos::ZERO, window: Nanos::ZERO, percentile: 100.0, keeps_on: false },
            most_latency: [Nanos::ZERO; 2],
            verify: false,
            do_verify: true,
            verify_backlog: 0,
            verify_batch: 0,
            strides: Strides::default(),
            reporting: Reporting {
                percentiles: vec![
                    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9,
                    99.95, 99.99,
                ],
                clat: true,
                lat: false,
                slat: false,
                unified: Unified::None,
                by_group: false,
                stats: true,
            },
        }
    }

    /// The least request of a direction.
    pub fn least(&self, direction: usize) -> u64 {
        self.bs_range[direction].map_or(self.bs[direction], |(least, _)| least)
    }

    /// The largest request of a direction.
    pub fn most(&self, direction: usize) -> u64 {
        self.bs_range[direction].map_or(self.bs[direction], |(_, most)| most)
    }

    /// The least request of both directions, whichever the job has: fio counts them both.
    pub fn least_of_all(&self) -> u64 {
        self.least(READ).min(self.least(WRITE))
    }

    /// True if its random numbers have 64 bits.
    pub fn draws_64_bits(&self) -> bool {
        self.generator == Generator::Tausworthe64
    }

    /// The number of requests that can be under way at once in fio.
    pub fn queue_depth(&self) -> u32 {
        if self.engine.is_synchronous() { 1 } else { self.depth }
    }
}
