//! Sends direct I/O request by request to disks whose machine says how long a request takes.
//!
//! The requests themselves are in `crate::block`, their places in `layout`. Left out: write-back and buffered reads, which are flows beside
//! these requests.

use rustc_hash::FxHashMap;

use crate::block::{Device, Direction, Mechanics, Request, RequestId, Service, Settings};
use crate::machine::{Disk, Host};
use crate::policy::kernel::block::layout::Layout;
use crate::policy::{FileView, OperationId};
use crate::units::{Bytes, BytesPerSecond, Nanos};
use crate::workload::IoPriority;

/// The disks of a host that serve requests, by the number of the disk.
pub struct Devices {
    each: Vec<Option<Device>>,
    pub(super) layouts: Vec<Layout>,
    priorities: FxHashMap<OperationId, IoPriority>,
}

impl Devices {
    /// Those of a host.
    pub fn of(host: &Host) -> Self {
        let submission = host.memory.cost.call;
        Self {
            each: host.disks.iter().map(|disk| device_of(disk, submission)).collect(),
            layouts: (0..host.disks.len()).map(|at| Layout::of(host, at)).collect(),
            priorities: FxHashMap::default(),
        }
    }

    /// The disk of a file, if direct I/O to it goes by requests.
    pub fn has(&self, file: &FileView) -> bool {
        self.each.get(file.device.0 as usize).is_some_and(Option::is_some)
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
        (operation, thread): (OperationId, OperationId),
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
            part: 0,
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
fn device_of(disk: &Disk, submission: Nanos) -> Option<Device> {
    if disk.service == Nanos::ZERO && disk.rotation.is_none() {
        return None;
    }
    let (nr_requests, max_sectors) = disk.queue;
    let service = Service::new(disk.hw_queue_depth.or(disk.queue_depth).unwrap_or(nr_requests), disk.service);
    let service = match &disk.rotation {
        Some(rotation) => {
            service.turning(Mechanics::new(rotation, disk.member_size()), (disk.read.0, disk.write.0))
        }
        None => service,
    };
    let service = match disk.raid {
        Some(raid) => service.array(raid, disk.member_size()),
        None => service,
    };
    let budget = Bytes((disk.write.0 * disk.limit_interval.as_seconds()) as u64);
    let service = if disk.limit_interval > Nanos::ZERO {
        service.limited(budget, disk.limit_interval)
    } else {
        service
    };
    let is_rotational = disk.rotation.is_some() || disk.seek > Nanos::ZERO;
    let scheduler = disk.scheduler;
    // As many requests as it serves at a time, within the rate of the machine file.
    let at_once = f64::from(service.depth()) * max_sectors.0 as f64 / disk.service.as_seconds();
    let peak_rate = BytesPerSecond(at_once.min(disk.write.0));
    let settings = Settings { scheduler, nr_requests, max_sectors, submission, is_rotational, peak_rate };
    Some(Device::new(settings, service))
}
