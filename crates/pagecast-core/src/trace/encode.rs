//! Writes a record in the code of `code`.

use super::code::{Before, action, has, mapped, order, part, stream};
use super::varint::{put, put_delta};
use crate::stdio::LibraryCall;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Buffer, MappedCall, OpenFlag, Operation, Order, Pattern, SyncRangeFlag};

/// Appends a record to those of its process. `path` and `other` are the numbers of the action's names: of a file, of a second file; an
/// event counts as `path`.
#[inline]
pub fn encode(
    out: &mut Vec<u8>,
    before: &mut Before,
    (time, duration): (Option<Nanos>, Option<Nanos>),
    operation: &Operation,
    (path, other): (u32, u32),
) {
    let start = out.len();
    out.extend_from_slice(&[number_of(&operation.action), 0]);
    let mut bits = 0;
    if path == before.path {
        bits |= has::SAME_PATH;
    } else {
        put(out, path.into());
        before.path = path;
    }
    if let Some(Nanos(time)) = time {
        bits |= has::TIME;
        put_delta(out, time, before.time);
        before.time = time;
    }
    if let Some(Nanos(duration)) = duration {
        bits |= has::DURATION;
        put(out, duration);
    }
    if let Some(line) = operation.line {
        bits |= has::LINE;
        put_delta(out, line.into(), before.line.into());
        before.line = line;
    }
    if let Some(Nanos(not_before)) = operation.not_before {
        bits |= has::NOT_BEFORE;
        put_delta(out, not_before, before.not_before);
        before.not_before = not_before;
    }
    if let Some(depth) = operation.depth {
        bits |= has::DEPTH;
        put(out, depth.get().into());
        out.push(operation.by as u8);
    }
    if let Some(fd) = operation.fd {
        bits |= has::FD;
        put(out, fd.0.into());
    }
    out[start + 1] = bits;
    fields(out, before, &operation.action, other);
}

fn number_of(action: &Action) -> u8 {
    match action {
        Action::Read { .. } => action::READ,
        Action::Write { .. } => action::WRITE,
        Action::Open { .. } => action::OPEN,
        Action::Close { .. } => action::CLOSE,
        Action::Copy { .. } => action::COPY,
        Action::Fsync { .. } => action::FSYNC,
        Action::Fdatasync { .. } => action::FDATASYNC,
        Action::Sync => action::SYNC,
        Action::SyncFs { .. } => action::SYNC_FS,
        Action::SyncFileRange { .. } => action::SYNC_FILE_RANGE,
        Action::Readahead { .. } => action::READAHEAD,
        Action::Truncate { .. } => action::TRUNCATE,
        Action::Unlink { .. } => action::UNLINK,
        Action::Pattern(_) => action::PATTERN,
        Action::Seek { .. } => action::SEEK,
        Action::Duplicate { .. } => action::DUPLICATE,
        Action::Rename { .. } => action::RENAME,
        Action::Link { .. } => action::LINK,
        Action::Mkdir { .. } => action::MKDIR,
        Action::Rmdir { .. } => action::RMDIR,
        Action::Stat { .. } => action::STAT,
        Action::Fallocate { .. } => action::FALLOCATE,
        Action::Drain => action::DRAIN,
        Action::DropCaches => action::DROP_CACHES,
        Action::Fadvise { .. } => action::FADVISE,
        Action::Stream { .. } => action::STREAM,
        Action::Mapped { .. } => action::MAPPED,
        Action::Compute { .. } => action::COMPUTE,
        Action::Sleep { random: None, .. } => action::SLEEP,
        Action::Sleep { random: Some(_), .. } => action::SLEEP_AT_RANDOM,
        Action::Allocate { .. } => action::ALLOCATE,
        Action::Free { .. } => action::FREE,
        Action::Wait { .. } => action::WAIT,
        Action::Signal { .. } => action::SIGNAL,
        Action::Exit => action::EXIT,
    }
}

/// The fields of an action.
fn fields(out: &mut Vec<u8>, before: &mut Before, action: &Action, other: u32) {
    match action {
        Action::Read { offset, bytes, call, vector, buffer, .. } => {
            let fresh = if *buffer == Buffer::Fresh { part::FRESH } else { 0 };
            transfer(out, before, fresh, *offset, *bytes, *call, *vector);
        }
        Action::Write { offset, bytes, call, vector, .. } => {
            transfer(out, before, 0, *offset, Some(*bytes), *call, *vector);
        }
        Action::Open { create, truncate, flags, .. } => {
            let set = OpenFlag::ALL.iter().filter(|&&flag| flags.has(flag)).map(|&flag| 4 << flag as u8);
            out.push(u8::from(*create) | u8::from(*truncate) << 1 | set.sum::<u8>());
        }
        Action::Copy { by, offset, bytes, call, .. } => {
            put(out, other.into());
            out.push(*by as u8);
            put(out, *offset);
            maybe(out, *bytes);
            maybe(out, *call);
        }
        Action::SyncFileRange { offset, bytes, flags, .. } => {
            let set = SyncRangeFlag::ALL.iter().filter(|&&flag| flags.has(flag)).map(|&flag| 1 << flag as u8);
            out.push(set.sum::<u8>());
            put(out, *offset);
            maybe(out, *bytes);
        }
        Action::Readahead { offset, bytes, .. } => {
            put(out, *offset);
            maybe(out, *bytes);
        }
        Action::Truncate { size: Bytes(number), .. }
        | Action::Seek { offset: number, .. }
        | Action::Allocate { bytes: Bytes(number) }
        | Action::Compute { time: Nanos(number) }
        | Action::Sleep { time: Nanos(number), random: None } => put(out, *number),
        Action::Sleep { time: Nanos(number), random: Some(spread) } => {
            put(out, *number);
            out.push(*spread as u8);
        }
        Action::Duplicate { to, .. } => put(out, to.0.into()),
        Action::Rename { .. } | Action::Link { .. } => put(out, other.into()),
        Action::Fallocate { mode, offset, bytes, .. } => {
            out.push(*mode as u8);
            put(out, *offset);
            put(out, bytes.0);
        }
        Action::Fadvise { advice, offset, bytes, .. } => {
            out.push(*advice as u8);
            put(out, *offset);
            maybe(out, *bytes);
        }
        Action::Free { bytes } => maybe(out, *bytes),
        Action::Pattern(pattern) => pattern_fields(out, pattern),
        Action::Stream { call, .. } => stream_fields(out, call),
        Action::Mapped { call, .. } => mapped_fields(out, call),
        Action::Close { .. }
        | Action::Fsync { .. }
        | Action::Fdatasync { .. }
        | Action::Sync
        | Action::SyncFs { .. }
        | Action::Unlink { .. }
        | Action::Mkdir { .. }
        | Action::Rmdir { .. }
        | Action::Stat { .. }
        | Action::Drain
        | Action::DropCaches
        | Action::Wait { .. }
        | Action::Signal { .. }
        | Action::Exit => {}
    }
}

#[inline]
fn transfer(
    out: &mut Vec<u8>,
    before: &mut Before,
    mut bits: u8,
    offset: Option<u64>,
    bytes: Option<Bytes>,
    call: Option<Bytes>,
    vector: u32,
) {
    let at = out.len();
    out.push(0);
    if let Some(offset) = offset {
        bits |= part::OFFSET;
        if offset == before.end {
            bits |= part::GOES_ON;
        } else {
            put_delta(out, offset, before.end);
        }
        before.end = offset;
    }
    if let Some(Bytes(bytes)) = bytes {
        bits |= part::BYTES;
        if bytes == before.bytes {
            bits |= part::SAME_BYTES;
        } else {
            put(out, bytes);
        }
        before.bytes = bytes;
        before.end = before.end.wrapping_add(bytes);
    }
    if let Some(Bytes(call)) = call {
        bits |= part::CALL;
        put(out, call);
    }
    if vector != 1 {
        bits |= part::VECTOR;
        put(out, vector.into());
    }
    out[at] = bits;
}

fn pattern_fields(out: &mut Vec<u8>, pattern: &Pattern) {
    let Pattern { path: _, offset, range, bytes, time, call, order, .. } = pattern;
    let Pattern { write_share, depth, by, rate, seed, .. } = pattern;
    put(out, *offset);
    maybe(out, *range);
    maybe(out, *bytes);
    maybe(out, time.map(|time| Bytes(time.0)));
    put(out, call.0);
    match *order {
        Order::Sequential => out.push(order::SEQUENTIAL),
        Order::Backwards => out.push(order::BACKWARDS),
        Order::Strided { stride } => {
            out.push(order::STRIDED);
            put(out, stride.0);
        }
        Order::Uniform { once } => out.extend_from_slice(&[order::UNIFORM, once.into()]),
        Order::Zipf { theta } => real(out, order::ZIPF, theta),
        Order::Pareto { h } => real(out, order::PARETO, h),
        Order::Normal { deviation } => real(out, order::NORMAL, deviation),
    }
    out.extend_from_slice(&write_share.to_le_bytes());
    put(out, (*depth).into());
    out.push(*by as u8);
    match rate {
        None => out.push(0),
        Some(rate) => real(out, 1, *rate),
    }
    put(out, *seed);
}

fn real(out: &mut Vec<u8>, number: u8, value: f64) {
    out.push(number);
    out.extend_from_slice(&value.to_le_bytes());
}

fn stream_fields(out: &mut Vec<u8>, call: &LibraryCall) {
    match *call {
        LibraryCall::Open { mode, library, buffer } => {
            out.extend_from_slice(&[stream::OPEN, mode as u8, library as u8]);
            maybe(out, buffer);
        }
        LibraryCall::SetBuffer { buffer } => {
            out.push(stream::SET_BUFFER);
            put(out, buffer.0);
        }
        LibraryCall::Write { offset, bytes, call } => {
            out.push(stream::WRITE);
            maybe(out, offset.map(Bytes));
            put(out, bytes.0);
            maybe(out, call);
        }
        LibraryCall::Read { offset, bytes, call } => {
            out.push(stream::READ);
            maybe(out, offset.map(Bytes));
            maybe(out, bytes);
            maybe(out, call);
        }
        LibraryCall::Seek { offset } => {
            out.push(stream::SEEK);
            put(out, offset);
        }
        LibraryCall::Flush => out.push(stream::FLUSH),
        LibraryCall::Close => out.push(stream::CLOSE),
    }
}

fn mapped_fields(out: &mut Vec<u8>, call: &MappedCall) {
    let (number, word) = match *call {
        MappedCall::Map => return out.push(mapped::MAP),
        MappedCall::Unmap => return out.push(mapped::UNMAP),
        MappedCall::Read { advice, .. } => (mapped::READ, advice as u8),
        MappedCall::Write { advice, .. } => (mapped::WRITE, advice as u8),
        MappedCall::Sync { is_async, .. } => (mapped::SYNC, u8::from(is_async)),
    };
    out.extend_from_slice(&[number, word]);
    let (offset, bytes) = call.part();
    put(out, offset);
    maybe(out, bytes);
}

/// A number that may be missing.
fn maybe(out: &mut Vec<u8>, value: Option<Bytes>) {
    out.push(u8::from(value.is_some()));
    if let Some(Bytes(value)) = value {
        put(out, value);
    }
}
