//! The state machine of glibc's streams against glibc: the same calls, and what the kernel counts of each
//! (/proc/thread-self/io: calls of read(2) and write(2), and their bytes).

use std::fs::File;
use std::num::NonZero;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use pagecast_core::stdio::{Direction, Library, Mode, Stream, Work};
use pagecast_core::units::Bytes;
use pagecast_probe::io::{Folder, Io, Memory, Open, StreamCall, Streams};

const MOST: u64 = 20_000;
const FILE: u64 = 300_000;

/// Bytes and calls, read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    read: (u64, u64),
    written: (u64, u64),
}

/// What this thread has asked the kernel since the last look.
struct Counter {
    file: File,
    last: Counts,
    /// The look itself is a read.
    text: u64,
}

impl Counter {
    /// None where the kernel does not count (CONFIG_TASK_IO_ACCOUNTING).
    fn new() -> Option<Self> {
        let file = File::open("/proc/thread-self/io").ok()?;
        let mut counter = Self { file, last: Counts::default(), text: 0 };
        counter.look();
        Some(counter)
    }

    fn look(&mut self) -> Counts {
        let mut text = [0; 512];
        let length = self.file.read_at(&mut text, 0).expect("it could be opened");
        let text = std::str::from_utf8(&text[..length]).expect("the kernel writes ASCII");
        let mut numbers = text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
        let mut next = || numbers.next().expect("it has four numbers");
        let (rchar, wchar, syscr, syscw) = (next(), next(), next(), next());
        let now = Counts { read: (rchar, syscr), written: (wchar, syscw) };
        let since = |now: (u64, u64), last: (u64, u64)| (now.0 - last.0, now.1 - last.1);
        let (read, written) = (since(now.read, self.last.read), since(now.written, self.last.written));
        let own = (read.0.saturating_sub(self.text), read.1.saturating_sub(1));
        (self.last, self.text) = (now, length as u64);
        Counts { read: own, written }
    }
}

fn expected(work: &Work) -> Counts {
    Counts { read: work.total(Direction::Read), written: work.total(Direction::Write) }
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn size(&mut self) -> u64 {
        let most = [3, 100, 600, 5000, 9000, MOST][self.below(6) as usize];
        [1 + self.below(most), 4096, 8192, 1024][(self.below(12) as usize).saturating_sub(8)]
    }
}

/// Any calls that C defines, of one stream, each counted.
fn compare(mode: Mode, buffer: Option<u64>, seed: u64, counter: &mut Counter) {
    let place = tempfile::TempDir::new().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let name = Path::new("f");
    let file = folder.open(name, Open { create: true, ..Open::default() }).unwrap();
    folder.set_length(&file, FILE).unwrap();
    let mut memory = Memory::new(NonZero::new(MOST as usize).unwrap()).unwrap();
    memory.fill(1);
    let mut real = folder.open_stream(name, mode).unwrap();
    // BUFSIZ, or less if the file system says so (`_IO_file_doallocate`).
    let usual = std::fs::metadata(place.path().join(name)).unwrap().blksize().min(8192);
    let mut model = Stream::new(Library::C, mode, Some(Bytes(usual))).unwrap();
    if let Some(size) = buffer {
        folder.call(&mut real, &mut memory, StreamCall::SetBuffer(size as usize)).unwrap();
        model.set_buffer(Bytes(size)).unwrap();
    }
    let (mut numbers, mut reads, mut done) = (Numbers(seed), None, Vec::new());
    for _ in 0..150 {
        let end = folder.length(&file).unwrap();
        let (kind, bytes, place) = (numbers.below(10), numbers.size(), numbers.below(end + 1));
        let is_read = reads.unwrap_or(kind % 2 == 0) && mode.reads() || !mode.writes();
        let left = end.saturating_sub(model.tell(Direction::Read, end));
        let (call, work) = match kind {
            0 => (StreamCall::Flush, model.flush(end)),
            1 => (StreamCall::Seek(place), model.seek(place, end).unwrap()),
            _ if is_read && bytes > left => continue,
            _ if is_read => (StreamCall::Read(bytes as usize), model.read(bytes, bytes, end).unwrap()),
            _ => (StreamCall::Write(bytes as usize), model.write(bytes, bytes, end).unwrap()),
        };
        reads = if kind < 2 { None } else { Some(is_read) };
        done.push(call);
        counter.look();
        folder.call(&mut real, &mut memory, call).unwrap();
        assert_eq!(counter.look(), expected(&work), "mode {}, buffer {buffer:?}: {done:?}", mode.name());
    }
    let end = folder.length(&file).unwrap();
    counter.look();
    folder.call(&mut real, &mut memory, StreamCall::Close).unwrap();
    assert_eq!(counter.look(), expected(&model.close(end)), "mode {}, fclose", mode.name());
}

#[test]
fn glibc_asks_the_kernel_what_the_model_says() {
    let Some(mut counter) = Counter::new() else { return };
    for mode in Mode::ALL {
        for buffer in [None, Some(0), Some(2), Some(100), Some(128), Some(4096), Some(5000), Some(65_536)] {
            for seed in 1..6 {
                compare(mode, buffer, seed, &mut counter);
            }
        }
    }
}
