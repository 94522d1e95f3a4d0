use super::*;

fn stream(library: Library, mode: Mode, buffer: Option<u64>) -> Stream {
    Stream::new(library, mode, buffer.map(Bytes)).expect("the library has such streams")
}

/// What each of some writes of so many bytes makes of a new stream: bytes and number of write(2) calls.
fn writes(library: Library, buffer: Option<u64>, sizes: &[u64]) -> Vec<(u64, u64)> {
    let mut stream = stream(library, Mode::Write, buffer);
    let one = |&bytes: &u64| {
        let end = stream.end;
        stream.write(bytes, bytes, end).expect("it may be written").total(Direction::Write)
    };
    sizes.iter().map(one).collect()
}

/// The same of reads from a file that is long enough.
fn reads(library: Library, buffer: Option<u64>, sizes: &[u64]) -> Vec<(u64, u64)> {
    let mut stream = stream(library, Mode::Read, buffer);
    let one =
        |&bytes: &u64| stream.read(bytes, bytes, 1 << 40).expect("it may be read").total(Direction::Read);
    sizes.iter().map(one).collect()
}

const NOTHING: (u64, u64) = (0, 0);

/// As strace showed it of a program in C with glibc 2.36 that calls fwrite with these sizes.
#[test]
fn glibc_writes_a_full_buffer_when_there_is_more() {
    let mut eight = vec![NOTHING; 8];
    eight.push((4096, 1));
    assert_eq!(writes(Library::C, None, &[512; 9]), eight);
    // A fresh stream passes whole buffers on; after that the first fills the buffer, and the next writes both.
    assert_eq!(writes(Library::C, None, &[4096; 4]), [(4096, 1), NOTHING, (8192, 2), NOTHING]);
    assert_eq!(
        writes(Library::C, None, &[10_000, 10_000, 10_000]),
        [(8192, 1), (4096 + 4096, 2), (4096 + 8192, 2)]
    );
    assert_eq!(writes(Library::C, None, &[1 << 30, 1 << 30]), [(1 << 30, 1), (1 << 30, 2)]);
}

/// `_IO_new_file_xsputn` rounds to whole buffers from 128 bytes on; one byte is none.
#[test]
fn glibc_passes_all_on_that_a_small_buffer_does_not_hold() {
    assert_eq!(writes(Library::C, Some(0), &[10, 5000]), [(10, 1), (5000, 1)]);
    assert_eq!(writes(Library::C, Some(100), &[70, 70, 250]), [(70, 1), NOTHING, (320, 2)]);
}

/// bits/fstream.tcc of GCC 12: room for 8191 bytes, and 1024 bytes are enough for a writev of their own.
#[test]
fn libstdcxx_writes_what_it_holds_with_what_does_not_fit() {
    let mut sixteen = vec![NOTHING; 15];
    sixteen.push((8192, 1));
    assert_eq!(writes(Library::Cxx, None, &[512; 16]), sixteen);
    assert_eq!(writes(Library::Cxx, None, &[100; 82])[81], (8200, 1));
    assert_eq!(
        writes(Library::Cxx, None, &[100, 1023, 1024, 10_000]),
        [NOTHING, NOTHING, (2147, 1), (10_000, 1)]
    );
}

/// `_io_BufferedWriter_write_impl`: only whole calls are in a buffer, and one of its size goes through it.
#[test]
fn python_writes_what_it_holds_before_what_does_not_fit() {
    assert_eq!(writes(Library::Python, Some(4096), &[100; 41])[40], (4000, 1));
    assert_eq!(writes(Library::Python, Some(4096), &[4096; 3]), [NOTHING, (4096, 1), (4096, 1)]);
    assert_eq!(writes(Library::Python, Some(4096), &[10, 5000, 10]), [NOTHING, (5010, 2), NOTHING]);
    assert_eq!(writes(Library::Python, Some(0), &[10]), [(10, 1)]);
}

/// `BufferedOutputStream.write`.
#[test]
fn java_passes_on_what_is_as_long_as_its_buffer() {
    assert_eq!(writes(Library::Java, None, &[100; 82])[81], (8100, 1));
    assert_eq!(writes(Library::Java, None, &[8192; 2]), [(8192, 1); 2]);
    assert_eq!(writes(Library::Java, None, &[10, 9000]), [NOTHING, (9010, 2)]);
}

#[test]
fn short_reads_fill_the_buffer_and_long_ones_go_past_it() {
    assert_eq!(reads(Library::C, None, &[512, 3584, 1]), [(4096, 1), NOTHING, (4096, 1)]);
    // 8192 directly, 4096 into the buffer of which 1808 are wanted; then 2288 of it, 4096 directly and a buffer again.
    assert_eq!(reads(Library::C, None, &[10_000; 2]), [(12_288, 2), (8192, 2)]);
    assert_eq!(reads(Library::Python, Some(4096), &[10_000; 2]), [(12_288, 2), (8192, 2)]);
    assert_eq!(reads(Library::Cxx, None, &[512, 8191, 8192]), [(8191, 1), (8191, 1), (513, 1)]);
    assert_eq!(reads(Library::Java, None, &[512, 7680, 10_000]), [(8192, 1), NOTHING, (10_000, 1)]);
}

#[test]
fn the_last_buffer_of_a_file_is_short() {
    let mut stream = stream(Library::C, Mode::Read, None);
    let work = stream.read(10_000, 100, 10_000).unwrap();
    assert_eq!((work.total(Direction::Read), work.copied), ((10_000, 3), 10_000));
}

/// `_IO_new_file_seekoff` reads the block that a place is in, if the stream may be read.
#[test]
fn glibc_reads_a_block_when_it_seeks() {
    let end = 1 << 20;
    let mut updated = stream(Library::C, Mode::ReadUpdate, None);
    updated.write(100, 100, end).unwrap();
    let work = updated.seek(10_000, end).unwrap();
    assert_eq!((work.seeks, work.total(Direction::Write)), (1, (100, 1)));
    assert_eq!(work.transfers[1].offset, 8192);
    assert_eq!(work.total(Direction::Read), (4096, 1));
    // The block is written up to its end: back to the place, then 2288 bytes.
    let work = updated.write(3000, 3000, end).unwrap();
    assert_eq!((work.seeks, work.total(Direction::Write)), (1, (2288, 1)));
    assert_eq!(updated.unwritten(), Bytes(712));
    let mut written = stream(Library::C, Mode::Write, None);
    written.write(100, 100, end).unwrap();
    let work = written.seek(10_000, end).unwrap();
    assert_eq!(
        (work.seeks, work.total(Direction::Write), work.total(Direction::Read)),
        (1, (100, 1), NOTHING)
    );
}

#[test]
fn an_empty_stream_reads_only_up_to_the_place_that_it_seeks() {
    let mut stream = stream(Library::C, Mode::Read, None);
    assert_eq!(stream.seek(10_000, 1 << 20).unwrap().total(Direction::Read), (10_000 - 8192, 1));
    assert_eq!(stream.read(10, 10, 1 << 20).unwrap().total(Direction::Read), (4096, 1));
    // Now glibc knows where it is, and what it has.
    let work = stream.seek(10_001, 1 << 20).unwrap();
    assert_eq!((work.seeks, work.transfers.len()), (1, 0));
}

#[test]
fn what_a_stream_cannot_do_is_refused() {
    let mut written = stream(Library::C, Mode::Write, None);
    assert_eq!(written.read(1, 1, 10), Err(Refusal::WrongMode(Mode::Write)));
    assert_eq!(stream(Library::C, Mode::Read, None).write(1, 1, 10), Err(Refusal::WrongMode(Mode::Read)));
    written.write(1, 1, 10).unwrap();
    assert_eq!(written.set_buffer(Bytes(1)), Err(Refusal::HasBuffer));
    let mut both = stream(Library::C, Mode::ReadUpdate, None);
    both.read(1, 1, 10).unwrap();
    assert_eq!(both.write(1, 1, 10), Err(Refusal::Turned));
    both.seek(5, 10).unwrap();
    both.write(1, 1, 10).unwrap();
    let mut python = stream(Library::Python, Mode::Write, None);
    assert_eq!(python.set_buffer(Bytes(1)), Err(Refusal::BufferWhenOpened(Library::Python)));
    assert_eq!(stream(Library::Java, Mode::Read, None).seek(1, 10), Err(Refusal::Never(Library::Java)));
    assert_eq!(Stream::new(Library::Java, Mode::ReadUpdate, None), Err(Refusal::Never(Library::Java)));
}

#[test]
fn what_a_terabyte_in_small_calls_comes_to_is_known_at_once() {
    let mut stream = stream(Library::C, Mode::Write, None);
    let work = stream.write(1 << 40, 100, 0).unwrap();
    assert_eq!((work.transfers.len(), work.total(Direction::Write).1), (1, (1 << 28) - 1));
    assert_eq!((work.transfers[0].piece(), work.copied), (4096, 1 << 40));
}
