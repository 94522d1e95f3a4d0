//! Reads and writes our own CSV: a header, then a row for each operation.
//!
//! A cell with a comma or a quote stands in double quotes (RFC 4180); no cell has a line break. Lines that begin with `#` are comments.
//! The columns may stand in any order, and those that are not needed may be missing; an unknown one is refused. Times count in seconds
//! from any moment; the first operation is at time 0 of the simulation.

use std::io::{self, Write};

use super::decimal::{seconds, whole};
use super::error::ReadError;
use super::input::Input;
use super::lenient::Passed;
use super::lines::Lines;
use super::options::Options;
use super::row::{COLUMNS, Row, Wrong, cells};
use crate::nearest::{hint, shorten};
use crate::stop;
use crate::trace::{Trace, Writer};

/// True if a file can only be this: its first line that is no comment has the names of columns, `op` among them.
pub fn matches(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n');
    let Some(first) = lines.into_iter().find(|line| !line.starts_with(b"#")) else { return false };
    let Ok(first) = std::str::from_utf8(first) else { return false };
    let names: Vec<&str> = first.split(',').map(str::trim).collect();
    names.contains(&"op") && names.iter().filter(|name| COLUMNS.contains(name)).count() > 1
}

/// Reads it.
///
/// # Errors
/// A row that means nothing, with its line.
pub fn read(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    if options.columns.is_some() {
        let what = "is read as our own table, which names its columns itself";
        return Err(ReadError::new(
            input.origin,
            what,
            "leave out --columns, or add --format table for a block trace",
        ));
    }
    let mut passed = Passed::new(options.lenient);
    let mut lines = Lines::new(input);
    let Some(columns) = header(&mut lines)? else {
        return Err(lines
            .error("the file is empty", format!("begin with the names of columns: {}", COLUMNS.join(","))));
    };
    let mut cells = Cells::default();
    loop {
        let line = lines.following();
        let Some(text) = lines.next()? else { break };
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match row(text, &columns, &mut cells).and_then(|row| row.record(line, trace)) {
            Ok(()) => {}
            Err(Wrong::Row(what, remedy)) => passed.over("rows", lines.error(what, remedy))?,
            Err(Wrong::Trace(error)) => return Err(ReadError::of_trace("the recording", &error)),
        }
    }
    passed.note(lines.origin(), trace);
    Ok(())
}

/// Which column of [`COLUMNS`] each of the file is.
fn header(lines: &mut Lines) -> Result<Option<Vec<usize>>, ReadError> {
    let names = loop {
        match lines.next()? {
            None => return Ok(None),
            Some(text) if text.starts_with('#') => {}
            Some(text) => break text.to_owned(),
        }
    };
    let mut columns = Vec::new();
    for name in names.trim_start_matches('\u{feff}').split(',').map(|name| name.trim().trim_matches('"')) {
        let at = COLUMNS.iter().position(|&column| column == name);
        let at = at.ok_or_else(|| {
            let what = format!("there is no column `{}`", shorten(name));
            lines.error(what, hint(name, COLUMNS, "columns"))
        })?;
        if columns.contains(&at) {
            return Err(lines.error(format!("the column `{name}` stands twice"), "remove one"));
        }
        columns.push(at);
    }
    if !columns.contains(&3) {
        return Err(
            lines.error("the header has no column `op`", format!("begin with: {}", COLUMNS.join(",")))
        );
    }
    Ok(Some(columns))
}

/// The cells of a line.
#[derive(Debug, Default)]
pub struct Cells {
    /// Where each is in the line, and whether its quotes are doubled.
    places: Vec<(usize, usize, bool)>,
    /// Cells whose doubled quotes are single.
    unquoted: Vec<String>,
}

impl Cells {
    /// Splits a line at commas; none if a quote has no end or text behind it.
    #[inline]
    pub fn split(&mut self, line: &str) -> Option<()> {
        self.split_by(line, b',')
    }

    /// Splits a line at another sign; several spaces count as one.
    #[inline]
    pub fn split_by(&mut self, line: &str, divider: u8) -> Option<()> {
        self.places.clear();
        self.unquoted.clear();
        if divider == b' ' {
            let start = line.as_ptr().addr();
            let place =
                |word: &str| (word.as_ptr().addr() - start, word.as_ptr().addr() - start + word.len(), false);
            self.places.extend(line.split_whitespace().map(place));
            return Some(());
        }
        let bytes = line.as_bytes();
        let mut start = 0;
        loop {
            if bytes.get(start) == Some(&b'"') {
                let end = self.quoted(line, start + 1)?;
                match bytes.get(end + 1) {
                    None => return Some(()),
                    Some(&byte) if byte == divider => start = end + 2,
                    Some(_) => return None,
                }
            } else {
                match memchr::memchr(divider, &bytes[start..]) {
                    Some(length) => {
                        self.places.push((start, start + length, false));
                        start += length + 1;
                    }
                    None => {
                        self.places.push((start, bytes.len(), false));
                        return Some(());
                    }
                }
            }
        }
    }

    /// A cell in quotes that begins here; gives the place of the last quote.
    fn quoted(&mut self, line: &str, start: usize) -> Option<usize> {
        let mut end = start;
        let mut is_doubled = false;
        loop {
            end += memchr::memchr(b'"', line.as_bytes().get(end..)?)?;
            if line.as_bytes().get(end + 1) != Some(&b'"') {
                break;
            }
            is_doubled = true;
            end += 2;
        }
        if is_doubled {
            self.unquoted.push(line[start..end].replace("\"\"", "\""));
            self.places.push((self.unquoted.len() - 1, 0, true));
        } else {
            self.places.push((start, end, false));
        }
        Some(end)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// A cell of the line that was split.
    pub fn get<'a>(&'a self, line: &'a str, at: usize) -> &'a str {
        match self.places[at] {
            (at, _, true) => &self.unquoted[at],
            (start, end, false) => &line[start..end],
        }
    }
}

/// The row of a line.
fn row<'a>(line: &'a str, columns: &[usize], cells: &'a mut Cells) -> Result<Row<'a>, Wrong> {
    let wrong = |what: String, remedy: &str| Wrong::Row(what, remedy.to_owned());
    if cells.split(line).is_none() {
        return Err(wrong(
            "a quote has no end, or is followed by text".to_owned(),
            "write \"\" for a quote in a cell",
        ));
    }
    if cells.count() != columns.len() {
        let what = format!("this row has {} cells, and the header has {}", cells.count(), columns.len());
        return Err(wrong(what, "is the file cut?"));
    }
    let cells = &*cells;
    let mut row = Row::default();
    for (at, &column) in columns.iter().enumerate() {
        let text = cells.get(line, at);
        if text.is_empty() {
            continue;
        }
        let not = |what: &str| wrong(format!("`{}` is \"{}\"", COLUMNS[column], shorten(text)), what);
        let number = || whole(text).ok_or_else(|| not("write a whole number from 0 to 2^64 - 1"));
        let small =
            || whole(text).and_then(|value| value.try_into().ok()).ok_or_else(|| not("write a whole number"));
        let time = || seconds(text).ok_or_else(|| not("write seconds, such as 0.25"));
        match column {
            0 => row.time = Some(time()?),
            1 => row.duration = Some(time()?),
            2 => row.process = text,
            3 => row.op = text,
            4 => row.file = text,
            5 => row.offset = Some(number()?),
            6 => row.bytes = Some(number()?),
            7 => row.call = Some(number()?),
            8 => row.to = text,
            9 => row.fd = Some(small()?),
            10 => row.depth = Some(small()?),
            11 => row.by = text,
            _ => row.flags = text,
        }
    }
    Ok(row)
}

/// A recording cannot be written as a table.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output does not take it.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// An operation that no row can have.
    #[error("a table has no `{0}` as this recording has; write it in binary form (.pctrace)")]
    Operation(&'static str),
    /// A path that no row can have.
    #[error("a table has no line breaks as the path \"{0}\"; write the recording in binary form (.pctrace)")]
    Path(String),
}

/// Writes a recording, by time.
///
/// # Errors
/// If it cannot be written, or has operations that a table does not have.
pub fn write(trace: &Trace, out: &mut dyn Write) -> Result<(), WriteError> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    let names: Vec<_> = trace.processes().cloned().collect();
    let mut line = String::new();
    for record in trace.records() {
        stop::spend(4);
        let (process, record) = record.map_err(io::Error::other)?;
        let cells = cells(&names[process as usize], &record)
            .ok_or_else(|| WriteError::Operation(record.operation.action.name()))?;
        line.clear();
        for (at, cell) in cells.iter().enumerate() {
            line.push_str(if at == 0 { "" } else { "," });
            if cell.contains(['\n', '\r']) {
                return Err(WriteError::Path(shorten(cell)));
            }
            match cell.contains([',', '"']) || cell.starts_with('#') {
                true => line.extend(["\"", &cell.replace('"', "\"\""), "\""]),
                false => line.push_str(cell),
            }
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readers::testing::{input, read_text};
    use crate::trace::{Level, Record};
    use crate::units::Nanos;
    use crate::workload::{Operation, Program};

    fn error(text: &str) -> String {
        read_text(read, text, &Options::default()).expect_err("it is wrong").to_string()
    }

    fn written(trace: &Trace) -> String {
        let mut out = Vec::new();
        write(trace, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_comes_back() {
        let text = r#"# recorded by hand
time_s,duration_s,process,op,file,offset_bytes,bytes,call_bytes,to,fd,depth,by,flags
0.5,0.25,a,open,"/d/x,""y""",,,,,3,,,O_CREAT O_TRUNC O_DIRECT
1,,a,write,"/d/x,""y""",0,8192,4096,,3,4,io_uring,vector:2
1.000000001,,b,read,/d/z,100,,,,,,,fresh
2,,a,rename,/d/z,,,,/d/w,,,,
3,,a,dup,/d/w,,,,7,3,,,
,,a,fallocate,/d/w,10,20,,,,,,punch_hole
4,0.5,b,sleep,,,,,,,,,
"#;
        let trace = read_text(read, text, &Options::default()).unwrap();
        let again = written(&trace);
        assert_eq!(again.lines().collect::<Vec<_>>()[0], COLUMNS.join(","));
        assert_eq!(written(&read_text(read, &again, &Options::default()).unwrap()), again);
        insta::assert_snapshot!(again, @r#"
        time_s,duration_s,process,op,file,offset_bytes,bytes,call_bytes,to,fd,depth,by,flags
        0.5,0.25,a,open,"/d/x,""y""",,,,,3,,,O_CREAT O_TRUNC O_DIRECT
        1,,a,write,"/d/x,""y""",0,8192,4096,,3,4,io_uring,vector:2
        1.000000001,,b,read,/d/z,100,,,,,,,fresh
        2,,a,rename,/d/z,,,,/d/w,,,,
        3,,a,dup,/d/w,,,,7,3,,,
        ,,a,fallocate,/d/w,10,20,,,,,,punch_hole
        4,0.5,b,sleep,,,,,,,,,
        "#);
    }

    #[test]
    fn columns_may_be_few_and_in_any_order() {
        let trace =
            read_text(read, "bytes,op,file\r\n10,read,/f\r\n\r\n,fsync,/f", &Options::default()).unwrap();
        let workload =
            trace.workload(crate::trace::Timing { factor: 1.0, is_open: false }, |path| path.into());
        assert_eq!((workload.processes.len(), &*workload.processes[0].name), (1, "main"));
        let mut program: Box<dyn Program> = workload.processes[0].program.start().unwrap();
        let names: Vec<(&str, Option<u32>)> = std::iter::from_fn(|| program.next(Nanos::ZERO).unwrap())
            .map(|each| (each.action.name(), each.line))
            .collect();
        assert_eq!(names, [("read", Some(2)), ("fsync", Some(4))]);
        assert_eq!(workload.files[0].size.0, 10);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let messages = [
            "",
            "op,fiel\n",
            "time_s,file\n",
            "op,op\n",
            "op,file,bytes\nread,/f,1\nraed,/f,1\n",
            "op,file,bytes\nwrite,/f,\n",
            "op,file,bytes\nwrite,/f,4 KiB\n",
            "op,file\nread,\n",
            "op,file\nread,\"/f\n",
            "op,file,bytes\nread,/f",
            "op,file,flags\nopen,/f,O_FUN\n",
            "op,file,flags\nfadvise,/f,wilneed\n",
            "op,time_s\nsync,-1\n",
        ];
        insta::assert_snapshot!(messages.map(error).join("\n"), @r#"
        x:1: the file is empty; begin with the names of columns: time_s,duration_s,process,op,file,offset_bytes,bytes,call_bytes,to,fd,depth,by,flags
        x:1: there is no column `fiel`; did you mean `file`?
        x:1: the header has no column `op`; begin with: time_s,duration_s,process,op,file,offset_bytes,bytes,call_bytes,to,fd,depth,by,flags
        x:1: the column `op` stands twice; remove one
        x:3: there is no operation `raed`; did you mean `read`?
        x:2: `write` has no `bytes`; fill it in
        x:2: `bytes` is "4 KiB"; write a whole number from 0 to 2^64 - 1
        x:2: `read` has no `file`; fill it in
        x:2: a quote has no end, or is followed by text; write "" for a quote in a cell
        x:2: this row has 2 cells, and the header has 3; is the file cut?
        x:2: `O_FUN` is no flag of `open`; correct `flags`
        x:2: `fadvise` has `wilneed` in `flags`; did you mean `willneed`?
        x:2: `time_s` is "-1"; write seconds, such as 0.25
        "#);
    }

    #[test]
    fn a_lenient_reader_passes_over_rows_and_says_so() {
        let options = Options { lenient: true, ..Options::default() };
        let trace = read_text(read, "op,file\nread,/f\nraed,/f\nread\nread,/f", &options).unwrap();
        assert_eq!(trace.len(), 2);
        let note = &trace.notes()[0];
        assert_eq!(
            format!("{}: {}", note.place, note.text),
            "x:3: 2 rows were passed over; here: there is no operation `raed`"
        );
    }

    #[test]
    fn a_file_is_told_by_its_header() {
        assert!(
            matches(b"# by hand\ntime_s,op,file\n")
                && !matches(b"time,op\n")
                && !matches(b"op")
                && !matches(b"")
        );
    }

    proptest! {
        #[test]
        fn any_operations_that_a_table_has_come_back(operations in prop::collection::vec(crate::trace::testing::operation(), 0..50)) {
            let mut writer = Writer::new("x", Level::Files);
            let process = writer.process("p").unwrap();
            let mut kept = Vec::new();
            for (at, operation) in operations.into_iter().enumerate() {
                let operation = Operation { line: None, not_before: None, ..operation };
                let is_empty = operation.action.path().is_some_and(|path| path.is_empty());
                let record = Record { time: Some(Nanos(at as u64)), duration: None, operation };
                let Some(cells) = cells("p", &record) else { continue };
                if is_empty || cells[4].is_empty() || (cells[8].is_empty() && matches!(&*cells[3], "copy" | "rename" | "link")) {
                    continue;
                }
                writer.record(process, record.time, None, &record.operation).unwrap();
                kept.push(record);
            }
            let text = written(&writer.finish().unwrap());
            let again = read_text(read, &text, &Options::default()).unwrap();
            let again: Vec<Record> = again.records().map(|record| {
                let record = record.unwrap().1;
                Record { operation: Operation { line: None, ..record.operation }, ..record }
            }).collect();
            prop_assert_eq!(again, kept);
        }

        #[test]
        fn no_text_panics(text in "(op|file|bytes|,|\n|\"|read|/f|[0-9]|.){0,60}", lenient in any::<bool>()) {
            let options = Options { lenient, ..Options::default() };
            let _ = read_text(read, &format!("op,file,bytes\n{text}"), &options);
            let _ = input(text.as_bytes());
        }
    }
}
