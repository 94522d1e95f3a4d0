//! The reader as a whole, on recordings made by hand.

use proptest::prelude::*;

use super::*;
use crate::readers::options::Strace;
use crate::readers::testing::read_text;
use crate::trace::Trace;
use crate::units::Nanos;

fn traced(text: &str, lenient: bool) -> Result<Trace, ReadError> {
    read_text(read, text, &Options { lenient, ..Options::default() })
}

/// A recording of which nothing is taken for strace's.
fn exact(text: &str) -> Trace {
    let strace = Strace { overhead: Some(Nanos::ZERO), system_files: false };
    read_text(read, text, &Options { strace, ..Options::default() }).expect("the recording is right")
}

/// The operations by process: start and duration in us, name, path, descriptor, offset and bytes.
fn shown(text: &str) -> String {
    let trace = exact(text);
    let mut lines = String::new();
    let records: Vec<_> = trace.records().map(|each| each.expect("it was just written")).collect();
    for (process, name) in (0_u32..).zip(trace.processes()) {
        lines += &format!("{name}\n");
        for (_, record) in records.iter().filter(|(of, _)| *of == process) {
            let us = |time: Option<Nanos>| time.map_or("-".to_owned(), |time| (time.0 / 1000).to_string());
            let fd = record.operation.fd.map_or(String::new(), |fd| format!(" fd {}", fd.0));
            let action = format!("{:?}", record.operation.action);
            let action = action.replace(", call: None, vector: 1", "").replace(", buffer: Reused", "");
            let action = action.replace("flags: OpenFlags(0)", "..");
            lines += &format!("  {} +{} {action}{fd}\n", us(record.time), us(record.duration));
        }
    }
    lines
}

fn notes(trace: &Trace) -> Vec<&str> {
    trace.notes().iter().map(|note| &*note.text).collect()
}

fn sizes(trace: &Trace) -> Vec<(String, u64)> {
    trace.files().map(|file| (file.path.to_string(), file.size.0)).collect()
}

const COPY: &str = r#"100 1700000000.000000 execve("/bin/cp", ["cp", "a", "b"], 0x7f /* 9 vars */) = 0 <0.000100>
100 1700000000.001000 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a> <0.000010>
100 1700000000.001050 newfstatat(3</w/a>, "", {st_mode=S_IFREG|0644, st_size=7000, ...}, AT_EMPTY_PATH) = 0 <0.000001>
100 1700000000.001100 openat(AT_FDCWD</w>, "b", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4</w/b> <0.000020>
100 1700000000.001200 read(3</w/a>, "xx"..., 131072) = 5000 <0.000030>
100 1700000000.001300 write(4</w/b>, "xx"..., 5000) = 5000 <0.000040>
100 1700000000.001400 read(3</w/a>, "", 131072) = 0 <0.000005>
100 1700000000.001500 close(4</w/b>) = 0 <0.000001>
100 1700000000.001600 close(3</w/a>) = 0 <0.000001>
100 1700000000.001700 write(1</dev/pts/0>, "done\n", 5) = 5 <0.000001>
100 1700000000.001800 exit_group(0) = ?
100 1700000000.001900 +++ exited with 0 +++
"#;

#[test]
fn a_copy_is_read() {
    insta::assert_snapshot!(shown(COPY), @r#"
    cp.100
      1090 +20 Open { path: "/w/b", create: true, truncate: false, .. } fd 1
      1190 +10 Open { path: "/w/a", create: false, truncate: false, .. } fd 0
      1200 +30 Read { path: "/w/a", offset: Some(0), bytes: Some(Bytes(5000)) } fd 0
      1300 +40 Write { path: "/w/b", offset: Some(0), bytes: Bytes(5000) } fd 1
      1500 +0 Close { path: "/w/b" } fd 1
      1600 +0 Close { path: "/w/a" } fd 0
      1800 +0 Signal { event: "ended 100.1" }
    "#);
    let trace = exact(COPY);
    assert_eq!(sizes(&trace), [("/w/a".into(), 7000)]);
    assert_eq!(
        notes(&trace),
        [
            "5 B written to sockets, terminals and /proc (1 call) take the recorded time",
            "0 B read from the ends of files (1 call) take the recorded time"
        ]
    );
}

#[test]
fn what_strace_adds_is_taken_out() {
    let text: String = (0..10)
        .map(|at| {
            let at = 1000 * at;
            format!(
                "1 1700000000.{at:06} lseek(3</f>, 0, SEEK_SET) = 0 <0.000020>\n\
                 1 1700000000.{:06} getxattr(\"/f\", 3</f>) = 0 <0.000020>\n\
                 1 1700000000.{:06} write(3</f>, \"x\", 1) = 1 <0.000050>\n",
                at + 50,
                at + 100
            )
        })
        .collect();
    let trace = traced(&text, false).unwrap();
    let [note] = notes(&trace).try_into().expect("one note");
    assert!(note.starts_with("strace adds 19.850 us to each call and 30.0"), "{note}");
    let times: Vec<_> =
        trace.records().map(|each| each.unwrap().1).map(|record| record.time.unwrap().0).collect();
    // Of 1000 us between writes the three calls take twice 150 ns and 30 us, and strace takes 30 us behind each.
    let expected = 30_150 + (1000 - 150 - 30) * 1000 + 2 * 150;
    assert!((times[2] - times[1]).abs_diff(expected) < 200, "{times:?}");
}

#[test]
fn descriptors_are_shared_and_closed_at_the_end() {
    let text = r#"1 1700000000.0 openat(AT_FDCWD, "/w/f", O_RDONLY) = 3 <0.000010>
1 1700000000.1 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2 <0.000100>
2 1700000000.2 read(3, "x", 10) = 10 <0.000010>
1 1700000000.3 wait4(2,  <unfinished ...>
2 1700000000.4 dup2(3, 0) = 0 <0.000010>
2 1700000000.5 execve("/bin/cat", ["cat"], 0x0) = 0 <0.000010>
2 1700000000.6 read(0, "y", 10) = 10 <0.000010>
2 1700000000.7 +++ exited with 0 +++
1 1700000000.7 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.400000>
1 1700000000.8 read(3, "z", 10) = 7 <0.000010>
1 1700000000.9 +++ exited with 0 +++
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      100090 +0 Signal { event: "begun 2.1" }
      299990 +400000 Wait { event: "ended 2.1" }
      799990 +10 Read { path: "/w/f", offset: Some(20), bytes: Some(Bytes(7)) } fd 0
      800000 +0 Signal { event: "ended 1.1" }
      800000 +0 Close { path: "/w/f" } fd 0
    process.2
      100090 +0 Wait { event: "begun 2.1" }
      100090 +10 Open { path: "/w/f", create: false, truncate: false, .. } fd 0
      100100 +10 Read { path: "/w/f", offset: Some(0), bytes: Some(Bytes(10)) } fd 0
      500100 +10 Read { path: "/w/f", offset: Some(10), bytes: Some(Bytes(10)) } fd 0
      500110 +0 Signal { event: "ended 2.1" }
    "#);
}

#[test]
fn paths_are_followed_without_y() {
    let text = r#"1 1700000000.0 chdir("/w") = 0 <0.000010>
1 1700000000.1 open("d", O_RDONLY|O_DIRECTORY|O_CLOEXEC) = 3 <0.000010>
1 1700000000.1 openat(3, "f\t\303\274", O_RDWR|O_APPEND) = 4 <0.000010>
1 1700000000.1 fcntl(4, F_DUPFD, 10) = 10 <0.000010>
1 1700000000.1 fcntl(10, F_SETFD, FD_CLOEXEC) = 0 <0.000010>
1 1700000000.1 close(4) = 0 <0.000010>
1 1700000000.2 write(10, "x"..., 10) = 10 <0.000010>
1 1700000000.2 fchdir(3) = 0 <0.000010>
1 1700000000.2 openat(AT_FDCWD, "g", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 5 <0.000010>
1 1700000000.3 execve("/bin/x", ["x"], 0x0) = 0 <0.000010>
1 1700000000.4 write(5, "x", 1) = 1 <0.000010>
1 1700000000.4 write(10, "x", 1) = 1 <0.000010>
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      200030 +10 Open { path: "/w/d/f\tü", create: false, truncate: false, flags: OpenFlags(8) } fd 1
      200040 +10 Write { path: "/w/d/f\tü", offset: None, bytes: Bytes(10) } fd 1
      200060 +10 Open { path: "/w/d/g", create: true, truncate: true, .. } fd 2
      300060 +0 Close { path: "/w/d/f\tü" } fd 1
      400060 +10 Write { path: "/w/d/g", offset: Some(0), bytes: Bytes(1) } fd 2
      400080 +0 Signal { event: "ended 1.1" }
    "#);
}

#[test]
fn a_reader_of_a_pipe_waits_for_the_writer() {
    let text = r#"1 1700000000.000000 pipe2([3, 4], O_CLOEXEC) = 0 <0.000010>
1 1700000000.000100 fork() = 2 <0.000100>
2 1700000000.000300 read(3,  <unfinished ...>
1 1700000000.001000 openat(AT_FDCWD, "/w/f", O_RDONLY) = 5 <0.000010>
1 1700000000.002000 read(5, "x"..., 1000) = 1000 <0.001000>
1 1700000000.004000 write(4, "x"..., 1000) = 1000 <0.000010>
2 1700000000.004020 <... read resumed>"x"..., 1000) = 1000 <0.003720>
2 1700000000.005020 openat(AT_FDCWD, "/w/g", O_WRONLY|O_CREAT, 0644) = 6 <0.000010>
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      200 +0 Signal { event: "begun 2.1" }
      1990 +10 Open { path: "/w/f", create: false, truncate: false, .. } fd 2
      2000 +1000 Read { path: "/w/f", offset: Some(0), bytes: Some(Bytes(1000)) } fd 2
      4010 +0 Signal { event: "done 1.1.5" }
      4010 +0 Signal { event: "ended 1.1" }
    process.2
      200 +0 Wait { event: "begun 2.1" }
      200 +3709 Wait { event: "done 1.1.5" }
      4920 +10 Open { path: "/w/g", create: true, truncate: false, .. } fd 3
      4930 +0 Signal { event: "ended 2.1" }
    "#);
}

#[test]
fn a_parent_waits_for_its_vforked_child_to_execute() {
    let text = r#"1 1700000000.000000 vfork( <unfinished ...>
2 1700000000.001000 execve("/bin/x", ["x"], 0x0 <unfinished ...>
1 1700000000.003000 <... vfork resumed>) = 2 <0.003000>
2 1700000000.003000 <... execve resumed>) = 0 <0.002000>
1 1700000000.004000 unlink("/w/a") = 0 <0.000010>
2 1700000000.005000 unlink("/w/b") = 0 <0.000010>
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      50 +0 Signal { event: "begun 2.1" }
      50 +3000 Wait { event: "done 2.1.0" }
      4050 +10 Unlink { path: "/w/a" }
      4060 +0 Signal { event: "ended 1.1" }
    process.2
      50 +0 Wait { event: "begun 2.1" }
      50 +0 Signal { event: "done 2.1.0" }
      4050 +10 Unlink { path: "/w/b" }
      4060 +0 Signal { event: "ended 2.1" }
    "#);
}

#[test]
fn threads_share_descriptors_and_are_joined() {
    let text = r#"1 1700000000.000000 openat(AT_FDCWD, "/w/f", O_WRONLY|O_CREAT, 0644) = 3 <0.000010>
1 1700000000.000100 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {parent_tid=[2]}, 88) = 2 <0.000100>
2 1700000000.000300 pwrite64(3, "x"..., 100, 500) = 100 <0.000100>
1 1700000000.000400 futex(0x7f910, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 2, NULL, FUTEX_BITSET_MATCH_ANY <unfinished ...>
2 1700000000.000500 exit(0) = ?
1 1700000000.000510 <... futex resumed>) = 0 <0.000110>
2 1700000000.000520 +++ exited with 0 +++
1 1700000000.000600 close(3) = 0 <0.000010>
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      0 +10 Open { path: "/w/f", create: true, truncate: false, .. } fd 0
      200 +0 Signal { event: "begun 2.1" }
      400 +110 Wait { event: "ended 2.1" }
      600 +0 Close { path: "/w/f" } fd 0
      610 +0 Signal { event: "ended 1.1" }
    process.2
      200 +0 Wait { event: "begun 2.1" }
      200 +100 Write { path: "/w/f", offset: Some(500), bytes: Bytes(100) } fd 0
      400 +0 Signal { event: "ended 2.1" }
    "#);
}

#[test]
fn another_thread_can_execute_a_program() {
    let text = r#"1 1700000000.0 openat(AT_FDCWD, "/w/f", O_WRONLY|O_CREAT, 0644) = 3 <0.000010>
1 1700000000.1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 2 <0.000100>
2 1700000000.2 execve("/bin/x", ["x"], 0x0 <unfinished ...>
1 1700000000.3 +++ superseded by execve in pid 2 +++
1 1700000000.4 <... execve resumed>) = 0 <0.200000>
1 1700000000.5 write(3, "x", 1) = 1 <0.000010>
1 1700000000.6 +++ exited with 0 +++
"#;
    let text = shown(text);
    assert!(
        text.contains("Write { path: \"/w/f\", offset: Some(0)") && text.contains("\nprocess.2\n"),
        "{text}"
    );
}

#[test]
fn what_is_asked_does_not_count_but_what_is_returned() {
    let text = r#"1700000000.0 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3 <0.000010>
1700000000.1 openat(AT_FDCWD, "/w/b", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4 <0.000010>
1700000000.2 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 4096 <0.000010>
1700000000.3 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0 <0.000010>
1700000000.4 read(9, 0x7f, 4096) = -1 EBADF (Bad file descriptor) <0.000010>
1700000000.4 read(3, 0x7f, 4096) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.1>
1700000000.4 --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER} ---
1700000000.5 writev(4, [{iov_base="x", iov_len=1}, {iov_base="yz", iov_len=2}], 2) = 3 <0.000010>
1700000000.6 sendfile(4, 3, [100] => [150], 50) = 50 <0.000010>
1700000000.7 write(4, "x", 1 <unfinished ...>) = ?
1700000000.7 +++ killed by SIGKILL +++
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process
      99990 +10 Open { path: "/w/b", create: true, truncate: true, .. } fd 1
      199990 +10 Open { path: "/w/a", create: false, truncate: false, .. } fd 0
      200000 +10 Copy { path: "/w/a", to: "/w/b", by: CopyFileRange, offset: 0, bytes: Some(Bytes(4096)), call: None }
      500010 +10 Write { path: "/w/b", offset: Some(4096), bytes: Bytes(3), call: None, vector: 2 } fd 1
      600010 +0 Read { path: "/w/a", offset: Some(100), bytes: Some(Bytes(50)) } fd 0
      600010 +10 Write { path: "/w/b", offset: Some(4099), bytes: Bytes(50) } fd 1
      600020 +0 Signal { event: "ended 0.1" }
      600020 +0 Close { path: "/w/a" } fd 0
      600020 +0 Close { path: "/w/b" } fd 1
    "#);
}

#[test]
fn names_change_under_open_files() {
    let text = r#"1 1700000000.0 mkdir("/w/d", 0755) = 0 <0.000010>
1 1700000000.0 openat(AT_FDCWD, "/w/d/t", O_RDWR|O_CREAT|O_EXCL, 0600) = 3 <0.000010>
1 1700000000.0 openat(AT_FDCWD, "/w/old", O_RDONLY) = 4 <0.000010>
1 1700000000.1 rename("/w/d/t", "/w/d/f") = 0 <0.000010>
1 1700000000.1 unlink("/w/old") = 0 <0.000010>
1 1700000000.1 read(4, "x", 1) = 1 <0.000010>
1 1700000000.2 rename("/w/d", "/w/e") = 0 <0.000010>
1 1700000000.2 openat(AT_FDCWD, "/w/e/f", O_RDWR) = 5 <0.000010>
1 1700000000.2 read(5, "x", 1) = 1 <0.000010>
1 1700000000.3 openat(AT_FDCWD, "/w/e", O_RDONLY) = 6 <0.000010>
1 1700000000.3 fsync(6) = 0 <0.005000>
1 1700000000.4 symlink("/w/e/f", "/w/link") = 0 <0.000010>
1 1700000000.4 unlinkat(AT_FDCWD, "/w/link", 0) = 0 <0.000010>
1 1700000000.5 openat(AT_FDCWD, "/w", O_RDWR|O_TMPFILE, 0600) = 7 <0.000010>
"#;
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      0 +10 Mkdir { path: "/w/d" }
      10 +10 Open { path: "/w/d/t", create: true, truncate: false, .. } fd 0
      100010 +10 Rename { path: "/w/d/t", to: "/w/d/f" }
      100020 +10 Open { path: "/w/old", create: false, truncate: false, .. } fd 1
      100030 +10 Unlink { path: "/w/old" }
      100040 +10 Read { path: "/w/old", offset: Some(0), bytes: Some(Bytes(1)) } fd 1
      200050 +10 Open { path: "/w/d/f", create: false, truncate: false, .. } fd 2
      200060 +10 Read { path: "/w/d/f", offset: Some(0), bytes: Some(Bytes(1)) } fd 2
      500080 +0 Open { path: "/w/#4", create: true, truncate: true, .. } fd 4
      500080 +10 Unlink { path: "/w/#4" }
      500090 +0 Signal { event: "ended 1.1" }
    "#);
}

#[test]
fn a_terminal_names_threads_while_there_are_several() {
    let text = r#"execve("/bin/sh", ["sh"], 0x7ffd /* 9 vars */) = 0 <0.000100>
1700000000.0 openat(AT_FDCWD, "/w/f", O_WRONLY|O_CREAT, 0644) = 3 <0.000010>
1700000000.1 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
strace: Process 8 attached
[pid     8] 1700000000.2 write(3, "x", 1 <unfinished ...>
[pid     7] 1700000000.2 <... clone resumed>) = 8 <0.100000>
[pid     7] 1700000000.2 wait4(-1,  <unfinished ...>
[pid     8] 1700000000.3 <... write resumed>) = 1 <0.100000>
[pid     8] 1700000000.4 +++ exited with 0 +++
1700000000.5 <... wait4 resumed>NULL, 0, NULL) = 8 <0.300000>
1700000000.6 write(3, "x", 1) = 1 <0.000010>
1700000000.7 +++ exited with 0 +++
"#;
    insta::assert_snapshot!(shown(text), @r#"
    sh
      100 +10 Open { path: "/w/f", create: true, truncate: false, .. } fd 0
      100110 +0 Signal { event: "begun 8.1" }
      200100 +0 Signal { event: "done 0.1.3" }
      200100 +300000 Wait { event: "ended 8.1" }
      600100 +10 Write { path: "/w/f", offset: Some(1), bytes: Bytes(1) } fd 0
      600110 +0 Signal { event: "ended 0.1" }
      600110 +0 Close { path: "/w/f" } fd 0
    sh.8
      100110 +0 Wait { event: "begun 8.1" }
      100110 +0 Wait { event: "done 0.1.3" }
      100110 +100000 Write { path: "/w/f", offset: Some(0), bytes: Bytes(1) } fd 0
      200110 +0 Signal { event: "ended 8.1" }
    "#);
}

#[test]
fn all_forms_of_time_are_read() {
    let body = |times: [&str; 3]| {
        let calls = [
            "openat(AT_FDCWD, \"/w/f\", O_RDONLY) = 3 <0.000010>",
            "read(3, \"x\", 10) = 10 <0.000010>",
            "pread64(3, \"x\", 10, 90) = 10 <0.000010>",
        ];
        let lines = times.into_iter().zip(calls).map(|(time, call)| format!("{time} {call}\n"));
        lines.collect::<String>()
    };
    let times = |text: &str| -> Vec<Option<u64>> {
        let records = exact(text).records().map(|each| each.unwrap().1.time).collect::<Vec<_>>();
        records.into_iter().take(3).map(|time| time.map(|time| time.0 / 1000)).collect()
    };
    let wanted = vec![Some(990), Some(1000), Some(3000)];
    assert_eq!(times(&body(["1700000000.1", "1700000000.101", "1700000000.103"])), wanted);
    assert_eq!(times(&body(["23:59:59.999", "00:00:00.000", "00:00:00.002"])), wanted);
    assert_eq!(times(&body(["0.5", "0.001", "0.002"])), [Some(500_990), Some(501_000), Some(503_000)]);
    // A clock that runs backwards is as one that stands.
    assert_eq!(times(&body(["1700000000.1", "1700000000.2", "1600000000.0"]))[2], Some(100_010));
}

#[test]
fn times_that_are_missing_are_named() {
    let without = COPY.replace(" <0.0000", " <x").lines().fold(String::new(), |all, line| {
        all + line.split(" <x").next().unwrap_or_default().split(" <0.0").next().unwrap_or_default() + "\n"
    });
    assert!(notes(&exact(&without)).contains(&"it does not say how long calls took; record with -T"));
    let without: String =
        without.lines().map(|line| format!("{}\n", line.splitn(3, ' ').nth(2).unwrap_or_default())).collect();
    let trace = exact(&without);
    assert!(notes(&trace).contains(&"it has no times, so operations follow at once; record with -ttt -T"));
    assert_eq!(trace.len(), exact(COPY).len());
    let error = traced("1 12:34:56 close(3) = 0\n", true).map(|trace| notes(&trace).join("; ")).unwrap();
    insta::assert_snapshot!(error, @"it has no times, so operations follow at once; record with -ttt -T; 1 lines were passed over; here: this time is in whole seconds");
}

#[test]
fn a_line_that_is_none_is_named() {
    let error = |text| traced(text, false).map(|_| ()).unwrap_err().to_string();
    insta::assert_snapshot!(error("1 1700000000.0 close(3) = 0\nhello\n"), @"x:2: this is no line of strace; record with strace -f -ttt -T -y -o FILE COMMAND, or pass over such lines with --lenient (lenient = true)");
    insta::assert_snapshot!(error("1 1700000000 close(3) = 0\n"), @"x:1: this time is in whole seconds; record with strace -f -ttt -T -y -o FILE COMMAND");
    insta::assert_snapshot!(error(&COPY[..COPY.len() - 130]), @"x:10: the recording ends in the middle of this line; record all of it, or read it as it is with --lenient (lenient = true)");
    let cut = traced(&COPY[..COPY.len() - 130], true).unwrap();
    insta::assert_snapshot!(notes(&cut).last().unwrap(), @"1 cut lines were passed over; here: the recording ends in the middle of this line");
}

#[test]
fn who_waits_for_what_was_not_recorded_goes_on() {
    let text = "1 1700000000.0 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n\
                2 1700000000.1 unlink(\"/w/f\") = 0 <0.000010>\n";
    insta::assert_snapshot!(shown(text), @r#"
    process.1
      100000 +0 Signal { event: "begun 2.1" }
      100000 +0 Signal { event: "ended 1.1" }
    process.2
      100000 +0 Wait { event: "begun 2.1" }
      100000 +10 Unlink { path: "/w/f" }
      100010 +0 Signal { event: "ended 2.1" }
    "#);
}

#[test]
fn system_files_are_taken_if_that_is_wanted() {
    let text = "1 1700000000.0 openat(AT_FDCWD, \"/usr/share/x\", O_RDONLY) = 3 <0.000010>\n\
                1 1700000000.1 read(3, \"x\"..., 100) = 100 <0.000010>\n";
    let operations = |system_files| {
        let strace = Strace { overhead: None, system_files };
        read_text(read, text, &Options { strace, ..Options::default() }).unwrap().len()
    };
    assert_eq!((operations(false), operations(true)), (1, 3));
}

#[test]
fn it_is_known_by_its_first_lines() {
    assert!(matches(COPY.as_bytes()));
    assert!(matches(b"execve(\"/bin/ls\", [\"ls\"], 0x7ffd /* 9 vars */) = 0\nbrk(NULL) = 0x55\n"));
    assert!(!matches(b"time_s,process,op\n1,2,read\n") && !matches(b"[global]\nrw=read\n") && !matches(b""));
}

/// Lines of which any mixture is tried.
fn lines() -> impl Strategy<Value = String> {
    let pid = 1..6_u32;
    let call = prop::sample::select(
        &[
            "openat(AT_FDCWD</w>, \"a\", O_RDWR|O_CREAT) = 3</w/a>",
            "openat(AT_FDCWD, \"a\", O_RDONLY|O_CLOEXEC) = 4",
            "read(3</w/a>, \"x\", 10) = 10",
            "write(4, \"x\", 10) = 10",
            "read(5, ",
            "\"x\", 10) = 10",
            "pipe2([5, 6], 0) = 0",
            "write(6, \"x\", 10) = 10",
            "clone(flags=CLONE_FILES|CLONE_THREAD) = 2",
            "clone(flags=SIGCHLD) = 3",
            "vfork() = 4",
            "fork() = 1",
            "wait4(-1, NULL, 0, NULL) = 3",
            "futex(0x7f, FUTEX_WAIT, 2, NULL) = 0",
            "exit(0) = ?",
            "execve(\"/bin/x\", [], 0x0) = 0",
            "close(3</w/a>) = 0",
            "dup2(3, 4) = 4",
            "rename(\"/w/a\", \"/w/b\") = 0",
            "rename(\"/w\", \"/v\") = 0",
            "unlink(\"/w/a\") = 0",
            "copy_file_range(3, NULL, 4, NULL, 1, 0) = 1",
            "lseek(3, 18446744073709551615, SEEK_SET) = 18446744073709551615",
            "close_range(3, 4294967295, 0) = 0",
            "+++ exited with 0 +++",
            "+++ superseded by execve in pid 2 +++",
        ][..],
    );
    let form = prop::sample::select(&["", "", "", " <unfinished ...>", "resumed"][..]);
    (pid, 0..10_000_000_u64, call, form).prop_map(|(pid, time, call, form)| {
        let (seconds, fraction) = (1_700_000_000 + time / 1_000_000, time % 1_000_000);
        let name = call.split('(').next().unwrap_or_default();
        match form {
            "resumed" => format!("{pid} {seconds}.{fraction:06} <... {name} resumed>{call} <0.000010>\n"),
            " <unfinished ...>" => format!("{pid} {seconds}.{fraction:06} {name}({form}\n"),
            _ => format!("{pid} {seconds}.{fraction:06} {call} <0.000100>\n"),
        }
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(cut in 0..COPY.len(), at in 0..COPY.len(), byte in any::<u8>()) {
        let mut bytes = COPY.as_bytes()[..cut].to_vec();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = traced(&text, false);
        prop_assert!(traced(&text, true).is_ok());
    }

    /// Nobody waits for what comes behind his own end, so a recording can always be replayed.
    #[test]
    fn any_lines_can_be_replayed(lines in prop::collection::vec(lines(), 0..60)) {
        let text: String = lines.concat();
        let trace = traced(&text, true).unwrap();
        let records: Vec<_> = trace.records().map(|each| each.unwrap()).collect();
        let of = |process: u32| records.iter().filter(move |(of, _)| *of == process).map(|(_, record)| record);
        let mut places = vec![0; trace.processes().len()];
        let mut signalled = std::collections::BTreeSet::new();
        loop {
            let mut goes_on = false;
            for (process, place) in (0_u32..).zip(&mut places) {
                for record in of(process).skip(*place) {
                    match &record.operation.action {
                        crate::workload::Action::Signal { event } => drop(signalled.insert(event.clone())),
                        crate::workload::Action::Wait { event } if !signalled.contains(event) => break,
                        _ => {}
                    }
                    *place += 1;
                    goes_on = true;
                }
            }
            if !goes_on {
                break;
            }
        }
        for (process, place) in (0_u32..).zip(places) {
            prop_assert_eq!(of(process).count(), place, "{}", &text);
        }
    }
}
