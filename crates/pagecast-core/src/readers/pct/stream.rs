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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn pieces_are_gathered_or_fill_the_buffer_first() {
        assert_eq!(written_call(8 * MIB, 100, 4096), 4096, "until the buffer is full");
        assert_eq!(written_call(8 * MIB, MIB, 0), MIB, "no buffer");
        // 16 pieces: the first is one call; each later one fills the buffer, which is written, then the rest.
        assert_eq!(written_call(16 * MIB, MIB, 65536), 16 * MIB / 31);
        assert_eq!((written_call(1000, 100, 4096), written_call(0, 100, 4096)), (1000, 1));
        assert_eq!((read_call(8 * MIB, MIB, 65536), read_call(8 * MIB, 100, 4096)), (MIB, 4096));
    }

    /// The calls of `_IO_new_file_xsputn` as it is written, with a flush at the end.
    fn calls(size: u64, piece: u64, buffer: u64) -> u64 {
        // `_IO_write_end` less the start of the buffer; none is there at first.
        let (mut calls, mut used, mut end) = (0, 0, 0_u64);
        for start in (0..size).step_by(piece as usize) {
            let mut left = piece.min(size - start);
            let taken = (end - used).min(left);
            used += taken;
            left -= taken;
            if left > 0 {
                calls += u64::from(used > 0);
                let direct = if buffer >= 128 { left - left % buffer } else { left };
                calls += u64::from(direct > 0);
                (used, end) = (left - direct, buffer);
            }
        }
        calls + u64::from(used > 0)
    }

    proptest! {
        #[test]
        fn the_mean_is_that_of_the_calls_one_by_one(size in 1..200_000_u64, piece in 100..20_000_u64, buffer in 128..9000_u64) {
            let (mean, calls) = (written_call(size, piece, buffer), calls(size, piece, buffer) as f64);
            let expected = size as f64 / mean as f64;
            // The last piece is shorter.
            prop_assert!((calls - expected).abs() <= (0.02 * expected).max(4.0), "{calls} calls, {expected} expected");
        }
    }
}
