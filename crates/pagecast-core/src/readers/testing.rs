//! Reads texts of tests.

use std::io::Cursor;

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
