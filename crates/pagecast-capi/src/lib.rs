//! Offers the page cache of one host to simulators in C and C++: `pagecast_core::embed::PageCache` as a C interface.
//!
//! `include/pagecast.h` is made from this crate. Handles are opaque, nothing is global, and no panic crosses the border. Left out: all that
//! `pagecast_core::embed` leaves out.
#![allow(unsafe_code, reason = "C calls in; each use has its SAFETY line")]

mod border;
mod types;

use std::ffi::{CString, c_char};
use std::path::Path;
use std::sync::Arc;

use pagecast_core::embed::{Direction, Order, PageCache, Rate, TaskId, TransferId};
use pagecast_core::policy::Outcome;
use pagecast_core::result::Part;
use pagecast_core::scenario;
use pagecast_core::units::Bytes;
use pagecast_core::workload::{Action, Buffer, IoPriority, OpenFlag, OpenFlags};

use border::{Failure, bytes, enter, enter_at, fail, instant, offset, out, slice, text};
pub use types::{
    PAGECAST_PARTS, pagecast_direction, pagecast_file_levels, pagecast_flag, pagecast_latency,
    pagecast_levels, pagecast_operation, pagecast_operation_kind, pagecast_option, pagecast_order,
    pagecast_order_kind, pagecast_part, pagecast_rate, pagecast_status,
};

/// The version of this interface. It is raised when a program has to be compiled anew.
pub const PAGECAST_ABI_VERSION: u32 = 4;

/// In the place of an offset or of bytes: the rest.
pub const PAGECAST_REST: i64 = i64::MAX;

/// The page cache of one host.
#[allow(non_camel_case_types, reason = "this is a name of C")]
pub struct pagecast_cache {
    /// That of a live handle; see `border`.
    mark: u64,
    cache: PageCache,
    devices: Vec<CString>,
    /// The last time as it was told, which need not be a whole nanosecond.
    now_s: f64,
    /// Orders that have not been asked for yet, the first one last.
    orders: Vec<Order>,
    error: CString,
    /// It cannot go on.
    broken: Option<pagecast_status>,
}

/// The version of this interface that the library has; compare it with PAGECAST_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn pagecast_abi_version() -> u32 {
    PAGECAST_ABI_VERSION
}

/// The version of pagecast, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn pagecast_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Makes the page cache of one host.
///
/// machine is the text of a machine file with one host. base_dir and machine_dir are where "from" looks for paths and for names; null is
/// the current directory. model is "kernel", "wrench", "no-cache" or "endless-cache". message, of message_size bytes, takes what is
/// wrong, if anything is; it may be null.
///
/// # Safety
/// Texts end in 0; options has option_count elements; message has message_size bytes; cache can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_create(
    machine: *const c_char,
    model: *const c_char,
    options: *const pagecast_option,
    option_count: usize,
    base_dir: *const c_char,
    machine_dir: *const c_char,
    message: *mut c_char,
    message_size: usize,
    cache: *mut *mut pagecast_cache,
) -> pagecast_status {
    let made = border::catch(|| {
        // SAFETY: the caller guarantees the texts and the list.
        let (machine, model, options) =
            unsafe { (text(machine)?, text(model)?, slice(options, option_count)?) };
        let option = |each: &pagecast_option| {
            // SAFETY: the caller guarantees these texts, too.
            unsafe { Ok::<_, Failure>((text(each.key)?.to_owned(), text(each.value)?.to_owned())) }
        };
        let options = options.iter().map(option).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: as above.
        let folder = |path: *const c_char| if path.is_null() { Ok("") } else { unsafe { text(path) } };
        let (base, shipped) = (folder(base_dir)?, folder(machine_dir)?);
        // SAFETY: the caller guarantees that it can be written.
        let place = unsafe { out(cache)? };
        let made = PageCache::from_toml(machine, model, &options, Path::new(base), Path::new(shipped))
            .map_err(|error| fail(pagecast_status::PAGECAST_BAD_MACHINE, error))?;
        let devices = made.devices().iter().map(|name| border::c_text(name)).collect();
        *place = Box::into_raw(Box::new(pagecast_cache {
            mark: border::MARK,
            cache: made,
            devices,
            now_s: 0.0,
            orders: Vec::new(),
            error: CString::default(),
            broken: None,
        }));
        Ok(())
    });
    match made {
        Ok(()) => pagecast_status::PAGECAST_OK,
        Err(failure) => {
            // SAFETY: the caller guarantees the size.
            unsafe { border::copy_text(&failure.text, message, message_size) };
            failure.status
        }
    }
}

/// Gives a cache back. Null is no error.
///
/// # Safety
/// The cache was made by pagecast_create() and has not been given back; it is not used after that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_destroy(cache: *mut pagecast_cache) -> pagecast_status {
    if cache.is_null() {
        return pagecast_status::PAGECAST_OK;
    }
    // SAFETY: the caller guarantees that it points to a cache.
    if !unsafe { border::is_cache(cache) } {
        return pagecast_status::PAGECAST_BAD_HANDLE;
    }
    // SAFETY: `pagecast_create` made it by `into_raw`, and it is given back once.
    let mut owned = unsafe { Box::from_raw(cache) };
    owned.mark = 0;
    let dropped = border::catch(|| {
        drop(owned);
        Ok(())
    });
    match dropped {
        Ok(()) => pagecast_status::PAGECAST_OK,
        Err(failure) => failure.status,
    }
}

/// What was wrong with the last call that failed; empty at first. Good until the next call. Null if the handle is none.
///
/// # Safety
/// The cache was made by pagecast_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_error_text(cache: *const pagecast_cache) -> *const c_char {
    // SAFETY: the caller guarantees that it points to a cache, if it is one.
    match unsafe { border::is_cache(cache) } {
        // SAFETY: it is one.
        true => unsafe { &(*cache).error }.as_ptr(),
        false => std::ptr::null(),
    }
}

/// How many devices there are: the disks of the machine, in their order. 0 if the handle is none.
///
/// # Safety
/// The cache was made by pagecast_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_device_count(cache: *const pagecast_cache) -> u32 {
    // SAFETY: the caller guarantees that it points to a cache, if it is one.
    match unsafe { border::is_cache(cache) } {
        // SAFETY: it is one.
        true => unsafe { (*cache).devices.len() as u32 },
        false => 0,
    }
}

/// The name of a device. Good as long as the cache. Null if there is none.
///
/// # Safety
/// The cache was made by pagecast_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_device_name(cache: *const pagecast_cache, device: u32) -> *const c_char {
    // SAFETY: the caller guarantees that it points to a cache, if it is one.
    if !unsafe { border::is_cache(cache) } {
        return std::ptr::null();
    }
    // SAFETY: it is one.
    let devices = unsafe { &(*cache).devices };
    devices.get(device as usize).map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Adds a file that no task has written: one that exists before the start, or that comes from outside the simulation at now_s. The first
/// cached bytes of it are in memory, and the first dirty of these are dirty; more of them than there are is PAGECAST_BAD_SIZE, more cached
/// bytes than free memory PAGECAST_OUT_OF_MEMORY.
///
/// # Safety
/// The cache was made by pagecast_create(); path ends in 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_add_file(
    cache: *mut pagecast_cache,
    now_s: f64,
    path: *const c_char,
    size: i64,
    cached: i64,
    dirty: i64,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle.
    unsafe {
        enter_at(cache, now_s, |this, now| {
            let path = Arc::from(text(path)?);
            Ok(this.cache.add_file(now, &path, bytes(size)?, bytes(cached)?, bytes(dirty)?)?)
        })
    }
}

/// A new task: somebody who does one operation at a time. The kernel's rules hold each writer back on its own.
///
/// # Safety
/// The cache was made by pagecast_create(); task can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_add_task(cache: *mut pagecast_cache, task: *mut u32) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the place.
    unsafe {
        enter(cache, |this| {
            let place = out(task)?;
            *place = this.cache.add_task("").0;
            Ok(())
        })
    }
}

/// The same with a name for pagecast_get_latency(), which several tasks may share. The random calls of the first task of a name are those of
/// the process of that name in a scenario.
///
/// # Safety
/// The cache was made by pagecast_create(); name ends in 0; task can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_add_named_task(
    cache: *mut pagecast_cache,
    name: *const c_char,
    task: *mut u32,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle, the text and the place.
    unsafe {
        enter(cache, |this| {
            let (name, place) = (text(name)?, out(task)?);
            *place = this.cache.add_task(name).0;
            Ok(())
        })
    }
}

/// Gives the requests of a task to disks a priority as ionice prints it: "idle", or "realtime" or "best-effort" and a level from 0 (best) to
/// 7. Without it a task has "best-effort 4". Another text is PAGECAST_BAD_OPERATION.
///
/// # Safety
/// The cache was made by pagecast_create(); ionice ends in 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_set_priority(
    cache: *mut pagecast_cache,
    task: u32,
    ionice: *const c_char,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the text.
    unsafe {
        enter(cache, |this| {
            let ionice = text(ionice)?;
            let priority = IoPriority::parse(ionice).ok_or_else(|| {
                let what =
                    format!("there is no priority \"{ionice}\"; known are idle, realtime and best-effort");
                fail(pagecast_status::PAGECAST_BAD_OPERATION, what)
            })?;
            Ok(this.cache.set_priority(TaskId(task), priority)?)
        })
    }
}

/// The seed of the random calls of patterns; 0 without it.
///
/// # Safety
/// The cache was made by pagecast_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_set_seed(cache: *mut pagecast_cache, seed: u64) -> pagecast_status {
    // SAFETY: the caller guarantees the handle.
    unsafe {
        enter(cache, |this| {
            this.cache.set_seed(seed);
            Ok(())
        })
    }
}

/// The task is no more, and its anonymous memory is given back. Its number may be used again.
///
/// Not while it has an operation under way, which is PAGECAST_BUSY: that goes on to its end, whether its program is killed or no longer
/// waits. Remove the task when its PAGECAST_DONE has come.
///
/// # Safety
/// The cache was made by pagecast_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_remove_task(
    cache: *mut pagecast_cache,
    now_s: f64,
    task: u32,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle.
    unsafe { enter_at(cache, now_s, |this, now| Ok(this.cache.remove_task(now, TaskId(task))?)) }
}

/// A task begins an operation. It may be over at once: an order says so.
///
/// # Safety
/// The cache was made by pagecast_create(); operation can be read, and its path ends in 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_begin(
    cache: *mut pagecast_cache,
    now_s: f64,
    task: u32,
    operation: *const pagecast_operation,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the operation.
    unsafe {
        enter_at(cache, now_s, |this, now| {
            let operation = slice(operation, 1)?.first().ok_or(border::null())?;
            let (action, flags) = (action(operation)?, flags(operation.flags)?);
            Ok(this.cache.begin_with(now, TaskId(task), &action, flags)?)
        })
    }
}

/// A task begins an operation that is written as in a scenario, without its braces: read = "/data/f", call = "4 KiB", pattern = { random =
/// "uniform" }. So begin patterns of calls, and operations without a kind of their own (fadvise, sync_file_range, rename, ...). Computing,
/// waiting and sleeping are the simulator's own. What is wrong in the text is PAGECAST_BAD_OPERATION. A call of a pattern that cannot be
/// done later, as on a full disk, ends the pattern, and is the error of the call of this interface that comes to it.
///
/// # Safety
/// The cache was made by pagecast_create(); operation ends in 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_begin_text(
    cache: *mut pagecast_cache,
    now_s: f64,
    task: u32,
    operation: *const c_char,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the text.
    unsafe {
        enter_at(cache, now_s, |this, now| {
            let operation = scenario::operation(text(operation)?)
                .map_err(|error| fail(pagecast_status::PAGECAST_BAD_OPERATION, error))?;
            Ok(this.cache.begin_operation(now, TaskId(task), &operation)?)
        })
    }
}

/// What an operation of C means.
///
/// # Safety
/// Its path ends in 0.
unsafe fn action(operation: &pagecast_operation) -> Result<Action, Failure> {
    const KINDS: [pagecast_operation_kind; 10] = {
        use pagecast_operation_kind::*;
        [
            PAGECAST_READ,
            PAGECAST_READ_FRESH,
            PAGECAST_WRITE,
            PAGECAST_FSYNC,
            PAGECAST_SYNC,
            PAGECAST_TRUNCATE,
            PAGECAST_UNLINK,
            PAGECAST_DROP_CACHES,
            PAGECAST_ALLOCATE,
            PAGECAST_FREE,
        ]
    };
    use pagecast_operation_kind as Kind;
    let kind = KINDS.into_iter().find(|&kind| kind as i32 == operation.kind).ok_or_else(|| {
        fail(
            pagecast_status::PAGECAST_BAD_OPERATION,
            format!("there is no operation of kind {}", operation.kind),
        )
    })?;
    // SAFETY: the caller guarantees the text.
    let path = || unsafe { text(operation.path) }.map(Arc::from);
    let rest = |value: i64| if value == PAGECAST_REST { Ok(None) } else { bytes(value).map(Some) };
    let call = || Ok::<_, Failure>(Some(bytes(operation.call_bytes)?).filter(|&call| call > Bytes::ZERO));
    Ok(match kind {
        Kind::PAGECAST_READ | Kind::PAGECAST_READ_FRESH => Action::Read {
            path: path()?,
            offset: Some(offset(operation.offset)?),
            bytes: rest(operation.bytes)?,
            call: call()?,
            vector: 1,
            buffer: if kind == Kind::PAGECAST_READ { Buffer::Reused } else { Buffer::Fresh },
        },
        Kind::PAGECAST_WRITE => Action::Write {
            path: path()?,
            offset: rest(operation.offset)?.map(|offset| offset.0),
            bytes: bytes(operation.bytes)?,
            call: call()?,
            vector: 1,
        },
        Kind::PAGECAST_FSYNC => Action::Fsync { path: path()? },
        Kind::PAGECAST_SYNC => Action::Sync,
        Kind::PAGECAST_TRUNCATE => Action::Truncate { path: path()?, size: bytes(operation.bytes)? },
        Kind::PAGECAST_UNLINK => Action::Unlink { path: path()? },
        Kind::PAGECAST_DROP_CACHES => Action::DropCaches,
        Kind::PAGECAST_ALLOCATE => Action::Allocate { bytes: bytes(operation.bytes)? },
        Kind::PAGECAST_FREE => Action::Free { bytes: rest(operation.bytes)? },
    })
}

/// The flags of an operation of C: a bit for each, in the order of the core.
fn flags(bits: u32) -> Result<OpenFlags, Failure> {
    if bits >> OpenFlag::ALL.len() != 0 {
        let text = format!("there are no flags {bits:#x}");
        return Err(fail(pagecast_status::PAGECAST_BAD_OPERATION, text));
    }
    Ok(OpenFlag::ALL.into_iter().filter(|&flag| bits & (1 << flag as u32) != 0).collect())
}

/// A transfer has moved all its bytes.
///
/// # Safety
/// The cache was made by pagecast_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_completed(
    cache: *mut pagecast_cache,
    now_s: f64,
    transfer: u64,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle.
    unsafe { enter_at(cache, now_s, |this, now| Ok(this.cache.completed(now, TransferId(transfer))?)) }
}

/// Time has come to now_s, and transfers have these rates: those that were started or limited since the last call, and those whose rate
/// has changed; others may be named, too. Call it at each instant when all orders have been carried out, and again in this way until
/// pagecast_next_call() is later than now_s.
///
/// # Safety
/// The cache was made by pagecast_create(); rates has rate_count elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_advance(
    cache: *mut pagecast_cache,
    now_s: f64,
    rates: *const pagecast_rate,
    rate_count: usize,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the list.
    unsafe {
        enter_at(cache, now_s, |this, now| {
            let rate = |each: &pagecast_rate| Rate {
                transfer: TransferId(each.transfer),
                bytes_per_s: each.bytes_per_s,
            };
            let rates: Vec<Rate> = slice(rates, rate_count)?.iter().map(rate).collect();
            Ok(this.cache.advance(now, &rates)?)
        })
    }
}

/// When pagecast_advance() is to be called at the latest if nothing else happens. It is the last now_s as long as there are orders, and
/// more than that otherwise; INFINITY is never.
///
/// # Safety
/// The cache was made by pagecast_create(); next_s can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_next_call(cache: *mut pagecast_cache, next_s: *mut f64) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the place.
    unsafe {
        enter(cache, |this| {
            let place = out(next_s)?;
            let next = if this.orders.is_empty() { this.cache.next_call() } else { Some(this.cache.now()) };
            *place = match next {
                Some(next) if next <= this.cache.now() => this.now_s,
                Some(next) => next.as_seconds(),
                None => f64::INFINITY,
            };
            Ok(())
        })
    }
}

/// Takes the next order. has_order becomes 1, or 0 if there is none.
///
/// # Safety
/// The cache was made by pagecast_create(); order and has_order can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_next_order(
    cache: *mut pagecast_cache,
    order: *mut pagecast_order,
    has_order: *mut i32,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the places.
    unsafe {
        enter(cache, |this| {
            let (order, has_order) = (out(order)?, out(has_order)?);
            if this.orders.is_empty() {
                this.orders.extend(this.cache.orders());
                this.orders.reverse();
            }
            let next = this.orders.pop();
            *has_order = i32::from(next.is_some());
            *order = next.map_or(pagecast_order::default(), as_order);
            Ok(())
        })
    }
}

fn as_order(order: Order) -> pagecast_order {
    use pagecast_order_kind::*;
    let blank = pagecast_order::default();
    let limit_of = |limit: Option<f64>| limit.unwrap_or(f64::INFINITY);
    match order {
        Order::Start { transfer, device, direction, bytes, weight, limit } => pagecast_order {
            kind: PAGECAST_START as i32,
            direction: match direction {
                Direction::Read => pagecast_direction::PAGECAST_FROM_DEVICE as i32,
                Direction::Write => pagecast_direction::PAGECAST_TO_DEVICE as i32,
            },
            device: device.0,
            transfer: transfer.0,
            bytes,
            weight,
            limit: limit_of(limit),
            ..blank
        },
        Order::Limit { transfer, limit } => pagecast_order {
            kind: PAGECAST_LIMIT as i32,
            transfer: transfer.0,
            limit: limit_of(limit),
            ..blank
        },
        Order::Shorten { transfer, bytes } => {
            pagecast_order { kind: PAGECAST_SHORTEN as i32, transfer: transfer.0, bytes, ..blank }
        }
        Order::Cancel { transfer } => {
            pagecast_order { kind: PAGECAST_CANCEL as i32, transfer: transfer.0, ..blank }
        }
        Order::Done { task, outcome: Outcome { parts, from_cache, from_device } } => pagecast_order {
            kind: PAGECAST_DONE as i32,
            task: task.0,
            from_cache: from_cache.0,
            from_device: from_device.0,
            parts_s: PARTS.map(|part| parts.get(part).as_seconds()),
            ..blank
        },
    }
}

/// The parts in the order of `pagecast_part`. The others are not those of a page cache alone.
const PARTS: [Part; PAGECAST_PARTS] = [
    Part::CpuCopy,
    Part::PageAllocation,
    Part::DeviceRead,
    Part::DeviceWrite,
    Part::Queueing,
    Part::Throttled,
    Part::Reclaim,
    Part::Journal,
    Part::Sleep,
    Part::Wait,
];

/// What the memory holds at now_s.
///
/// # Safety
/// The cache was made by pagecast_create(); levels can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_get_levels(
    cache: *mut pagecast_cache,
    now_s: f64,
    levels: *mut pagecast_levels,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle and the place.
    unsafe {
        enter(cache, |this| {
            let place = out(levels)?;
            let now = instant(this, now_s)?;
            let levels = this.cache.levels(now)?;
            *place = pagecast_levels {
                total: levels.total.0,
                anonymous: levels.anonymous.0,
                cached: levels.cached.0,
                dirty: levels.dirty.0,
                writeback: levels.kernel.map_or(0, |kernel| kernel.writeback.0),
            };
            Ok(())
        })
    }
}

/// How long the operations took that have ended: those of tasks of this name, on this file, of this kind ("read", "write", "fsync", ...: its
/// name in a scenario). Null is any.
///
/// # Safety
/// The cache was made by pagecast_create(); task, path and operation are null or end in 0; latency can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_get_latency(
    cache: *mut pagecast_cache,
    task: *const c_char,
    path: *const c_char,
    operation: *const c_char,
    latency: *mut pagecast_latency,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle, the texts and the place.
    unsafe {
        enter(cache, |this| {
            let some = |each: *const c_char| if each.is_null() { Ok(None) } else { text(each).map(Some) };
            let place = out(latency)?;
            let latency = this.cache.latency(some(task)?, some(path)?, some(operation)?);
            let quantile = |share| latency.quantile(share).as_seconds();
            *place = pagecast_latency {
                count: latency.count,
                bytes: latency.bytes,
                mean_s: latency.mean().as_seconds(),
                p50_s: quantile(0.5),
                p90_s: quantile(0.9),
                p99_s: quantile(0.99),
                p99_9_s: quantile(0.999),
                max_s: latency.longest.as_seconds(),
            };
            Ok(())
        })
    }
}

/// What there is of a file at now_s.
///
/// # Safety
/// The cache was made by pagecast_create(); path ends in 0; levels can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pagecast_get_file_levels(
    cache: *mut pagecast_cache,
    now_s: f64,
    path: *const c_char,
    levels: *mut pagecast_file_levels,
) -> pagecast_status {
    // SAFETY: the caller guarantees the handle, the text and the place.
    unsafe {
        enter(cache, |this| {
            let (path, place) = (Arc::from(text(path)?), out(levels)?);
            let size = this.cache.size(&path)?.0;
            let now = instant(this, now_s)?;
            let held = this.cache.residency(now, &path)?;
            *place = pagecast_file_levels { size, cached: held.cached.0, dirty: held.dirty.0 };
            Ok(())
        })
    }
}
