//! Models the block layer: the queue of each device, requests, write-back throttling, seeks.
//!
//! Source: `block/blk-mq.c`, `block/blk-wbt.c`, Linux 6.16. Where a disk does not serve requests, those of direct I/O and of reads are not in its
//! queue.

pub mod devices;
pub mod flush;
pub mod layout;
pub mod queue;
pub mod seeks;
pub mod turns;
pub mod wbt;

use std::sync::Arc;

use self::devices::Devices;
use self::flush::Flushes;
use self::queue::{Apart, Queue, Unit};
use self::seeks::{Heads, Turning};
use self::turns::Turns;
use self::wbt::{Recent, Wbt};
use crate::block::RequestId;
use crate::machine::{Cgroup, Disk};
use crate::policy::kernel::config::Config;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::{Behind, DeviceId, DiskLoad, FileView, MovedRequests, OperationId};
use crate::result::Part;
use crate::run_queue::RunQueue;
use crate::units::{Bytes, Nanos, earlier};

/// The most bytes that a client of NFS writes to a server at once.
const MOST_CONGESTION: u64 = 256 << 20;

/// The devices of a host: its disks, then its network mounts.
pub struct Block {
    pub(super) queues: Vec<Queue>,
    /// When each device last read, and last held a writer back.
    pub(super) recent: Vec<Recent>,
    /// The disks that serve direct I/O request by request.
    pub devices: Devices,
    /// For whom each device has worked.
    pub turns: Turns,
    pub(super) heads: Heads,
    flushes: Vec<Flushes>,
    /// The disks that turn.
    turning: Vec<Option<Turning>>,
    pub(super) config: Arc<Config>,
}

impl Block {
    pub fn new(config: &Arc<Config>) -> Self {
        let devices = config.devices();
        Self {
            queues: (0..devices).map(|at| queue_of(config, at)).collect(),
            recent: vec![Recent::default(); devices],
            devices: Devices::of(config),
            turns: Turns::default(),
            heads: Heads::of(config.host.disks.len()),
            flushes: vec![Flushes::default(); devices],
            turning: Turning::of(&config.host),
            config: config.clone(),
        }
    }

    /// The queue of a device.
    pub fn queue(&mut self, device: DeviceId) -> &mut Queue {
        &mut self.queues[device.0 as usize]
    }
}

/// Builds the queue of a device of a host.
fn queue_of(config: &Config, device: usize) -> Queue {
    let host = &config.host;
    let Some(disk) = host.disks.get(device) else { return queue_of_mount(config, device - host.disks.len()) };
    Queue::new(disk.queue, Wbt::of(host, DeviceId(device as u32)))
        .holding(requests_held(disk))
        .by_requests(disk.serves_pages())
        .with_apart(apart_of(config, device))
}

/// Builds the queue of a mount of another host's directory, whose requests are WRITEs: flushers wait beyond `nfs_congestion_kb`, of which a
/// folio takes as much as a page (`fs/nfs/write.c: nfs_init_writepagecache, nfs_folio_set_writeback`, Linux 6.16).
fn queue_of_mount(config: &Config, mount: usize) -> Queue {
    let wsize = config.nfs_options(mount).unwrap_or_default().wsize;
    let pages = config.host.memory.size.0 / PAGE;
    let congestion = (16 * pages.isqrt() * PAGE).min(MOST_CONGESTION);
    Queue::new(((congestion / wsize.0).max(1) as u32, wsize), None)
        .by_requests(true)
        .of_mount()
        .counting_folios(config.rules.nfs_largest_folio > 1)
}

/// Returns the wbs of cgroups whose write-back waits before the queue of a disk. Nobody sleeps for `io.max`.
fn apart_of(config: &Config, device: usize) -> Vec<Apart> {
    let Some(disk) = config.host.disks.get(device) else { return Vec::new() };
    let is_limited = |cgroup: &Cgroup| {
        cgroup.io_max_of(device).is_some_and(|io_max| io_max.wbps.is_some() || io_max.wiops.is_some())
    };
    let apart = |(at, cgroup): (usize, &Cgroup)| {
        let is_apart = is_limited(cgroup) || disk.iocost.is_some();
        let wb = config.wbs_of(at).nth(device).filter(|_| is_apart)?;
        Some(Apart { wb, bytes: (!is_limited(cgroup)).then_some(0) })
    };
    config.host.cgroups.iter().enumerate().filter_map(apart).collect()
}

/// Returns how many requests a disk takes before it has completed one. A limiter takes none until it gives out more.
fn requests_held(disk: &Disk) -> u32 {
    if disk.limit_interval > Nanos::ZERO {
        return 0;
    }
    disk.hw_queue_depth.or(disk.queue_depth).unwrap_or(disk.queue.0)
}

impl Block {
    /// True if no device writes or is throttled.
    pub fn is_idle(&self) -> bool {
        self.devices.is_idle()
            && self
                .queues
                .iter()
                .all(|queue| queue.wbt.is_none() && queue.is_empty() && queue.transfer.is_none())
    }

    /// The rate at which all devices write pages, in bytes per second.
    pub fn write_rate(&self) -> f64 {
        self.queues.iter().filter_map(Queue::rate).sum()
    }

    /// Notes that the bytes of the first unit of a device have moved: its requests are complete after the device's latency.
    /// Returns it if nobody waits for that.
    pub fn unit_moved(&mut self, device: usize, now: Nanos) -> Option<Unit> {
        let queue = &self.queues[device];
        let file = queue.front().and_then(|unit| unit.file);
        self.turns.write(device, (queue.started, now), file);
        let latency = self.config.host.disks.get(device).map_or(Nanos::ZERO, |disk| disk.write_latency);
        self.queues[device].pop(now + latency)
    }

    /// Takes the unit out of a queue whose request is complete.
    pub fn unit_served(&mut self, device: usize, now: Nanos, id: RequestId) -> Unit {
        let (unit, since) = self.queues[device].take_sent(id);
        self.turns.write(device, (since, now), unit.file);
        unit
    }

    /// Makes requests of all units of a queue whose disk serves such.
    pub fn send(&mut self, now: Nanos, device: usize, processors: &mut RunQueue) {
        while let Some((id, unit)) = self.queues[device].send(now) {
            self.devices.send(now, device, (id, unit), processors);
        }
    }

    /// The time at which the next requests that somebody waits for are complete.
    pub fn next_completion(&self) -> Option<Nanos> {
        let of_queues = self.queues.iter().filter_map(Queue::next_completion).min();
        earlier(of_queues, self.devices.next_event())
    }

    /// Returns whom a process waited behind at a device from one instant to another, and for how long.
    pub fn behind(&self, device: DeviceId, span: (Nanos, Nanos), own: OperationId) -> Vec<Behind> {
        let queue = &self.queues[device.0 as usize];
        let unit = queue.front().filter(|_| queue.is_writing());
        let under_way = unit.map(|unit| (queue.started, unit.file));
        self.turns.behind(device.0 as usize, span, own, under_way)
    }

    /// The requests of a disk beside transfers, without flushes.
    pub fn load(&self, disk: usize) -> DiskLoad {
        let mut load = DiskLoad { waiting: self.queues[disk].waiting(), ..DiskLoad::default() };
        if let Some(device) = self.devices.get(disk) {
            let (waiting, served) = device.depth();
            (load.waiting, load.served) = (load.waiting + waiting, served);
            load.moved = device.moved().map(|(requests, bytes)| MovedRequests { requests, bytes: bytes.0 });
        }
        load
    }

    /// True if pages of a file are being written to its device. A task that adds pages to the file then shares the lock of its page
    /// tree (`i_pages`) with submission and completion.
    pub fn is_being_written(&self, file: &FileView) -> bool {
        let queue = &self.queues[file.device.0 as usize];
        let unit = queue.front().filter(|_| queue.is_writing());
        unit.is_some_and(|unit| unit.file == Some(file.id))
    }

    /// The queue of the device of a wb.
    pub fn queue_of_wb(&self, wb: WbId) -> &Queue {
        &self.queues[self.config.device_of(wb).0 as usize]
    }

    /// Brings the write-back throttling of a device up to date, if it is on.
    pub fn look_at_wbt(&mut self, tasks: &Tasks, now: Nanos, at: usize) {
        if self.queues[at].wbt.is_none() {
            return;
        }
        let device = DeviceId(at as u32);
        let mut recent = self.recent[at];
        for task in tasks.values() {
            if self.sleeps_at(task.wb, task.held_by) == Some(device) {
                recent.slept = Some(now);
            }
            if task.device_read() == Some(device) {
                recent.read = Some(now);
            }
        }
        self.queues[at].wbt.as_mut().expect("it has one").look(now, recent);
    }

    /// Returns the device whose write-back throttling counts a throttled task that writes to a wb.
    fn sleeps_at(&self, wb: WbId, held_by: Option<Part>) -> Option<DeviceId> {
        let is_seen = self.config.rules.wbt_sees_cgroups || self.config.memcg_of_wb(wb.0 as usize).is_none();
        (held_by == Some(Part::Throttled) && is_seen).then(|| self.config.device_of(wb))
    }

    /// Notes that a task which writes to a wb is held back no more.
    pub fn note_sleep(&mut self, now: Nanos, wb: WbId, held_by: Option<Part>) {
        if let Some(device) = self.sleeps_at(wb, held_by) {
            self.recent[device.0 as usize].slept = Some(now);
        }
    }

    /// Notes that a run has ended that read from this device, if from any.
    pub fn note_read(&mut self, now: Nanos, device: Option<DeviceId>) {
        if let Some(device) = device {
            self.recent[device.0 as usize].read = Some(now);
        }
    }

    /// Flushes the cache of a device, which takes a time. Returns when that is over, and whether it is a flush of its own.
    pub fn flush(&mut self, now: Nanos, device: DeviceId, time: Nanos) -> (Nanos, bool) {
        self.flushes[device.0 as usize].flush(now, time)
    }

    /// True if reads of a file move the head of its disk.
    pub fn has_head(&self, file: &FileView) -> bool {
        let turns = matches!(self.turning.get(file.device.0 as usize), Some(Some(_)));
        turns || self.config.disk_of(file).is_some_and(|disk| disk.seek > Nanos::ZERO)
    }

    /// Returns the time in which the write cache of a disk that turns becomes empty.
    pub fn empty_cache(&mut self, now: Nanos, device: DeviceId) -> Nanos {
        let turning = self.turning.get_mut(device.0 as usize).and_then(Option::as_mut);
        turning.map_or(Nanos::ZERO, |turning| turning.flush(now))
    }

    /// Returns the seek time of a file's disk to a range of the file, which is short if no read-ahead hides it.
    pub fn seek(&mut self, now: Nanos, file: &FileView, range: (u64, u64), is_short: bool) -> Nanos {
        let disk = file.device.0 as usize;
        if let Some(Some(turning)) = self.turning.get_mut(disk) {
            let bytes = range.1 - range.0;
            let at = self.devices.layouts[disk].position(file, range.0, Bytes(bytes));
            return Nanos::from_seconds(turning.read(now, (at, bytes), is_short));
        }
        let seek = self.config.disk_of(file).map_or(Nanos::ZERO, |disk| disk.seek);
        if seek == Nanos::ZERO {
            return Nanos::ZERO;
        }
        let has_moved = self.heads.go(file.device.0 as usize, file.id, range);
        if has_moved { seek } else { Nanos::ZERO }
    }

    /// Moves the head of a disk that turns over the next unit of its queue. Returns the rate of that unit if it is less than that of the disk.
    pub fn write_rate_of_next(&mut self, now: Nanos, device: usize) -> Option<f64> {
        let turning = self.turning.get_mut(device)?.as_mut()?;
        turning.write(now, &self.queues[device], &mut self.devices.layouts[device])
    }
}
