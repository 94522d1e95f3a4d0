//! Makes the requests of a block trace operations: asynchronous ones with O_DIRECT on a file as large as its device.
//!
//! A trace tells no size of a device; it ends where the last request ends.
//!
//! Left out: discards and flushes; costs of a file system, as far as O_DIRECT has none.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::error::ReadError;
use crate::trace::{TraceError, Writer};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, AsyncBy, Buffer, OpenFlag, Operation};

/// The bytes of a sector, whatever the device (`SECTOR_SIZE`, include/linux/blk_types.h).
pub const SECTOR: u64 = 512;

/// How many requests of a device are under way at most: `nr_requests` by default (`BLKDEV_DEFAULT_RQ`, include/linux/blkdev.h).
const DEPTH: NonZeroU32 = NonZeroU32::new(128).expect("it is more than 0");

/// A request to a device.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its device.
    pub device: &'a str,
    /// When it was made.
    pub time: Option<Nanos>,
    /// How long it took.
    pub duration: Option<Nanos>,
    /// True if it writes.
    pub writes: bool,
    /// First byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// Its line.
    pub line: Option<u32>,
}

/// The devices of a trace.
#[derive(Debug, Default)]
pub struct Requests {
    devices: BTreeMap<String, Device>,
    /// How many requests are not of whole sectors.
    unaligned: u64,
    /// How many have no bytes.
    empty: u64,
    /// How many are neither reads nor writes.
    others: u64,
}

#[derive(Debug)]
struct Device {
    process: u32,
    path: Arc<str>,
    end: u64,
}

impl Requests {
    /// Keeps a request.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn add(&mut self, request: &Request<'_>, trace: &mut Writer) -> Result<(), TraceError> {
        if request.bytes == 0 {
            self.empty += 1;
            return Ok(());
        }
        if !self.devices.contains_key(request.device) {
            self.open(request, trace)?;
        }
        let device = self.devices.get_mut(request.device).expect("it was just added");
        let end = request.offset.saturating_add(request.bytes).min(u64::MAX / 2).next_multiple_of(SECTOR);
        let offset = request.offset.min(end) / SECTOR * SECTOR;
        self.unaligned += u64::from(end - offset != request.bytes);
        device.end = device.end.max(end);
        let (path, bytes) = (device.path.clone(), Bytes(end - offset));
        let action = match request.writes {
            true => Action::Write { path, offset: Some(offset), bytes, call: None, vector: 1 },
            false => Action::Read {
                path,
                offset: Some(offset),
                bytes: Some(bytes),
                call: None,
                vector: 1,
                buffer: Buffer::Reused,
            },
        };
        let operation = Operation {
            line: request.line,
            depth: Some(DEPTH),
            by: AsyncBy::Libaio,
            ..Operation::from(action)
        };
        trace.record(device.process, request.time, request.duration, &operation)
    }

    /// Counts a request that is neither a read nor a write.
    pub fn pass_over(&mut self) {
        self.others += 1;
    }

    fn open(&mut self, request: &Request<'_>, trace: &mut Writer) -> Result<(), TraceError> {
        let (process, path) = (trace.process(request.device)?, trace.path(request.device)?);
        let flags = [OpenFlag::Direct].into_iter().collect();
        let open = Action::Open { path: path.clone(), create: false, truncate: false, flags };
        trace.record(process, request.time, None, &open.into())?;
        self.devices.insert(request.device.to_owned(), Device { process, path, end: 0 });
        Ok(())
    }

    /// Says how large the devices are, and what was passed over.
    ///
    /// # Errors
    /// If there is no request.
    pub fn finish(self, origin: &str, trace: &mut Writer) -> Result<(), ReadError> {
        if self.devices.is_empty() {
            return Err(ReadError::new(
                origin,
                "has no read or write of a device",
                "name the right --format",
            ));
        }
        for device in self.devices.values() {
            let told = trace.file(&device.path, Bytes(device.end.next_multiple_of(4096)));
            told.map_err(|error| ReadError::of_trace(origin, &error))?;
        }
        let devices = if self.devices.len() == 1 { "the device is" } else { "each device is" };
        trace.note(
            origin,
            format!("the size of a device is not told; {devices} as large as the last request needs"),
        );
        let counts = [
            (self.others, "requests that are neither reads nor writes were passed over"),
            (self.empty, "requests without bytes were passed over"),
            (self.unaligned, "requests are not of whole sectors of 512 B; they were made larger"),
        ];
        for (count, what) in counts.into_iter().filter(|&(count, _)| count > 0) {
            trace.note(origin, format!("{count} {what}"));
        }
        Ok(())
    }
}
