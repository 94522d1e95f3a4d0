//! Reads texts of tests.

use std::io::Cursor;

use super::csv;
use super::error::ReadError;
use super::input::Input;
use super::options::Options;
use crate::trace::{Level, Trace, Writer};

/// The bytes as an input called "x".
pub fn input(bytes: &[u8]) -> Input {
    Input::of(Box::new(Cursor::new(bytes.to_vec())), "x", None, None).expect("they are in memory")
}

/// A recording of the bytes by a reader.
pub fn read_bytes(
    read: fn(Input, &Options, &mut Writer) -> Result<(), ReadError>,
    bytes: &[u8],
    options: &Options,
) -> Result<Trace, ReadError> {
    let mut writer = Writer::new("x", Level::Files);
    read(input(bytes), options, &mut writer)?;
    Ok(writer.finish().expect("there is room"))
}

/// A recording of the text by a reader.
pub fn read_text(
    read: fn(Input, &Options, &mut Writer) -> Result<(), ReadError>,
    text: &str,
    options: &Options,
) -> Result<Trace, ReadError> {
    read_bytes(read, text.as_bytes(), options)
}

/// A recording as a table without the columns that are empty, its files and its notes.
pub fn rows(trace: &Trace) -> String {
    let mut text = Vec::new();
    csv::write(trace, &mut text).expect("it has only rows of tables");
    let text = String::from_utf8(text).expect("a table is a text");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let has = |column: &usize| rows[1..].iter().any(|row| !row[*column].is_empty());
    let columns: Vec<usize> = (0..rows[0].len()).filter(has).collect();
    let row = |row: &Vec<&str>| columns.iter().map(|&column| row[column]).collect::<Vec<&str>>().join(",");
    let rows = rows.iter().map(row);
    let inferred = |is_inferred| if is_inferred { ", inferred" } else { "" };
    let files =
        trace.files().map(|file| format!("{}: {}{}", file.path, file.size, inferred(file.is_inferred)));
    let notes = trace.notes().iter().map(|note| format!("{}: {}", note.place, note.text));
    rows.chain(files).chain(notes).collect::<Vec<String>>().join("\n")
}
