//! Reads block traces that are tables, by a list of their columns.
//!
//! A list is `NAME=COLUMN,...`; a column is its number from 0, its name in the header, or several of them with `+` between, which are
//! joined. Names are `time` (also `time_s`, `time_ms`, `time_us`, `time_100ns`, `time_ns`), `duration` (the same), `op`, `offset` (or
//! `offset_sectors`), `bytes` (or `sectors`), `device` and `skip`, the number of lines before the first row. Cells are divided by commas,
//! semicolons, tabs or spaces, whichever of them the first row has.
//!
//! Sources of the lists of public traces: the notes with the MSR Cambridge traces (SNIA IOTTA 388), SPC trace file format specification
//! 1.0.1, the notes with the FIU traces (SNIA IOTTA 390). Their times are in 100 ns since 1601, seconds, and nanoseconds.
//!
//! Left out: operations that are neither reads nor writes, which are counted.

use super::csv::Cells;
use super::decimal::{scaled, whole};
use super::error::ReadError;
use super::input::Input;
use super::lenient::Passed;
use super::lines::Lines;
use super::options::Options;
use super::requests::{Request, Requests, SECTOR};
use crate::nearest::{hint, shorten};
use crate::trace::Writer;
use crate::units::Nanos;

/// The columns of the MSR Cambridge traces: Timestamp, Hostname, DiskNumber, Type, Offset, Size, ResponseTime.
const MSR: &str = "time_100ns=0,device=1+2,op=3,offset=4,bytes=5,duration_100ns=6";

/// The columns of SPC traces: application storage unit, sector, size, opcode, timestamp.
const SPC: &str = "device=0,offset_sectors=1,bytes=2,op=3,time=4";

/// The columns of the FIU traces: time, process, its name, sector, sectors, W or R, major and minor number, MD5.
const FIU: &str = "time_ns=0,offset_sectors=3,sectors=4,op=5,device=6+7";

/// The names of columns.
const NAMES: [&str; 17] = [
    "time",
    "time_s",
    "time_ms",
    "time_us",
    "time_100ns",
    "time_ns",
    "duration",
    "duration_s",
    "duration_ms",
    "duration_us",
    "duration_100ns",
    "duration_ns",
    "op",
    "offset",
    "offset_sectors",
    "bytes",
    "sectors",
];

/// True if a file can only be a trace of MSR Cambridge.
pub fn matches_msr(head: &[u8]) -> bool {
    let Some(line) = first_line(head) else { return false };
    let cells: Vec<&str> = line.split(',').collect();
    let is_number = |at: usize| whole(cells[at]).is_some();
    cells.len() == 7
        && [0, 2, 4, 5, 6].into_iter().all(is_number)
        && matches!(cells[3], "Read" | "Write")
        && cells[0].len() == 18
}

/// True if a file can only be an SPC trace.
pub fn matches_spc(head: &[u8]) -> bool {
    let Some(line) = first_line(head) else { return false };
    let cells: Vec<&str> = line.split(',').collect();
    cells.len() >= 5
        && cells[..3].iter().all(|cell| whole(cell).is_some())
        && matches!(cells[3], "r" | "R" | "w" | "W")
        && scaled(cells[4], 9).is_some()
}

/// True if a file can only be a trace of FIU.
pub fn matches_fiu(head: &[u8]) -> bool {
    let Some(line) = first_line(head) else { return false };
    let cells: Vec<&str> = line.split(' ').collect();
    let is_number = |at: usize| whole(cells[at]).is_some();
    cells.len() == 9 && [0, 1, 3, 4, 6, 7].into_iter().all(is_number) && matches!(cells[5], "R" | "W")
}

fn first_line(head: &[u8]) -> Option<&str> {
    let line = head.split(|&byte| byte == b'\n').next()?;
    Some(std::str::from_utf8(line).ok()?.trim_end_matches('\r'))
}

/// Reads a trace of MSR Cambridge.
///
/// # Errors
/// A row that means nothing, with its line.
pub fn read_msr(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    read_by(MSR, input, options, trace)
}

/// Reads an SPC trace.
///
/// # Errors
/// As [`read_msr`].
pub fn read_spc(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    read_by(SPC, input, options, trace)
}

/// Reads a trace of FIU.
///
/// # Errors
/// As [`read_msr`].
pub fn read_fiu(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    read_by(FIU, input, options, trace)
}

/// Reads any other table.
///
/// # Errors
/// If its columns are not given; as [`read_msr`].
pub fn read(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    match &options.columns {
        Some(columns) => read_by(columns, input, options, trace),
        None => {
            let remedy = "say which with --columns time=0,op=3,offset=4,bytes=5";
            Err(ReadError::new(input.origin, "is a table whose columns are not known", remedy))
        }
    }
}

fn read_by(columns: &str, input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let origin = input.origin.clone();
    let mut lines = Lines::new(input);
    let mut table = Table::new(columns).map_err(|(what, remedy)| ReadError::new(&*origin, what, remedy))?;
    let mut passed = Passed::new(options.lenient);
    let mut requests = Requests::default();
    let mut cells = Cells::default();
    loop {
        let line = lines.following();
        let Some(text) = lines.next()? else { break };
        if text.is_empty() || text.starts_with('#') || line.is_some_and(|line| line <= table.skip) {
            continue;
        }
        let found = table.request(text, line, &mut cells);
        match found {
            Ok(Found::Request(request, device)) => {
                let request = Request { device: &device, ..request };
                requests.add(&request, trace).map_err(|error| ReadError::of_trace(&origin, &error))?;
            }
            Ok(Found::Other) => requests.pass_over(),
            Ok(Found::Header) => {}
            Err((what, remedy)) => passed.over("rows", lines.error(what, remedy))?,
        }
    }
    passed.note(&origin, trace);
    requests.finish(&origin, trace)
}

/// What is wrong, and the remedy.
type Wrong = (String, String);

fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Wrong> {
    Err((what.into(), remedy.into()))
}

/// A column: where it is, by number or by a name that the header will tell.
#[derive(Clone, Debug)]
enum Column {
    Number(usize),
    Name(String),
}

/// Columns of a table.
#[derive(Debug, Default)]
struct Table {
    /// The power of ten from its unit to nanoseconds.
    time: Option<(Column, u32)>,
    duration: Option<(Column, u32)>,
    op: Option<Column>,
    /// With the bytes of its unit.
    offset: Option<(Column, u64)>,
    bytes: Option<(Column, u64)>,
    device: Vec<Column>,
    skip: u32,
    divider: Option<u8>,
}

enum Found<'a> {
    Request(Request<'a>, String),
    Other,
    Header,
}

impl Table {
    /// By a list of columns.
    fn new(list: &str) -> Result<Self, Wrong> {
        let mut table = Self::default();
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let Some((name, column)) = item.split_once('=') else {
                return wrong(
                    format!("`{}` in --columns is no NAME=COLUMN", shorten(item)),
                    "write for example time=0",
                );
            };
            table.set(name.trim(), column.trim())?;
        }
        let missing = [
            ("op", table.op.is_none()),
            ("offset", table.offset.is_none()),
            ("bytes", table.bytes.is_none()),
        ];
        match missing.iter().find(|(_, is_missing)| *is_missing) {
            Some((name, _)) => wrong(format!("--columns has no `{name}`"), format!("add {name}=COLUMN")),
            None => Ok(table),
        }
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), Wrong> {
        let column = |text: &str| text.parse().map_or_else(|_| Column::Name(text.to_owned()), Column::Number);
        match name {
            "op" => self.op = Some(column(text)),
            "offset" => self.offset = Some((column(text), 1)),
            "offset_sectors" => self.offset = Some((column(text), SECTOR)),
            "bytes" => self.bytes = Some((column(text), 1)),
            "sectors" => self.bytes = Some((column(text), SECTOR)),
            "device" => self.device = text.split('+').map(column).collect(),
            "skip" => match text.parse() {
                Ok(lines) => self.skip = lines,
                Err(_) => return wrong(format!("`skip` is `{}`", shorten(text)), "write a number of lines"),
            },
            _ => {
                let (what, unit) = name.split_once('_').unwrap_or((name, "s"));
                let tens = ["ns", "", "100ns", "us", "", "", "ms", "", "", "s"]
                    .iter()
                    .position(|&each| each == unit);
                let (Some(tens), true) = (tens, matches!(what, "time" | "duration")) else {
                    let names = NAMES.into_iter().chain(["device", "skip"]);
                    return wrong(format!("--columns has `{}`", shorten(name)), hint(name, names, "names"));
                };
                let told = Some((column(text), tens as u32));
                if what == "time" { self.time = told } else { self.duration = told }
            }
        }
        Ok(())
    }

    /// The request of a row; its device is beside it.
    fn request<'a>(
        &mut self,
        text: &'a str,
        line: Option<u32>,
        cells: &'a mut Cells,
    ) -> Result<Found<'a>, Wrong> {
        let is_first = self.divider.is_none();
        let divider = *self.divider.get_or_insert_with(|| {
            *b",;\t".iter().find(|divider| text.as_bytes().contains(divider)).unwrap_or(&b' ')
        });
        if cells.split_by(text, divider).is_none() {
            return wrong("a quote has no end, or is followed by text", "write \"\" for a quote in a cell");
        }
        let cells = &*cells;
        if self.has_names() {
            self.find_names(text, cells)?;
            return Ok(Found::Header);
        }
        let cell = |column: &Column| match column {
            Column::Number(at) if *at < cells.count() => Ok(cells.get(text, *at).trim()),
            Column::Number(at) => wrong(
                format!("this row has {} cells, and column {at} is one of --columns", cells.count()),
                "is the file cut?",
            ),
            Column::Name(_) => unreachable!("the header has told all names"),
        };
        let number = |told: &Option<(Column, u64)>, what: &str| {
            let (column, unit) = told.as_ref().expect("it was checked that there is one");
            let text = cell(column)?;
            match whole(text).and_then(|number| number.checked_mul(*unit)) {
                Some(number) => Ok(number),
                None => wrong(format!("{what} is `{}`", shorten(text)), "correct it, or --columns"),
            }
        };
        let time = |told: &Option<(Column, u32)>, what: &str| match told {
            None => Ok(None),
            Some((column, tens)) => match cell(column)? {
                "" => Ok(None),
                text => match scaled(text, *tens) {
                    Some(time) => Ok(Some(Nanos(time))),
                    None => wrong(format!("{what} is `{}`", shorten(text)), "correct it, or --columns"),
                },
            },
        };
        let op = cell(self.op.as_ref().expect("it was checked that there is one"))?;
        let offset = match number(&self.offset, "the offset") {
            // A header that nobody told of.
            Err(_) if is_first && !op.is_empty() && !is_any(op, &["r", "read", "w", "write"]) => {
                return Ok(Found::Header);
            }
            offset => offset?,
        };
        let writes = match op {
            op if is_any(op, &["r", "read", "rs", "diskread"]) => false,
            op if is_any(op, &["w", "write", "ws", "diskwrite"]) => true,
            "" => return wrong("the operation is empty", "write R or W, or correct --columns"),
            _ => return Ok(Found::Other),
        };
        let bytes = number(&self.bytes, "the size")?;
        let parts = self.device.iter().map(cell).collect::<Result<Vec<&str>, Wrong>>()?;
        let device = if parts.is_empty() { "device".to_owned() } else { parts.join("_") };
        let (time, duration) = (time(&self.time, "the time")?, time(&self.duration, "the duration")?);
        Ok(Found::Request(Request { device: "", time, duration, writes, offset, bytes, line }, device))
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut Column> {
        let times = self.time.iter_mut().chain(&mut self.duration).map(|(column, _)| column);
        let numbers = self.offset.iter_mut().chain(&mut self.bytes).map(|(column, _)| column);
        times.chain(numbers).chain(&mut self.op).chain(&mut self.device)
    }

    fn has_names(&mut self) -> bool {
        self.columns_mut().any(|column| matches!(column, Column::Name(_)))
    }

    /// Finds the names in the header.
    fn find_names(&mut self, text: &str, cells: &Cells) -> Result<(), Wrong> {
        let names: Vec<&str> = (0..cells.count()).map(|at| cells.get(text, at).trim()).collect();
        for column in self.columns_mut() {
            if let Column::Name(name) = column {
                match names.iter().position(|each| each == name) {
                    Some(at) => *column = Column::Number(at),
                    None => {
                        let remedy = hint(name, names.iter().copied(), "columns");
                        return wrong(format!("the header has no column `{}`", shorten(name)), remedy);
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_any(word: &str, words: &[&str]) -> bool {
    words.iter().any(|each| each.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readers::testing::{read_text, rows};

    fn with(columns: &str) -> Options {
        Options { columns: Some(columns.to_owned()), ..Options::default() }
    }

    #[test]
    fn traces_of_msr_are_read() {
        let text = "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,153\n";
        assert!(
            matches_msr(text.as_bytes()) && !matches_spc(text.as_bytes()) && !matches_fiu(text.as_bytes())
        );
        let trace = read_text(read_msr, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,duration_s,process,op,file,offset_bytes,bytes,depth,by,flags
        12816637200.3061629,,hm_1,open,hm_1,,,,,O_DIRECT
        12816637200.3061629,0.0000413,hm_1,read,hm_1,383496192,32768,128,libaio,
        12816637201.6382155,0.0000153,hm_1,write,hm_1,2822144,4096,128,libaio,
        hm_1: 383.53 MB
        x: the size of a device is not told; the device is as large as the last request needs
        "#);
    }

    #[test]
    fn spc_traces_are_read() {
        let text = "0,20941264,8192,W,0.551706\n1,3436288,15872,r,1.011732\n";
        assert!(matches_spc(text.as_bytes()) && !matches_msr(text.as_bytes()));
        let trace = read_text(read_spc, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes,depth,by,flags
        0.551706,0,open,0,,,,,O_DIRECT
        0.551706,0,write,0,10721927168,8192,128,libaio,
        1.011732,1,open,1,,,,,O_DIRECT
        1.011732,1,read,1,1759379456,15872,128,libaio,
        0: 10.72 GB
        1: 1.76 GB
        x: the size of a device is not told; each device is as large as the last request needs
        "#);
    }

    #[test]
    fn traces_of_fiu_are_read() {
        let text = "89966002627 4892 syslogd 904265560 8 W 6 0 531e779fa2d8e3e8d2a3d2a3d2a3d2a3\n";
        assert!(matches_fiu(text.as_bytes()) && !matches_msr(text.as_bytes()));
        let trace = read_text(read_fiu, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes,depth,by,flags
        89.966002627,6_0,open,6_0,,,,,O_DIRECT
        89.966002627,6_0,write,6_0,462983966720,4096,128,libaio,
        6_0: 462.98 GB
        x: the size of a device is not told; the device is as large as the last request needs
        "#);
    }

    #[test]
    fn other_tables_are_read_by_a_list_of_columns() {
        let text = "# by hand\nwhen;what;lba;blocks;took\n10.5;R;8;16;2\n11;flush;0;0;1\n12;w;1;1;\n";
        let by_number =
            read_text(read, text, &with("time_ms=0,op=1,offset_sectors=2,sectors=3,duration_us=4")).unwrap();
        let by_name = read_text(
            read,
            text,
            &with("time_ms=when, op=what, offset_sectors=lba, sectors=blocks, duration_us=took"),
        )
        .unwrap();
        assert_eq!(rows(&by_number), rows(&by_name));
        insta::assert_snapshot!(rows(&by_name), @r#"
        time_s,duration_s,process,op,file,offset_bytes,bytes,depth,by,flags
        0.0105,,device,open,device,,,,,O_DIRECT
        0.0105,0.000002,device,read,device,4096,8192,128,libaio,
        0.012,,device,write,device,512,512,128,libaio,
        device: 12.29 kB
        x: the size of a device is not told; the device is as large as the last request needs
        x: 1 requests that are neither reads nor writes were passed over
        "#);
        let skipped =
            read_text(read, "junk\nmore junk\nR 8 16", &with("skip=2,op=0,offset=1,bytes=2")).unwrap();
        assert!(rows(&skipped).contains("not of whole sectors"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let all = "op=0,offset=1,bytes=2,time=3";
        let cases = [
            ("R,1,2,3\n", "op=0,offset=1"),
            ("R,1,2,3\n", "op=0,offset=1,bytes"),
            ("R,1,2,3\n", "op=0,offset=1,bytes=2,tiem=3"),
            ("R,1,2,3\n", "op=0,offset=1,bytes=2,time_h=3"),
            ("R,1,2,3\n", "op=kind,offset=1,bytes=2"),
            ("R,1,2,3\nR,1\n", all),
            ("R,1,2,3\nR,x,2,3\n", all),
            ("R,1,2,3\nR,1,-2,3\n", all),
            ("R,1,2,3\nR,1,2,x\n", all),
            ("", all),
        ];
        let errors =
            cases.map(|(text, columns)| read_text(read, text, &with(columns)).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        x: --columns has no `bytes`; add bytes=COLUMN
        x: `bytes` in --columns is no NAME=COLUMN; write for example time=0
        x: --columns has `tiem`; did you mean `time`?
        x: --columns has `time_h`; did you mean `time_s`?
        x:1: the header has no column `kind`; columns: `R`, `1`, `2`, `3`
        x:2: this row has 2 cells, and column 2 is one of --columns; is the file cut?
        x:2: the offset is `x`; correct it, or --columns
        x:2: the size is `-2`; correct it, or --columns
        x:2: the time is `x`; correct it, or --columns
        x: has no read or write of a device; name the right --format
        "#);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([RWx,;\t 0-9.]{0,30}\n){0,9}", columns in "((op|offset|bytes|time|device|skip|x)(=|_)?[0-9+a-z]{0,22},?){0,6}") {
            let _ = read_text(read, &text, &with(&columns));
            let _ = read_text(read, &text, &Options { lenient: true, ..with("op=0,offset=1,bytes=2,time_ns=3") });
            let _ = read_text(read_msr, &text, &Options { lenient: true, ..Options::default() });
        }
    }
}
