//! Reads libCacheSim's traces of objects (oracleGeneral): 24 bytes a request, little-endian: time in seconds (u32), object (u64), size
//! (u32), next access (i64).
//!
//! An object becomes whole pages of one file, behind those of the objects that came before it. The file is read; what a miss would fetch
//! from elsewhere, the disk gives.
//!
//! Source: libCacheSim, traceReader/customizedReader/oracle/oracleGeneralBin.h (`oracleGeneralBin_read_one_req`), which passes over requests
//! without bytes, too.
//!
//! Left out: the next access, which only an oracle knows. An object that changes its size keeps the first one.

use std::io::{self, Read};

use rustc_hash::FxHashMap;

use super::error::ReadError;
use super::input::Input;
use super::lines::cannot_read;
use super::options::Options;
use crate::trace::Writer;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Buffer, Operation};

const RECORD: usize = 24;

/// The bytes of a page, at which objects begin.
const PAGE: u64 = 4096;

/// The file that has all objects.
const PATH: &str = "objects";

/// Reads it.
///
/// # Errors
/// If it is cut within a request, or has none.
pub fn read(mut input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let origin = input.origin.clone();
    let failed = |error| ReadError::of_trace(&origin, &error);
    let (process, path) = (trace.process("requests").map_err(failed)?, trace.path(PATH).map_err(failed)?);
    // By object: its place, and its size.
    let mut objects: FxHashMap<u64, (u64, u32)> = FxHashMap::default();
    let (mut end, mut requests, mut empty, mut resized) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut record = [0; RECORD];
    loop {
        match fill(&mut input.bytes, &mut record).map_err(|error| cannot_read(&origin, &error))? {
            RECORD => {}
            0 => break,
            part if options.lenient => {
                trace.note(
                    format!("{origin}, byte {}", requests * RECORD as u64),
                    format!("the last request has only {part} of 24 B; it was passed over"),
                );
                break;
            }
            part => {
                let place = format!("{origin}, byte {}", requests * RECORD as u64);
                return Err(ReadError::new(
                    place,
                    format!("the last request has only {part} of 24 B"),
                    "is the file cut? --lenient passes over it",
                ));
            }
        }
        requests += 1;
        let number =
            |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().expect("it has eight bytes"));
        let (time, object, size) = (number(0) as u32, number(4), (number(8) >> 32) as u32);
        if size == 0 {
            empty += 1;
            continue;
        }
        let (offset, bytes) = *objects.entry(object).or_insert_with(|| {
            let place = end;
            end += u64::from(size).next_multiple_of(PAGE);
            (place, size)
        });
        resized += u64::from(bytes != size);
        let (offset, bytes) = (Some(offset), Some(Bytes(bytes.into())));
        let action =
            Action::Read { path: path.clone(), offset, bytes, call: None, vector: 1, buffer: Buffer::Reused };
        let time = Nanos(u64::from(time) * 1_000_000_000);
        trace.record(process, Some(time), None, &Operation::from(action)).map_err(failed)?;
    }
    if objects.is_empty() {
        return Err(ReadError::new(origin, "has no request with bytes", "name the right --format"));
    }
    trace.file(PATH, Bytes(end)).map_err(failed)?;
    trace.note(&*origin, format!("{} objects are whole pages of one file", objects.len()));
    let counts = [
        (empty, "requests have no bytes; they were passed over"),
        (resized, "requests have another size than the first one of their object, which holds"),
    ];
    for (count, what) in counts.into_iter().filter(|&(count, _)| count > 0) {
        trace.note(&*origin, format!("{count} {what}"));
    }
    Ok(())
}

/// Reads as many bytes as there are and have room.
fn fill(from: &mut impl Read, record: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < record.len() {
        match from.read(&mut record[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readers::testing::{read_bytes, rows};

    fn bytes(requests: &[(u32, u64, u32)]) -> Vec<u8> {
        let record = |&(time, object, size): &(u32, u64, u32)| {
            [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &(-1_i64).to_le_bytes()]
                .concat()
        };
        requests.iter().flat_map(record).collect()
    }

    #[test]
    fn objects_are_whole_pages_of_a_file() {
        let text = bytes(&[(0, 7, 100), (0, 9, 5000), (1, 7, 100), (2, 8, 0), (3, 9, 6000), (4, 1, 1)]);
        let trace = read_bytes(read, &text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes
        0,requests,read,objects,0,100
        0,requests,read,objects,4096,5000
        1,requests,read,objects,0,100
        3,requests,read,objects,4096,5000
        4,requests,read,objects,12288,1
        objects: 16.38 kB
        x: 3 objects are whole pages of one file
        x: 1 requests have no bytes; they were passed over
        x: 1 requests have another size than the first one of their object, which holds
        "#);
    }

    #[test]
    fn a_cut_file_is_refused_or_passed_over() {
        let text = bytes(&[(0, 7, 100), (0, 9, 5000)]);
        let error =
            |length: usize| read_bytes(read, &text[..length], &Options::default()).map(|trace| trace.len());
        insta::assert_snapshot!(error(47).unwrap_err(), @r#"x, byte 24: the last request has only 23 of 24 B; is the file cut? --lenient passes over it"#);
        insta::assert_snapshot!(error(0).unwrap_err(), @r#"x: has no request with bytes; name the right --format"#);
        assert_eq!((error(24), error(48)), (Ok(1), Ok(2)));
        let lenient = Options { lenient: true, ..Options::default() };
        assert_eq!(read_bytes(read, &text[..30], &lenient).unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_bytes(read, &bytes, &Options::default());
        }
    }
}
