//! Reads a record in the code of `code`. Any bytes give a record or none, never a panic.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::code::{Before, action, has, mapped, order, part, stream};
use super::record::Record;
use super::varint::Bits;
use crate::stdio::{Library, LibraryCall, Mode};
use crate::units::{Bytes, Nanos};
use crate::workload::{
    Action, Advice, AllocateMode, AsyncBy, Buffer, CopyBy, Fd, MapAdvice, MappedCall, OpenFlag, Operation,
    Order, Pattern, SleepSpread, SyncRangeFlag,
};

/// The texts that records have by number.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// Paths of files.
    pub paths: &'a [Arc<str>],
    /// Names of events.
    pub events: &'a [Arc<str>],
}

/// Takes a record from the front; none if there is no valid one.
#[inline]
pub fn decode(bits: &mut Bits<'_>, before: &mut Before, names: Names<'_>) -> Option<Record> {
    let (number, set) = (bits.byte()?, bits.byte()?);
    if set & has::SAME_PATH == 0 {
        before.path = bits.small()?;
    }
    let time = match set & has::TIME {
        0 => None,
        _ => {
            before.time = bits.delta(before.time)?;
            Some(Nanos(before.time))
        }
    };
    let duration = if set & has::DURATION == 0 { None } else { Some(Nanos(bits.number()?)) };
    let line = match set & has::LINE {
        0 => None,
        _ => {
            before.line = u32::try_from(bits.delta(before.line.into())?).ok()?;
            Some(before.line)
        }
    };
    let not_before = match set & has::NOT_BEFORE {
        0 => None,
        _ => {
            before.not_before = bits.delta(before.not_before)?;
            Some(Nanos(before.not_before))
        }
    };
    let (depth, by) = match set & has::DEPTH {
        0 => (None, AsyncBy::default()),
        _ => (Some(NonZeroU32::new(bits.small()?)?), word(bits, &AsyncBy::ALL)?),
    };
    let fd = if set & has::FD == 0 { None } else { Some(Fd(bits.small()?)) };
    let action = action(bits, before, number, names)?;
    Some(Record {
        time,
        duration,
        operation: Operation { action, line, not_before, depth, by, fd, is_timed: false },
    })
}

#[inline]
fn action(bits: &mut Bits<'_>, before: &mut Before, number: u8, names: Names<'_>) -> Option<Action> {
    let (paths, at) = (names.paths, before.path as usize);
    let path = || paths.get(at).cloned();
    Some(match number {
        action::READ => {
            let Transfer { offset, bytes, call, vector, buffer } = transfer(bits, before)?;
            Action::Read { path: path()?, offset, bytes, call, vector, buffer }
        }
        action::WRITE => {
            let Transfer { offset, bytes, call, vector, buffer: _ } = transfer(bits, before)?;
            Action::Write { path: path()?, offset, bytes: bytes?, call, vector }
        }
        action::WAIT => Action::Wait { event: names.events.get(at)?.clone() },
        action::SIGNAL => Action::Signal { event: names.events.get(at)?.clone() },
        action::SYNC => Action::Sync,
        action::DRAIN => Action::Drain,
        action::DROP_CACHES => Action::DropCaches,
        action::EXIT => Action::Exit,
        action::COMPUTE => Action::Compute { time: Nanos(bits.number()?) },
        action::SLEEP => Action::Sleep { time: Nanos(bits.number()?), random: None },
        action::SLEEP_AT_RANDOM => Action::Sleep {
            time: Nanos(bits.number()?),
            random: Some(*SleepSpread::ALL.get(usize::from(bits.byte()?))?),
        },
        action::ALLOCATE => Action::Allocate { bytes: Bytes(bits.number()?) },
        action::FREE => Action::Free { bytes: maybe(bits)? },
        _ => file_action(bits, number, path()?, paths)?,
    })
}

/// An action on a file that is no read or write.
fn file_action(bits: &mut Bits<'_>, number: u8, path: Arc<str>, paths: &[Arc<str>]) -> Option<Action> {
    let other = |bits: &mut Bits<'_>| paths.get(bits.small()? as usize).cloned();
    Some(match number {
        action::OPEN => {
            let set = bits.byte()?;
            let flags = OpenFlag::ALL.into_iter().filter(|&flag| set & 4 << flag as u8 != 0).collect();
            Action::Open { path, create: set & 1 != 0, truncate: set & 2 != 0, flags }
        }
        action::CLOSE => Action::Close { path },
        action::COPY => {
            let (to, by) = (other(bits)?, word(bits, &CopyBy::ALL)?);
            Action::Copy { path, to, by, offset: bits.number()?, bytes: maybe(bits)?, call: maybe(bits)? }
        }
        action::FSYNC => Action::Fsync { path },
        action::FDATASYNC => Action::Fdatasync { path },
        action::SYNC_FS => Action::SyncFs { path },
        action::SYNC_FILE_RANGE => {
            let set = bits.byte()?;
            let flags = SyncRangeFlag::ALL.into_iter().filter(|&flag| set & 1 << flag as u8 != 0).collect();
            Action::SyncFileRange { path, offset: bits.number()?, bytes: maybe(bits)?, flags }
        }
        action::READAHEAD => Action::Readahead { path, offset: bits.number()?, bytes: maybe(bits)? },
        action::TRUNCATE => Action::Truncate { path, size: Bytes(bits.number()?) },
        action::UNLINK => Action::Unlink { path },
        action::PATTERN => Action::Pattern(Box::new(pattern(bits, path)?)),
        action::SEEK => Action::Seek { path, offset: bits.number()? },
        action::DUPLICATE => Action::Duplicate { path, to: Fd(bits.small()?) },
        action::RENAME => Action::Rename { path, to: other(bits)? },
        action::LINK => Action::Link { path, to: other(bits)? },
        action::MKDIR => Action::Mkdir { path },
        action::RMDIR => Action::Rmdir { path },
        action::STAT => Action::Stat { path },
        action::FALLOCATE => {
            let mode = word(bits, &AllocateMode::ALL)?;
            Action::Fallocate { path, mode, offset: bits.number()?, bytes: Bytes(bits.number()?) }
        }
        action::FADVISE => {
            let advice = word(bits, &Advice::ALL)?;
            Action::Fadvise { path, advice, offset: bits.number()?, bytes: maybe(bits)? }
        }
        action::STREAM => Action::Stream { path, call: library_call(bits)? },
        action::MAPPED => Action::Mapped { path, call: mapped_call(bits)? },
        _ => return None,
    })
}

/// The fields of a read or write.
struct Transfer {
    offset: Option<u64>,
    bytes: Option<Bytes>,
    call: Option<Bytes>,
    vector: u32,
    buffer: Buffer,
}

#[inline]
fn transfer(bits: &mut Bits<'_>, before: &mut Before) -> Option<Transfer> {
    let set = bits.byte()?;
    let offset = match set & part::OFFSET {
        0 => None,
        _ => {
            if set & part::GOES_ON == 0 {
                before.end = bits.delta(before.end)?;
            }
            Some(before.end)
        }
    };
    let bytes = match set & part::BYTES {
        0 => None,
        _ => {
            if set & part::SAME_BYTES == 0 {
                before.bytes = bits.number()?;
            }
            before.end = before.end.wrapping_add(before.bytes);
            Some(Bytes(before.bytes))
        }
    };
    let call = if set & part::CALL == 0 { None } else { Some(Bytes(bits.number()?)) };
    let vector = if set & part::VECTOR == 0 { 1 } else { bits.small()? };
    let buffer = if set & part::FRESH == 0 { Buffer::Reused } else { Buffer::Fresh };
    Some(Transfer { offset, bytes, call, vector, buffer })
}

fn pattern(bits: &mut Bits<'_>, path: Arc<str>) -> Option<Pattern> {
    Some(Pattern {
        path,
        offset: bits.number()?,
        range: maybe(bits)?,
        bytes: maybe(bits)?,
        time: maybe(bits)?.map(|Bytes(time)| Nanos(time)),
        call: Bytes(bits.number()?),
        order: match bits.byte()? {
            order::SEQUENTIAL => Order::Sequential,
            order::BACKWARDS => Order::Backwards,
            order::STRIDED => Order::Strided { stride: Bytes(bits.number()?) },
            order::UNIFORM => Order::Uniform { once: bits.byte()? != 0 },
            order::ZIPF => Order::Zipf { theta: bits.real()? },
            order::PARETO => Order::Pareto { h: bits.real()? },
            order::NORMAL => Order::Normal { deviation: bits.real()? },
            _ => return None,
        },
        write_share: bits.real()?,
        depth: bits.small()?,
        by: word(bits, &AsyncBy::ALL)?,
        rate: match bits.byte()? {
            0 => None,
            1 => Some(bits.real()?),
            _ => return None,
        },
        seed: bits.number()?,
    })
}

fn library_call(bits: &mut Bits<'_>) -> Option<LibraryCall> {
    Some(match bits.byte()? {
        stream::OPEN => {
            let (mode, library) = (word(bits, &Mode::ALL)?, word(bits, &Library::ALL)?);
            LibraryCall::Open { mode, library, buffer: maybe(bits)? }
        }
        stream::SET_BUFFER => LibraryCall::SetBuffer { buffer: Bytes(bits.number()?) },
        stream::WRITE => {
            let offset = maybe(bits)?.map(|offset| offset.0);
            LibraryCall::Write { offset, bytes: Bytes(bits.number()?), call: maybe(bits)? }
        }
        stream::READ => {
            let offset = maybe(bits)?.map(|offset| offset.0);
            LibraryCall::Read { offset, bytes: maybe(bits)?, call: maybe(bits)? }
        }
        stream::SEEK => LibraryCall::Seek { offset: bits.number()? },
        stream::FLUSH => LibraryCall::Flush,
        stream::CLOSE => LibraryCall::Close,
        _ => return None,
    })
}

fn mapped_call(bits: &mut Bits<'_>) -> Option<MappedCall> {
    Some(match bits.byte()? {
        mapped::MAP => MappedCall::Map,
        mapped::UNMAP => MappedCall::Unmap,
        mapped::READ => {
            let advice = word(bits, &MapAdvice::ALL)?;
            MappedCall::Read { offset: bits.number()?, bytes: maybe(bits)?, advice }
        }
        mapped::WRITE => {
            let advice = word(bits, &MapAdvice::ALL)?;
            MappedCall::Write { offset: bits.number()?, bytes: maybe(bits)?, advice }
        }
        mapped::SYNC => {
            let is_async = bits.byte()? != 0;
            MappedCall::Sync { offset: bits.number()?, bytes: maybe(bits)?, is_async }
        }
        _ => return None,
    })
}

/// One of a list, by its number.
fn word<T: Copy>(bits: &mut Bits<'_>, all: &[T]) -> Option<T> {
    all.get(usize::from(bits.byte()?)).copied()
}

/// A number that may be missing.
#[allow(clippy::option_option, reason = "the outer one says that the bytes are not valid")]
fn maybe(bits: &mut Bits<'_>) -> Option<Option<Bytes>> {
    match bits.byte()? {
        0 => Some(None),
        1 => Some(Some(Bytes(bits.number()?))),
        _ => None,
    }
}
