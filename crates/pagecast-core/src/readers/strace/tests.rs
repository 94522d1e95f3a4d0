//! The reader as a whole, on recordings made by hand.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::trace::{Level, Trace};

fn traced(text: &str, lenient: bool) -> Result<Trace, ReadError> {
    let input = Input::of(Box::new(Cursor::new(text.as_bytes().to_vec())), "x.strace", None, None)?;
    let mut writer = Writer::new("x.strace", Level::Files);
    read(input, &Options { lenient, ..Options::default() }, &mut writer)?;
    Ok(writer.finish().expect("there is room"))
}

/// The operations by process: time in us, name, path, descriptor, offset and bytes.
fn shown(text: &str) -> String {
    let trace = traced(text, false).expect("the recording is right");
    let mut lines = String::new();
    let records: Vec<_> = trace.records().map(|each| each.expect("it was just written")).collect();
    for (process, name) in (0_u32..).zip(trace.processes()) {
        lines += &format!("{name}\n");
        for (_, record) in records.iter().filter(|(of, _)| *of == process) {
            let time = record.time.map_or(0, |time| time.0 / 1000);
            let fd = record.operation.fd.map_or(String::new(), |fd| format!(" fd {}", fd.0));
            lines += &format!("  {time} {:?}{fd}\n", record.operation.action);
        }
    }
    lines
}

const COPY: &str = r#"100 1700000000.000000 execve("/bin/cp", ["cp", "a", "b"], 0x7f /* 9 vars */) = 0 <0.000100>
100 1700000000.001000 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a> <0.000010>
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
    let trace = traced(COPY, false).unwrap();
    assert_eq!(
        trace.files().map(|file| (file.path.to_string(), file.size.0)).collect::<Vec<_>>(),
        [("/w/a".into(), 5000)]
    );
    let text = shown(COPY);
    for part in [
        "cp.100",
        "Read { path: \"/w/a\", offset: Some(0), bytes: Some(Bytes(5000))",
        "Write { path: \"/w/b\", offset: Some(0)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text.matches("Close").count(), 2, "{text}");
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
    let text = shown(text);
    let offsets: Vec<&str> =
        text.split("offset: Some(").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert_eq!(offsets, ["20", "0", "10"], "{text}");
    assert!(
        text.contains("Wait { event: \"begun 2.1\" }") && text.contains("Signal { event: \"begun 2.1\" }"),
        "{text}"
    );
    assert!(
        text.contains("Wait { event: \"ended 2.1\" }") && text.contains("Signal { event: \"ended 2.1\" }"),
        "{text}"
    );
    assert!(text.contains("Wait { event: \"ended 2.1\" }\n  800010 Close"), "all have used it: {text}");
}

#[test]
fn what_is_asked_does_not_count_but_what_is_returned() {
    let text = r#"1700000000.0 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3 <0.000010>
1700000000.1 openat(AT_FDCWD, "/w/b", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4 <0.000010>
1700000000.2 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 4096 <0.000010>
1700000000.3 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0 <0.000010>
1700000000.4 read(9, 0x7f, 4096) = -1 EBADF (Bad file descriptor) <0.000010>
1700000000.5 write(4, "x", 1 <unfinished ...>) = ?
"#;
    let text = shown(text);
    assert_eq!(text.matches("Copy {").count(), 1, "{text}");
    assert!(text.contains("by: CopyFileRange, offset: 0, bytes: Some(Bytes(4096))"), "{text}");
}

#[test]
fn a_line_that_is_none_is_named() {
    let error = |text| traced(text, false).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error("1 1700000000.0 close(3) = 0\nhello\n"),
        "x.strace:2: this is no line of strace; record with strace -f -ttt -T -y -o FILE COMMAND, or pass over such lines with --lenient (lenient = true)"
    );
    assert!(traced("hello\n1 1700000000.0 close(3) = 0\n", true).is_ok());
    // Cut in the middle of a line.
    assert!(
        error(&COPY[..COPY.len() - 200]).contains("no line of strace")
            || traced(&COPY[..COPY.len() - 200], true).is_ok()
    );
}

#[test]
fn it_is_known_by_its_first_lines() {
    assert!(matches(COPY.as_bytes()));
    assert!(matches(b"execve(\"/bin/ls\", [\"ls\"], 0x7ffd /* 9 vars */) = 0\nbrk(NULL) = 0x55\n"));
    assert!(!matches(b"time_s,process,op\n1,2,read\n") && !matches(b"[global]\nrw=read\n") && !matches(b""));
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
}
