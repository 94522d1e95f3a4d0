//! Streams of libraries in a simulation: what the kernel gets, when, and what that costs. What a library makes of a call is
//! tested beside it (`stdio/tests.rs`); here copying to or from a buffer runs at 1 GB/s, as to and from the page cache.

use insta::assert_snapshot;

use crate::common::{Case, HOSTS, linux, on};

const MODELS: [&str; 4] = ["kernel", "wrench", "no-cache", "endless-cache"];

const OPEN: &str = "fopen = '/data/f', mode = 'w'";

fn process(operations: &[&str]) -> Case {
    linux().process("p", operations)
}

fn near(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-4 * expected
}

#[test]
fn the_kernel_gets_a_buffer_when_it_is_full() {
    let run = process(&[OPEN, "repeat = 10, do = [ { fwrite = '/data/f', size = '512 B' } ]"]).run("kernel");
    let sources: Vec<_> = (1..=11).map(|index| run.sources("p", index).0).collect();
    assert_eq!(sources, [0, 0, 0, 0, 0, 0, 0, 0, 4096, 0, 1024], "the last one is the fclose of exit");
    assert_eq!(run.operations.operation[run.row("p", 11)], "fclose");
    assert_eq!(run.operations.bytes[run.row("p", 9)], 512);
    assert_eq!(run.parts("p", 1), [("cpu_copy", 512e-9)]);
    assert_eq!(run.parts("p", 9), [("cpu_copy", 4608e-9)]);
    assert_eq!(run.file("/data/f").0, 5120);
}

#[test]
fn many_calls_are_one_operation_that_copies_twice() {
    for model in ["kernel", "endless-cache"] {
        let run = process(&[OPEN, "fwrite = '/data/f', size = '400 MB', call = '512 B'"]).run(model);
        // To the stream's buffer at 1 GB/s, and to the page cache at 1 GB/s or, in the other model, at 10.
        let copies = if model == "kernel" { 0.8 } else { 0.44 };
        assert!(near(run.seconds("p", 1), copies), "{model}: {}", run.seconds("p", 1));
        let (from_cache, _) = run.sources("p", 1);
        assert_eq!(from_cache, (400_000_000 - 1) / 4096 * 4096, "{model}");
        assert_eq!((run.file("/data/f").0, run.operations.end.len()), (400_000_000, 3));
    }
}

#[test]
fn it_is_the_same_whether_calls_are_one_operation_or_many() {
    let whole = "fwrite = '/data/f', size = '1 MB', call = '500 B'";
    let one = "repeat = 2000, do = [ { fwrite = '/data/f', size = '500 B' } ]";
    for stream in ["c", "c++", "python", "java"] {
        let open = format!("{OPEN}, stream = '{stream}', buffer = '4 KiB'");
        for model in MODELS {
            let run = |write: &str| {
                let run = process(&[&open, write]).set("machine.memory.cost.call=1 us").run(model);
                let times: f64 = run.all_seconds("p").iter().sum();
                (times, run.file("/data/f"))
            };
            let (one, whole) = (run(one), run(whole));
            assert!((one.0 / whole.0 - 1.0).abs() < 2e-3, "{stream} {model}: {one:?} {whole:?}");
            assert_eq!(one.1, whole.1, "{stream} {model}");
        }
    }
}

#[test]
fn what_is_longer_than_the_buffer_is_not_copied_into_it() {
    let run = process(&[OPEN, "fwrite = '/data/f', size = '500 MB'"]).run("kernel");
    // But for what is left of whole buffers.
    let kept = 500_000_000 % 4096;
    assert!(near(run.seconds("p", 1), 0.5), "{}", run.seconds("p", 1));
    assert_eq!(run.sources("p", 1), (500_000_000 - kept, 0));
    assert_eq!(run.sources("p", 2).0, kept);
}

#[test]
fn an_fsync_does_not_know_what_a_stream_holds() {
    let fsync = "fsync = '/data/f'";
    let run = process(&[
        OPEN,
        "fwrite = '/data/f', size = '5000 B', call = '50 B'",
        fsync,
        "fflush = '/data/f'",
        fsync,
    ])
    .run("kernel");
    let sources = |index| run.sources("p", index).0;
    assert_eq!((sources(1), sources(3)), (4096, 904));
    assert!(run.seconds("p", 4) > 0.0 && run.file("/data/f").2 == 0);
}

#[test]
fn a_stream_is_read_through_its_buffer() {
    let reads = [
        "fopen = '/data/g', mode = 'r'",
        "fread = '/data/g', call = '100 B'",
        "fread = '/data/g', offset = '0 B', call = '1 MB'",
    ];
    let run = linux().file("/data/g", "100 MB").process("p", &reads).run("kernel");
    // From the disk at 100 MB/s, the copies beside it but for the one into the program; then from the cache, past the buffer.
    assert_eq!(run.sources("p", 1).0 + run.sources("p", 1).1, 100_000_000);
    assert!((1.0..1.25).contains(&run.seconds("p", 1)), "{}", run.seconds("p", 1));
    let again = run.seconds("p", 2);
    assert!((0.1..0.102).contains(&again), "{again}");
}

#[test]
fn to_seek_in_a_stream_that_reads_is_to_read_a_block() {
    let seek = "fseek = '/data/g', offset = '50000 B'";
    let of_mode = |mode: &str| {
        let open = format!("fopen = '/data/g', mode = '{mode}'");
        linux().file("/data/g", "1 MB").process("p", &[&open, seek]).run("no-cache").sources("p", 1).1
    };
    assert_eq!((of_mode("r+"), of_mode("a")), (50_000 % 4096, 0));
}

#[test]
fn what_a_stream_has_written_can_be_read_with_a_seek() {
    let again = "fread = '/data/f', offset = '0 B'";
    let run = process(&["fopen = '/data/f', mode = 'w+'", "fwrite = '/data/f', size = '1 kB'", again])
        .run("kernel");
    assert_eq!(run.operations.bytes[run.row("p", 2)], 1000);
}

#[test]
fn a_random_writer_rewrites_parts_of_blocks() {
    let write = |k: u64| format!("fwrite = '/data/g', offset = '{} B', size = '100 B'", k * 40_000);
    let writes: Vec<String> = (1..20).map(write).collect();
    let mut operations = vec!["fopen = '/data/g', mode = 'r+'"];
    operations.extend(writes.iter().map(String::as_str));
    for model in MODELS {
        let run = linux().file("/data/g", "1 MB").process("p", &operations).run(model);
        assert_eq!(run.file("/data/g").0, 1_000_000, "{model}");
        // The one of the operation before.
        assert!(run.sources("p", 3).0 + run.sources("p", 3).1 >= 100, "{model}");
    }
}

#[test]
fn streams_are_closed_at_exit_the_last_one_first() {
    let operations = [
        OPEN,
        "fopen = '/data/g', mode = 'w'",
        "fwrite = '/data/f', size = '10 B'",
        "fwrite = '/data/g', size = '20 B'",
        "exit = true",
        "fwrite = '/data/g', size = '20 B'",
    ];
    let run = process(&operations).run("kernel");
    assert_eq!((run.sources("p", 4).0, run.sources("p", 5).0), (20, 10));
    assert_eq!(run.operations.end.len(), 6);
}

#[test]
fn a_stream_of_another_hosts_file_crosses_the_link() {
    let operations = [
        "fopen = '/remote/f', mode = 'w'",
        "fwrite = '/remote/f', size = '4 MB', call = '1000 B'",
        "fsync = '/remote/f'",
    ];
    for model in ["kernel", "wrench"] {
        let run = on(HOSTS).process("p", &operations).run(model);
        assert!(run.end("p", 2) > 0.01, "{model}");
        assert_eq!(run.file("/remote/f").0, 4_000_000, "{model}");
    }
}

#[test]
fn a_removed_file_takes_its_stream_with_it() {
    let again = [OPEN, "fwrite = '/data/f', size = '10 B'", "unlink = '/data/f'", OPEN];
    assert_eq!(process(&again).run("kernel").file("/data/f").0, 0);
}

#[test]
fn a_stream_outlives_what_others_do_to_its_file() {
    let writer = [OPEN, "fwrite = '/data/f', size = '10 B'", "sleep = '1 s'"];
    let other = linux().process("p", &writer).process("q", &["sleep = '500 ms'", "unlink = '/data/f'"]);
    assert_eq!(other.run("kernel").sources("p", 3).0, 10);
    let reader = ["fopen = '/data/g', mode = 'r'", "fread = '/data/g', call = '100 B'"];
    let cut = linux().file("/data/g", "100 MB").process("p", &reader);
    let error =
        cut.process("q", &["sleep = '500 ms'", "truncate = '/data/g', size = '1 MB'"]).error("kernel");
    assert!(error.contains("of /data/g, which has 1 MB"), "{error}");
}

#[test]
fn what_cannot_be_says_what_would_be_right() {
    let error = |operations: &[&str]| process(operations).error("kernel");
    let write = "fwrite = '/data/f', size = '1 kB'";
    let read = "fread = '/data/f', size = '1 B'";
    let both = "fopen = '/data/f', mode = 'w+'";
    let java = "fopen = '/data/f', mode = 'w', stream = 'java'";
    assert_snapshot!(error(&["write = '/data/f', size = '1 B'", write]), @"test.toml:18: process `p` does a fwrite of /data/f at 1 ns, which is not open as a stream; `fopen` it first");
    assert_snapshot!(error(&[OPEN, OPEN]), @"test.toml:18: process `p` does a fopen of /data/f at the start, which is open as a stream already; `fclose` it first");
    assert_snapshot!(error(&[OPEN, read]), @r#"test.toml:18: process `p` does a fread of /data/f at the start, which was opened in mode "w"; open it in mode "r" or "r+""#);
    assert_snapshot!(error(&[both, write, read]), @"test.toml:19: process `p` does a fread of /data/f at 1.000 us, right after the other of reading and writing, which C does not define; put an `fseek` or `fflush` between");
    assert_snapshot!(error(&[both, write, "fseek = '/data/f', offset = '1 kB'", read]), @"test.toml:20: process `p` reads 1 B at offset 1 kB of /data/f, which has 1 kB at 3.000 us; read less or make the file larger");
    assert_snapshot!(error(&[OPEN, write, "setvbuf = '/data/f', size = '1 MiB'"]), @"test.toml:19: process `p` does a setvbuf of /data/f at 1.000 us, which was read or written before; choose its buffer right after `fopen`");
    assert_snapshot!(error(&[java, "setvbuf = '/data/f', size = '1 MiB'"]), @"test.toml:18: process `p` does a setvbuf of /data/f at the start, whose buffer java chooses when it opens it; give `buffer` to `fopen`");
    assert_snapshot!(error(&[java, "fseek = '/data/f', offset = '1 MiB'"]), @r#"test.toml:18: process `p` does a fseek of /data/f at the start, which no stream with stream = "java" does; use another stream, or `read` and `write`"#);
    assert_snapshot!(error(&[both, write, "fread = '/data/f', offset = '0 B', size = '2 kB'"]), @"test.toml:19: process `p` reads 2 kB at offset 0 B of /data/f, which has 1 kB at 1.000 us; read less or make the file larger");
}
