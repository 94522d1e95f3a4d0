//! Mean size of the calls of a C stream, for a program that reads or writes in pieces.
//!
//! Source: glibc 2.40, libio/fileops.c: `_IO_new_file_xsputn` and `_IO_file_xsgetn`. The bytes that a piece leaves in the buffer decide on
//! the next one, so pieces are followed one by one.

/// So many pieces are followed; the pattern has repeated itself by then, for all buffers that are in use.
const ENOUGH: u64 = 4096;

/// Of a smaller buffer, calls need not be multiples.
const LEAST_BLOCK: u64 = 128;

/// The mean size of a write(2): of all bytes, of those of an fwrite(3), and of the buffer; 0 or 1 is none.
pub fn written_call(size: u64, piece: u64, buffer: u64) -> u64 {
    let piece = piece.max(1).min(size.max(1));
    if buffer <= 1 {
        return piece;
    }
    // A stream has no buffer before its first piece.
    let (mut calls, mut moved, mut used, mut room) = (0_u64, 0_u64, 0_u64, 0_u64);
    for _ in 0..size.div_ceil(piece).min(ENOUGH) {
        let filled = room.min(piece);
        used += filled;
        let left = piece - filled;
        if left > 0 {
            let direct = whole_blocks(left, buffer);
            calls += u64::from(used > 0) + u64::from(direct > 0);
            moved = moved.saturating_add(used).saturating_add(direct);
            used = left - direct;
        }
        room = buffer.saturating_sub(used);
    }
    mean(moved, calls, buffer.min(size))
}

/// The mean size of a read(2), as [`written_call`].
pub fn read_call(size: u64, piece: u64, buffer: u64) -> u64 {
    let piece = piece.max(1).min(size.max(1));
    if buffer <= 1 {
        return piece;
    }
    let (mut calls, mut moved, mut kept) = (0_u64, 0_u64, 0_u64);
    for _ in 0..size.div_ceil(piece).min(ENOUGH) {
        let taken = kept.min(piece);
        kept -= taken;
        let mut left = piece - taken;
        if left >= buffer {
            let direct = whole_blocks(left, buffer);
            calls += 1;
            moved = moved.saturating_add(direct);
            left -= direct;
        }
        if left > 0 {
            calls += 1;
            moved = moved.saturating_add(buffer);
            kept = buffer.saturating_sub(left);
        }
    }
    mean(moved, calls, buffer.min(size))
}

fn whole_blocks(bytes: u64, buffer: u64) -> u64 {
    if buffer >= LEAST_BLOCK { bytes - bytes % buffer } else { bytes }
}

/// The mean call; `whole` where all pieces fit into the buffer.
fn mean(moved: u64, calls: u64, whole: u64) -> u64 {
    moved.checked_div(calls).unwrap_or(whole).max(1)
}
