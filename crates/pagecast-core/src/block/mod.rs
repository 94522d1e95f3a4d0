//! Serves requests one by one: the block layer between file systems and a disk.
//!
//! Source: Linux 6.12. A state machine without a clock: requests come with the time, and what is complete goes out. The way of a call:
//!
//! | kernel file | file | what |
//! |---|---|---|
//! | `block/blk-mq.c: blk_mq_submit_bio` | `device` | takes a call through all of these, and ends it |
//! | `block/blk-merge.c`, `block/bio.c` | `calls` | counts the requests of a call |
//! | `block/blk-cgroup.c`, `block/blk-rq-qos.c` | `cgroups`, `throttle`, `iocost` | `io.max` and `io.weight` |
//! | `kernel/sched` | `submitters` | threads that submit, one request after the other |
//! | `block/blk-mq-tag.c` | `tags` | tags of the scheduler, or of the disk |
//! | `block/blk-mq-sched.c`, `block/blk-flush.c` | `dispatch`, `hctx`, `worker` | requests between their tags and the disk |
//! | `block/elevator.c` | `schedule` | what a scheduler does; each has a file |
//! | drivers and hardware | `service` | the disk, or the disks of an array: `times`, `rotation`, `disk_cache`, `allowance`, `raid` |
//!
//! Left out: several queues of the hardware; plugs, but for writes to arrays; polled requests.

mod allowance;
mod anticipatory;
mod bfq;
mod calls;
mod cfq;
mod cgroups;
mod deadline;
mod device;
mod disk_cache;
mod dispatch;
mod elevator;
mod hctx;
mod iocost;
mod kyber;
mod mq_deadline;
mod none;
mod raid;
mod request;
mod rotation;
mod schedule;
mod service;
mod settings;
mod submitters;
mod tags;
mod throttle;
mod times;
mod worker;

pub use self::allowance::Allowance;
pub use self::device::Device;
pub use self::disk_cache::DiskCache;
pub use self::iocost::Controller;
pub use self::request::{Direction, Request, RequestId};
pub use self::rotation::Mechanics;
pub use self::service::Service;
pub use self::settings::Settings;
pub use self::throttle::{Limits, Throttle};
pub use self::times::Times;

#[cfg(test)]
mod tests;
