//! Holds bios of a cgroup back that is beyond its bytes or requests in a second: `io.max`.
//!
//! Source: `block/blk-throttle.c`, Linux 6.12, and the rules that stable releases have since ("fix lower bps rate by throttl_trim_slice", "Fix
//! throttle slice time for SSDs"): 6.10 to 6.18 have slices of 20 ms for disks that do not turn, until they have the second.
//!
//! - A slice is 100 ms. A bio passes while its slice has bytes and requests left, counted to the end of a whole slice; of an idle cgroup a new
//!   slice begins with its next bio.
//! - Others wait in the order in which they came, reads and writes apart, and nobody sleeps for them. A timer passes on those that are due.
//! - The bytes of a bio count once, and each request that is cut from it counts as one.
//!
//! Left out: cgroups inside others; `io.low`; bios of metadata, which go into debt; that a bio has 256 pages at most.

use std::collections::VecDeque;

use super::request::{Direction, Request};
use crate::units::Nanos;

/// `DFL_THROTL_SLICE`: `HZ / 10`.
const SLICES_IN_A_SECOND: u64 = 10;
/// `throtl_dispatch_tg`: of eight bios six are reads, where both wait.
const MOST_READS: u32 = 6;
const MOST_WRITES: u32 = 2;
/// `LVL_SIZE - 1`, `LVL_CLK_DIV` of `kernel/time/timer.c`.
const FIRST_LEVEL: u64 = 63;
const NEXT_LEVEL: u64 = 8;
const SECOND: u64 = 1_000_000_000;

/// The most that a cgroup moves in a second, reads and writes; nothing where any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `rbps` and `wbps`.
    pub bytes: [Option<u64>; 2],
    /// `riops` and `wiops`.
    pub requests: [Option<u64>; 2],
}

/// A call on its way to the disk, or what is left of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bio {
    pub request: Request,
    /// True if its bytes have been counted (`BIO_BPS_THROTTLED`).
    pub is_counted: bool,
}

/// The bios of one direction of a cgroup, and its slice; times are in jiffies.
#[derive(Clone, Debug, Default)]
struct Side {
    bytes: Option<u64>,
    requests: Option<u64>,
    queued: VecDeque<Bio>,
    bytes_disp: u64,
    io_disp: u64,
    slice_start: u64,
    slice_end: u64,
}

/// A cgroup: `throtl_grp`.
#[derive(Clone, Debug, Default)]
struct Group {
    sides: [Side; 2],
    /// The jiffy in which its first bio may pass, if one waits.
    disptime: Option<u64>,
}

/// The limits of all cgroups on a disk; see the module.
#[derive(Clone, Debug)]
pub struct Throttle {
    hz: u64,
    slice: u64,
    groups: Vec<Option<Group>>,
    /// The jiffy in which the timer fires.
    timer: Option<u64>,
}

fn side_of(request: &Request) -> usize {
    usize::from(request.direction == Direction::Write)
}

impl Side {
    fn new(bytes: Option<u64>, requests: Option<u64>) -> Self {
        Self { bytes, requests, ..Self::default() }
    }

    fn is_unlimited(&self) -> bool {
        self.bytes.is_none() && self.requests.is_none()
    }

    /// `tg_may_dispatch`: the jiffies that a bio has to wait; 0 if it may pass.
    fn wait(&mut self, now: u64, slice: u64, hz: u64, bio: &Bio) -> u64 {
        let is_used = now < self.slice_start || now > self.slice_end;
        if is_used && self.queued.is_empty() {
            (self.bytes_disp, self.io_disp) = (0, 0);
            (self.slice_start, self.slice_end) = (now, now + slice);
        } else if self.slice_end < now + slice {
            self.slice_end = (now + slice).next_multiple_of(slice);
        }
        let wait = self.wait_for_bytes(now, slice, hz, bio).max(self.wait_for_request(now, slice, hz));
        if wait > 0 && self.slice_end < now + wait {
            self.slice_end = (now + wait).next_multiple_of(slice);
        }
        wait
    }

    /// `tg_within_bps_limit`
    fn wait_for_bytes(&self, now: u64, slice: u64, hz: u64, bio: &Bio) -> u64 {
        let Some(limit) = self.bytes.filter(|_| !bio.is_counted) else { return 0 };
        let elapsed = now - self.slice_start;
        let rounded = elapsed.max(1).next_multiple_of(slice);
        let allowed = in_jiffies(limit, rounded, hz);
        let wanted = self.bytes_disp + bio.request.bytes.0;
        if wanted <= allowed {
            return 0;
        }
        let for_extra = u128::from(wanted - allowed) * u128::from(hz) / u128::from(limit);
        (for_extra as u64).max(1) + (rounded - elapsed)
    }

    /// `tg_within_iops_limit`
    fn wait_for_request(&self, now: u64, slice: u64, hz: u64) -> u64 {
        let Some(limit) = self.requests else { return 0 };
        let elapsed = now - self.slice_start;
        let rounded = (elapsed + 1).next_multiple_of(slice);
        if self.io_disp < in_jiffies(limit, rounded, hz) { 0 } else { rounded - elapsed }
    }

    /// `throtl_charge_bio`, `throtl_trim_slice`: one slice that is over stays counted.
    fn charge(&mut self, now: u64, slice: u64, hz: u64, bio: &Bio) {
        if !bio.is_counted {
            self.bytes_disp += bio.request.bytes.0;
        }
        self.io_disp += 1;
        if now < self.slice_start || now > self.slice_end {
            return;
        }
        self.slice_end = (now + slice).next_multiple_of(slice);
        let elapsed = (now - self.slice_start) / slice * slice;
        if elapsed < 2 * slice {
            return;
        }
        let trimmed = elapsed - slice;
        let taken =
            |limit: Option<u64>, used: u64| limit.map_or(0, |limit| in_jiffies(limit, trimmed, hz).min(used));
        let (bytes, ios) = (taken(self.bytes, self.bytes_disp), taken(self.requests, self.io_disp));
        if bytes == 0 && ios == 0 {
            return;
        }
        self.bytes_disp -= bytes;
        self.io_disp -= ios;
        self.slice_start += trimmed;
    }
}

impl Group {
    /// `tg_update_disptime`
    fn update_disptime(&mut self, now: u64, slice: u64, hz: u64) {
        let waits = self.sides.each_mut().map(|side| {
            let first = side.queued.front().copied()?;
            Some(side.wait(now, slice, hz, &first))
        });
        self.disptime = waits.into_iter().flatten().min().map(|wait| now + wait);
    }

    /// `throtl_dispatch_tg`: passes on a few reads, then a few writes.
    fn dispatch(&mut self, now: u64, slice: u64, hz: u64, passed: &mut [Vec<Bio>; 2]) {
        for (at, most) in [(0, MOST_READS), (1, MOST_WRITES)] {
            let side = &mut self.sides[at];
            let mut count = 0;
            while count < most
                && let Some(first) = side.queued.front().copied()
                && side.wait(now, slice, hz, &first) == 0
            {
                side.queued.pop_front();
                side.charge(now, slice, hz, &first);
                passed[at].push(Bio { is_counted: true, ..first });
                count += 1;
            }
        }
    }
}

impl Throttle {
    /// The limits of cgroups by their numbers, from 1 on, on a kernel of so many ticks in a second.
    #[must_use]
    pub fn new(hz: u32, limits: &[Option<Limits>]) -> Self {
        let group = |limits: &Limits| {
            let side = |at: usize| Side::new(limits.bytes[at], limits.requests[at]);
            Group { sides: [side(0), side(1)], disptime: None }
        };
        let hz = u64::from(hz);
        Self {
            hz,
            slice: hz / SLICES_IN_A_SECOND,
            groups: limits.iter().map(|limits| limits.as_ref().map(group)).collect(),
            timer: None,
        }
    }

    fn jiffies(&self, at: Nanos) -> u64 {
        (u128::from(at.0) * u128::from(self.hz) / u128::from(SECOND)) as u64
    }

    /// The cgroup of a bio, if that is limited in its direction.
    fn group(&mut self, bio: &Bio) -> Option<&mut Group> {
        let at = usize::from(bio.request.cgroup).checked_sub(1)?;
        let group = self.groups.get_mut(at)?.as_mut()?;
        let side = &group.sides[side_of(&bio.request)];
        // Only requests are counted of the rest of a bio.
        let passes = side.is_unlimited() || bio.is_counted && side.requests.is_none();
        (!passes).then_some(group)
    }

    /// `__blk_throtl_bio`: lets a bio pass, or lets it wait and returns nothing.
    pub(super) fn pass(&mut self, now: Nanos, bio: Bio) -> Option<Bio> {
        let (now, slice, hz) = (self.jiffies(now), self.slice, self.hz);
        let Some(group) = self.group(&bio) else { return Some(bio) };
        let side = &mut group.sides[side_of(&bio.request)];
        let was_empty = side.queued.is_empty();
        if was_empty && side.wait(now, slice, hz, &bio) == 0 {
            side.charge(now, slice, hz, &bio);
            return Some(Bio { is_counted: true, ..bio });
        }
        side.queued.push_back(bio);
        if was_empty {
            group.update_disptime(now, slice, hz);
            self.set_timer(now);
        }
        None
    }

    /// `throtl_schedule_next_dispatch`: sets the timer for who is due first. A timer of the wheel fires at the end of a step
    /// (`calc_wheel_index`).
    fn set_timer(&mut self, now: u64) {
        let first = self.groups.iter().flatten().filter_map(|group| group.disptime).min();
        self.timer = first.map(|due| {
            let mut step = 1;
            while due.saturating_sub(now) >= FIRST_LEVEL * step {
                step *= NEXT_LEVEL;
            }
            (due / step + 1) * step
        });
    }

    /// The time at which it passes on bios that wait.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        let time =
            |jiffy: u64| Nanos((u128::from(jiffy) * u128::from(SECOND)).div_ceil(self.hz.into()) as u64);
        self.timer.map(time)
    }

    /// `throtl_pending_timer_fn`, `blk_throtl_dispatch_work_fn`: passes on the bios that are due, reads first.
    pub(super) fn dispatch(&mut self, now: Nanos) -> Vec<Bio> {
        if self.next_event().is_none_or(|due| due > now) {
            return Vec::new();
        }
        let (now, slice, hz) = (self.jiffies(now), self.slice, self.hz);
        let mut passed = [Vec::new(), Vec::new()];
        loop {
            let due = self.groups.iter_mut().flatten().filter(|group| group.disptime.is_some());
            let Some(group) = due.min_by_key(|group| group.disptime) else { break };
            if group.disptime.is_some_and(|due| due > now) {
                break;
            }
            group.dispatch(now, slice, hz, &mut passed);
            group.update_disptime(now, slice, hz);
        }
        self.set_timer(now);
        let [reads, writes] = passed;
        reads.into_iter().chain(writes).collect()
    }
}

/// `calculate_bytes_allowed`, `calculate_io_allowed`: what a limit allows in so many jiffies.
fn in_jiffies(limit: u64, jiffies: u64, hz: u64) -> u64 {
    (u128::from(limit) * u128::from(jiffies) / u128::from(hz)) as u64
}
