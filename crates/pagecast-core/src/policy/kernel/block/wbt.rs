//! Limits the requests of write-back in flight to a disk.
//!
//! Source: `block/blk-wbt.c`, `block/blk-rq-qos.c`, `include/linux/writeback.h: wbc_to_write_flags`, Linux 6.16; since 4.10, except for the
//! cgroups whose writers count (`version`). The limit depends on the reason of the write, on whether a writer to the disk was throttled
//! within the last second, and on how long the disk has been writing.
//!
//! A task that has found no room sleeps until `wb_normal` less half of `wb_background` are left, or none, with a write cache in the disk and
//! no throttled writer. So the queue fills up and runs down in turn.
//!
//! Left out: a smaller depth after slow reads (`latency_exceeded`), as if all took less than `wbt_lat_usec`.

use crate::machine::{Host, MountSource};
use crate::policy::DeviceId;
use crate::units::Nanos;

/// `RWB_DEF_DEPTH`: the depth at first, in requests.
const DEFAULT_DEPTH: u64 = 16;
/// `RWB_WINDOW_NSEC`.
const WINDOW: Nanos = Nanos(100_000_000);
/// `RWB_UNKNOWN_BUMP`: the depth falls by a step after so many windows without a write.
const UNKNOWN_BUMP: u32 = 5;
/// `wb_recent_wait`: HZ ticks.
const RECENT_WAIT: Nanos = Nanos(1_000_000_000);
/// `close_io`: HZ / 10 ticks.
const CLOSE: Nanos = Nanos(100_000_000);

/// The reason for which pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A task waits for them (`REQ_SYNC`).
    Sync,
    /// Too many pages are dirty, or they are old (`for_background`, `for_kupdate`).
    Background,
    /// Reclaim wants memory, or a program gives its pages up.
    Other,
}

/// The last events of a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    /// A writer was throttled: `bdi->last_bdp_sleep`.
    pub slept: Option<Nanos>,
    /// A read ended: `last_issue` and `last_comp`.
    pub read: Option<Nanos>,
}

/// The steps by which the depth has grown (`rq_depth.scale_step`, negative there): one for each window in which the disk wrote.
#[derive(Debug, Default)]
struct Scale {
    step: u32,
    /// `scaled_max`
    is_at_most: bool,
    /// `unknown_cnt`
    unknown: u32,
    /// The end of the current window.
    window_ends: Option<Nanos>,
    /// True if requests were in flight in it.
    has_written: bool,
}

/// `calc_wb_limits`: the requests in flight of usual and of background writes.
fn wb_limits(depth: u64) -> (u64, u64) {
    if depth <= 2 { (depth, 1) } else { (depth.div_ceil(2), depth.div_ceil(4)) }
}

/// The write-back throttling of a disk; see the module.
#[derive(Debug)]
pub struct Wbt {
    /// `blk_queue_depth`
    queue_depth: u64,
    /// The size of a request, in bytes.
    request: u64,
    /// True if its file system marks writes as `REQ_BACKGROUND`.
    marks_background: bool,
    /// `blk_queue_write_cache`
    has_write_cache: bool,
    scale: Scale,
    is_writing: bool,
    has_recent_wait: bool,
    has_close_io: bool,
}

impl Wbt {
    /// The write-back throttling of a device of a host; nothing if it is off.
    pub fn of(host: &Host, device: DeviceId) -> Option<Self> {
        let at = device.0 as usize;
        let disk = host.disks.get(at).filter(|disk| disk.wbt_lat_usec > 0)?;
        // Two file systems on one disk count as the first of them.
        let mount = host.mounts.iter().find(|mount| mount.source == MountSource::Disk(at));
        Some(Self {
            queue_depth: u64::from(disk.queue_depth.unwrap_or(disk.queue.0)),
            request: disk.queue.1.0,
            marks_background: mount.is_some_and(|mount| mount.file_system.marks_background()),
            has_write_cache: disk.is_volatile(),
            scale: Scale::default(),
            is_writing: false,
            has_recent_wait: false,
            has_close_io: false,
        })
    }

    /// `rq_depth_calc_max_depth`: the depth, and whether it is at its maximum.
    fn calc_max_depth(&self) -> (u64, bool) {
        let (depth, most) = (DEFAULT_DEPTH.min(self.queue_depth), 3 * self.queue_depth / 4);
        match (self.queue_depth, self.scale.step) {
            (1, _) => (2, true),
            (_, 0) => (depth, false),
            (_, step) => {
                let grown = 1 + ((depth - 1) << step);
                (grown.min(most), grown > most)
            }
        }
    }

    /// Returns the bytes in flight up to which a task may submit more: `get_limit`, `calc_wb_limits`.
    pub fn limit(&self, why: Why) -> u64 {
        let (depth, _) = self.calc_max_depth();
        let (normal, background) = wb_limits(depth);
        let is_background = (why == Why::Background && self.marks_background) || self.has_close_io;
        let requests = match is_background {
            _ if why == Why::Sync || self.has_recent_wait => depth,
            true => background,
            false => normal,
        };
        requests * self.request
    }

    /// Returns the bytes in flight down to which tasks sleep that have found no room (`wbt_rqw_done`).
    pub fn wakes_at(&self) -> u64 {
        let (depth, _) = self.calc_max_depth();
        let (normal, background) = wb_limits(depth);
        let limit = if self.has_write_cache && !self.has_recent_wait { 0 } else { normal };
        limit.saturating_sub((background / 2).max(1)) * self.request
    }

    /// Ends the windows that have passed.
    pub fn look(&mut self, now: Nanos, recent: Recent) {
        while let Some(end) = self.scale.window_ends.filter(|&end| end <= now) {
            self.end_window(end, recent);
        }
        self.scale.has_written |= self.is_writing;
        let is_within = |last: Option<Nanos>, time| last.is_some_and(|last| now < last + time);
        self.has_recent_wait = is_within(recent.slept, RECENT_WAIT);
        self.has_close_io = is_within(recent.read, CLOSE);
    }

    /// `wb_timer_fn`
    fn end_window(&mut self, end: Nanos, recent: Recent) {
        let has_slept = recent.slept.is_some_and(|slept| end < slept + RECENT_WAIT);
        if std::mem::take(&mut self.scale.has_written) || self.is_writing || has_slept {
            self.scale_up();
        } else {
            self.scale.unknown += 1;
            if self.scale.unknown >= UNKNOWN_BUMP {
                self.scale_down();
            }
        }
        let goes_on = self.scale.step > 0 || self.is_writing;
        self.scale.window_ends = goes_on.then_some(end + WINDOW);
    }

    /// `rq_depth_scale_up`
    fn scale_up(&mut self) {
        if !self.scale.is_at_most {
            self.scale.step += 1;
            (self.scale.is_at_most, self.scale.unknown) = (self.calc_max_depth().1, 0);
        }
    }

    /// `rq_depth_scale_down`, back to where it began.
    fn scale_down(&mut self) {
        if self.scale.step > 0 && self.calc_max_depth().0 > 1 {
            self.scale.step -= 1;
            (self.scale.is_at_most, self.scale.unknown) = (false, 0);
        }
    }

    /// Notes whether the disk is writing; the first submission begins a window (`wbt_wait`).
    pub fn submitted(&mut self, now: Nanos, is_writing: bool) {
        self.is_writing = is_writing;
        if is_writing {
            self.scale.window_ends.get_or_insert(now + WINDOW);
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tasks::ids::WbId;
    use crate::policy::kernel::tasks::kind::{Kind, Past};
    use crate::policy::kernel::tests::{kernel, write};
    use crate::result::Part;

    const MS: u64 = 1_000_000;

    /// Of requests of a byte, at a disk that has not written lately.
    pub fn wbt(queue_depth: u64) -> Wbt {
        Wbt {
            queue_depth,
            request: 1,
            marks_background: true,
            has_write_cache: false,
            scale: Scale::default(),
            is_writing: false,
            has_recent_wait: false,
            has_close_io: false,
        }
    }

    /// The limits of a task that waits, of reclaim, and of the background.
    fn limits(wbt: &Wbt) -> [u64; 3] {
        [Why::Sync, Why::Other, Why::Background].map(|why| wbt.limit(why))
    }

    /// The disk writes from `from` on, or not, and it is looked at after each of so many windows.
    fn after_windows(wbt: &mut Wbt, from: u64, windows: u64, is_writing: bool) -> Vec<[u64; 3]> {
        wbt.submitted(Nanos(from * MS), is_writing);
        let ends = (1..=windows).map(|window| Nanos((from + 100 * window) * MS));
        ends.map(|end| {
            wbt.look(end, Recent::default());
            limits(wbt)
        })
        .collect()
    }

    /// 1 + 15 << step, at most three quarters of the queue; of that (d + 1) / 2 and (d + 3) / 4.
    #[test]
    fn the_depth_doubles_with_each_window_of_writes_up_to_three_quarters_of_the_queue() {
        let grown = |queue_depth| {
            let mut wbt = wbt(queue_depth);
            [vec![limits(&wbt)], after_windows(&mut wbt, 0, 5, true)].concat()
        };
        let of_128 = [[16, 8, 4], [31, 16, 8], [61, 31, 16], [96, 48, 24], [96, 48, 24], [96, 48, 24]];
        assert_eq!(grown(128), of_128);
        let depths =
            |queue_depth| grown(queue_depth).into_iter().map(|[depth, ..]| depth).collect::<Vec<_>>();
        assert_eq!(depths(256), [16, 31, 61, 121, 192, 192]);
        assert_eq!(depths(32), [16, 24, 24, 24, 24, 24]);
        assert_eq!(depths(8), [8, 6, 6, 6, 6, 6], "by the same formula");
        assert_eq!(grown(1)[..2], [[2, 2, 1], [2, 2, 1]], "one in the disk, one that waits");
        assert_eq!(grown(2)[..2], [[2, 2, 1], [1, 1, 1]]);
    }

    #[test]
    fn it_grows_when_a_window_ends_that_began_with_the_first_request() {
        let mut wbt = wbt(128);
        wbt.submitted(Nanos(50 * MS), true);
        wbt.look(Nanos(149 * MS), Recent::default());
        assert_eq!(wbt.limit(Why::Sync), 16);
        wbt.submitted(Nanos(149 * MS), false);
        wbt.look(Nanos(150 * MS), Recent::default());
        assert_eq!(wbt.limit(Why::Sync), 31, "it has written in this window, though it is idle now");
    }

    #[test]
    fn it_falls_by_a_step_after_five_windows_without_a_write_until_it_is_as_at_first() {
        let mut wbt = wbt(128);
        after_windows(&mut wbt, 0, 3, true);
        // The first window is one in which it still wrote, at the beginning.
        let idle = after_windows(&mut wbt, 300, 17, false);
        let depths: Vec<u64> = idle.into_iter().map(|[depth, ..]| depth).collect();
        assert_eq!(depths, [&[96; 5][..], &[61; 5], &[31; 5], &[16; 2]].concat());
        assert_eq!(wbt.scale.window_ends, None, "nothing more to look at");
        // All at once is the same.
        after_windows(&mut wbt, 9000, 3, true);
        wbt.submitted(Nanos(9300 * MS), false);
        wbt.look(Nanos(10_400 * MS), Recent::default());
        assert_eq!(wbt.limit(Why::Sync), 31);
    }

    #[test]
    fn windows_after_a_writer_was_held_back_count_as_those_of_writes() {
        let mut wbt = wbt(128);
        after_windows(&mut wbt, 0, 3, true);
        wbt.submitted(Nanos(300 * MS), false);
        // Up to 1.3 s; then five without.
        let recent = Recent { slept: Some(Nanos(300 * MS)), read: None };
        wbt.look(Nanos(1699 * MS), recent);
        assert_eq!(wbt.limit(Why::Sync), 96);
        wbt.look(Nanos(1700 * MS), recent);
        assert_eq!(wbt.limit(Why::Sync), 61);
    }

    #[test]
    fn for_a_second_after_a_writer_was_held_back_everybody_has_the_whole_depth() {
        let limits_at = |millis, marks_background, read| {
            let mut wbt = Wbt { marks_background, ..wbt(128) };
            wbt.look(Nanos(millis * MS), Recent { slept: Some(Nanos(1000 * MS)), read });
            limits(&wbt)
        };
        let read = Some(Nanos(2000 * MS));
        assert_eq!(limits_at(1999, true, read), [16, 16, 16]);
        assert_eq!(limits_at(2000, true, None), [16, 8, 4]);
        assert_eq!(limits_at(2000, false, None), [16, 8, 8], "ext4 does not say what is in the background");
        assert_eq!(limits_at(2099, false, read), [16, 4, 4], "beside reads");
        assert_eq!(limits_at(2100, false, read), [16, 8, 8]);
    }

    fn with_wbt(settings: &str) -> Kernel {
        kernel(&format!(
            "disk.other = {{ size = '1 TB', read = '1 GB/s', write = '1 GB/s', nr_requests = 64, wbt_lat_usec = 2000 }}\n\
             mount.'/other' = {{ disk = 'other', type = 'xfs' }}\n{settings}"
        ))
    }

    #[test]
    fn a_disk_has_it_if_it_is_on_and_counts_with_its_own_depth_if_it_has_one() {
        let kernel = with_wbt("");
        assert!(Wbt::of(&kernel.config.host, DeviceId(0)).is_none());
        let other = Wbt::of(&kernel.config.host, DeviceId(1)).expect("it is on");
        assert_eq!((other.queue_depth, other.request, other.marks_background), (64, 1280 << 10, true));
        let mut host = kernel.config.host.clone();
        (host.disks[0].wbt_lat_usec, host.disks[0].queue_depth) = (75_000, Some(32));
        let ssd = Wbt::of(&host, DeviceId(0)).expect("it is on");
        assert_eq!((ssd.queue_depth, ssd.marks_background), (32, false));
        assert!(Wbt::of(&host, DeviceId(3)).is_none(), "a mount of another host");
    }

    /// The limit of the background at a second of a kernel one of whose writers is held back, or was at 0 s.
    fn limit_beside_a_writer(settings: &str, wb: u32, is_over: bool) -> u64 {
        let mut kernel = with_wbt(settings);
        let writer = write(&mut kernel, 1, Run::New, 1e6);
        let file = crate::policy::FileView { device: DeviceId(1), ..Default::default() };
        kernel.write_back.wb(&file);
        let task = kernel.tasks.get_mut(writer).expect("it is there");
        (task.wb, task.held_by) = (WbId(wb), Some(Part::Throttled));
        if is_over {
            kernel.block.note_sleep(Nanos(0), WbId(wb), Some(Part::Throttled));
            kernel.tasks.get_mut(writer).expect("it is there").held_by = None;
        }
        kernel.block.look_at_wbt(&kernel.tasks, Nanos(1000 * MS), 1);
        kernel.block.queues[1].limit(Some(Why::Background)) / (1280 << 10)
    }

    #[test]
    fn a_writer_is_seen_by_the_disk_that_he_writes_to() {
        assert_eq!([0, 1].map(|wb| limit_beside_a_writer("", wb, false)), [4, 16]);
        assert_eq!(limit_beside_a_writer("", 1, true), 4, "not for longer than a second");
    }

    #[test]
    fn a_writer_in_a_memory_cgroup_is_seen_since_6_6() {
        // Two disks and two mounts are four devices: the fifth wb is the first of the group.
        let limit = |version| {
            let settings = format!("cgroup.batch.memory.max = '512 MiB'\nkernel.version = '{version}'");
            limit_beside_a_writer(&settings, 5, false)
        };
        assert_eq!(["6.5", "6.6"].map(limit), [4, 16]);
    }

    #[test]
    fn reads_through_the_cache_or_past_it_are_seen() {
        let mut kernel = with_wbt("");
        let task = write(&mut kernel, 1, Run::Miss, 1e6);
        let seen = |kernel: &mut Kernel, run, kind| {
            let task = kernel.tasks.get_mut(task).expect("it is there");
            (task.run, task.kind) = (run, kind);
            task.device_read().is_some()
        };
        let direct = |past| Kind::Direct { past, from: 0, step: 1 };
        let read = Kind::Read { fresh: false };
        assert_eq!([Run::Miss, Run::Hit].map(|run| seen(&mut kernel, run, read)), [true, false]);
        let pasts = [Past::Read { fresh: true }, Past::Write { durable: None }];
        assert_eq!(pasts.map(|past| seen(&mut kernel, Run::Direct, direct(past))), [true, false]);
    }
}
