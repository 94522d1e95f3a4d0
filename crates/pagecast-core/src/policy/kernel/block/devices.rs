//! Sends requests to disks whose machine says how long one takes: direct I/O, pages that are missed or read ahead, write-back, logs.
//!
//! The requests themselves are in `crate::block`, their places in `layout`. Left out: write-back and buffered reads of disks that turn and of
//! arrays, and everywhere parts of blocks beside a write that does not fill them: they are flows beside the requests.

use rustc_hash::FxHashMap;

use crate::block::{
    Allowance, Controller, Device, Direction, Limits, Mechanics, Request, RequestId, Service, Settings,
    Throttle, Times,
};
use crate::machine::{Cgroup, CopyCost, Disk, Host, IoMax, Sharing};
use crate::policy::kernel::block::layout::Layout;
use crate::policy::kernel::block::queue::Unit;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::tasks::ids::MemcgId;
use crate::policy::{FileView, OperationId};
use crate::random::hash;
use crate::run_queue::RunQueue;
use crate::units::{Bytes, BytesPerSecond, Nanos};
use crate::workload::IoPriority;

/// Bytes of a log after which it begins again: what mke2fs makes at most by itself (`lib/ext2fs/mkjournal.c`).
const LOG: u64 = 1 << 30;

/// The disks of a host that serve requests, by the number of the disk.
pub struct Devices {
    each: Vec<Option<Device>>,
    pub(super) layouts: Vec<Layout>,
    /// The disks, and the mounts of other hosts, whose pages come and go by requests, too.
    serves_pages: Vec<bool>,
    priorities: FxHashMap<OperationId, IoPriority>,
    /// The number of disks and network mounts.
    devices: u32,
}

impl Devices {
    /// Those of a host.
    pub fn of(config: &Config) -> Self {
        let host = &config.host;
        let seed = |disk: &Disk| config.seed ^ hash(&host.name) ^ hash(&disk.name).rotate_left(1);
        Self {
            each: (0..host.disks.len()).map(|at| device_of(host, at, seed(&host.disks[at]))).collect(),
            devices: config.devices() as u32,
            layouts: (0..host.disks.len()).map(|at| Layout::of(host, at)).collect(),
            serves_pages: {
                let mounts = (0..host.mounts.len()).map(|mount| config.nfs_options(mount).is_some());
                host.disks.iter().map(Disk::serves_pages).chain(mounts).collect()
            },
            priorities: FxHashMap::default(),
        }
    }

    /// True if pages of a disk come and go by requests.
    pub fn serves_pages(&self, at: usize) -> bool {
        self.serves_pages.get(at).copied().unwrap_or(false)
    }

    /// The disk of a file, if direct I/O to it goes by requests.
    pub fn has(&self, file: &FileView) -> bool {
        let at = file.device.0 as usize;
        self.each.get(at).map_or_else(|| self.serves_pages(at), Option::is_some)
    }

    /// The disk of a number, if it serves requests.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Device> {
        self.each.get_mut(at)?.as_mut()
    }

    /// The disk of a number to look at, if it serves requests.
    pub fn get(&self, at: usize) -> Option<&Device> {
        self.each.get(at)?.as_ref()
    }

    /// Makes the request of a call.
    pub fn request(
        &mut self,
        (operation, thread, memcg): (OperationId, OperationId, MemcgId),
        file: &FileView,
        direction: Direction,
        (offset, bytes): (u64, Bytes),
    ) -> Request {
        Request {
            id: RequestId(u64::from(operation.0)),
            thread: thread.0,
            direction,
            position: self.layouts[file.device.0 as usize].position(file, offset, bytes),
            bytes,
            priority: self.priorities.get(&thread).copied().unwrap_or_default(),
            is_sync: true,
            is_direct: true,
            cgroup: memcg.0,
            part: 0,
        }
    }

    /// Submits a unit of the queue of a disk. Its thread is the flusher of its wb, or the journal.
    pub fn send(&mut self, now: Nanos, at: usize, (id, unit): (RequestId, &Unit), processors: &mut RunQueue) {
        let bytes = unit.end - unit.start;
        // The log is the root's.
        let cgroup = unit.file.map_or(MemcgId::ROOT, |_| MemcgId((unit.wb.0 / self.devices) as u16)).0;
        let layout = &mut self.layouts[at];
        let position = match unit.file {
            Some(file) => layout.pieces(file, (unit.start, unit.end))[0].0,
            None => layout.log(bytes, LOG).0,
        };
        let thread = u32::MAX - 2 * unit.wb.0 - u32::from(!unit.is_of_flusher);
        let request = Request {
            id,
            thread,
            direction: Direction::Write,
            position,
            bytes: Bytes(bytes),
            priority: IoPriority::default(),
            is_sync: !unit.is_of_flusher,
            is_direct: false,
            cgroup,
            part: 0,
        };
        let device = self.each[at].as_mut().expect("it serves requests");
        if unit.is_at_head {
            device.submit_at_head(now, request, processors);
        } else {
            device.submit(now, request, processors);
        }
    }

    /// Gives the requests of a process a priority.
    pub fn set_priority(&mut self, process: OperationId, priority: IoPriority) {
        if priority == IoPriority::default() {
            self.priorities.remove(&process);
        } else {
            self.priorities.insert(process, priority);
        }
    }

    /// The time of the next event of all disks.
    pub fn next_event(&self) -> Option<Nanos> {
        self.each.iter().flatten().filter_map(Device::next_event).min()
    }

    /// True if no disk has a request.
    pub fn is_idle(&self) -> bool {
        self.each.iter().flatten().all(Device::is_idle)
    }
}

/// The device of a disk that says how long a request takes.
fn device_of(host: &Host, at: usize, seed: u64) -> Option<Device> {
    let (disk, memory) = (&host.disks[at], &host.memory);
    if !disk.serves_requests() {
        return None;
    }
    let (nr_requests, max_sectors) = disk.queue;
    let times = Times::equal(disk.service).drawn(disk.service_read, disk.service_write, seed);
    let depth = disk.hw_queue_depth.or(disk.queue_depth).unwrap_or(nr_requests);
    let service = Service::timed(depth, times);
    let service = match &disk.rotation {
        Some(rotation) => {
            let mechanics = Mechanics::new(rotation, disk.member_size());
            let turning = service.turning(mechanics, (disk.read.0, disk.write.0));
            match rotation.cache {
                Some(size) => turning.caching(size),
                None => turning,
            }
        }
        None => service,
    };
    let service = match disk.raid {
        Some(raid) => service.array(raid, disk.member_size()),
        None => service,
    };
    let budget = Bytes((disk.write.0 * disk.limit_interval.as_seconds()) as u64);
    let service = if disk.limit_interval > Nanos::ZERO {
        // null_blk copies to its memory and back, one request after the other.
        service.limited(budget, disk.limit_interval).copied(memory.write)
    } else if disk.serves_pages() || disk.has_drawn_times() || disk.iops.is_some() {
        let disks = f64::from(disk.raid.map_or(1, |raid| raid.disks));
        service.moving((disk.read.0 * disks, disk.write.0 * disks), disk.sharing == Sharing::Separate)
    } else {
        service
    };
    let service = match &disk.iops {
        Some(iops) => service.allowed(Allowance::new(iops)),
        None => service,
    };
    let service = match &disk.san {
        Some(san) => service.behind(san),
        None => service,
    };
    let is_rotational = disk.rotation.is_some() || disk.seek > Nanos::ZERO;
    let scheduler = disk.scheduler;
    // As many requests as it serves at a time, within the rate of the machine file.
    let at_once = f64::from(service.depth()) * max_sectors.0 as f64 / disk.service.as_seconds();
    let peak_rate = BytesPerSecond(at_once.min(disk.write.0));
    let CopyCost { call, request, page_writeback, .. } = memory.cost;
    let settings = Settings {
        scheduler,
        nr_requests,
        max_sectors,
        submission: request.unwrap_or(call),
        page_read: request.unwrap_or_default(),
        page_writeback,
        is_rotational,
        peak_rate,
    };
    Some(Device::new(settings, service).shared(throttle_of(host, at), iocost_of(host, at)))
}

/// The limits of cgroups on a disk, if any of them has some.
fn throttle_of(host: &Host, at: usize) -> Option<Throttle> {
    let limits = |io_max: &IoMax| Limits {
        bytes: [io_max.rbps, io_max.wbps].map(|rate| rate.map(|rate| rate.0 as u64)),
        requests: [io_max.riops, io_max.wiops].map(|requests| requests.map(u64::from)),
    };
    let of_disk = |cgroup: &Cgroup| cgroup.io_max_of(at).map(limits);
    let limits: Vec<Option<Limits>> = host.cgroups.iter().map(of_disk).collect();
    limits.iter().any(Option::is_some).then(|| Throttle::new(host.kernel.hz, &limits))
}

/// The controller by which cgroups share a disk, if it has one and there are any.
fn iocost_of(host: &Host, at: usize) -> Option<Controller> {
    let weights: Vec<u32> = host.cgroups.iter().map(|cgroup| cgroup.io_weight).collect();
    let cost = host.disks[at].iocost.as_ref().filter(|_| !weights.is_empty())?;
    Some(Controller::new(host.kernel.hz, cost, &weights))
}
