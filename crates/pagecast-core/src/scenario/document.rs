//! Parses TOML text into a tree in which every key and value knows its line.
//!
//! Tables keep the order of the file: the first host is the default one. Left out: the meaning of the keys.

use std::fmt;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ScenarioError;
pub use crate::nearest::shorten;

/// More is no description written by hand, and would only make the parser slow.
const LARGEST_BYTES: usize = 16 << 20;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A file, or "--set key=value".
    pub source: Arc<str>,
    /// Counts from 1; 0 if there are no lines.
    pub line: u32,
    /// "`{apps}` comes from --set parameter.apps=8", if parameters made the value here what it is.
    pub origin: Option<Arc<str>>,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it starts.
    pub at: Place,
    /// The text of a number, boolean or date after `--set`, for a key that holds text: 5.10 is another version than 5.1.
    pub typed: Option<Arc<str>>,
}

/// What TOML knows, without the dates' insides.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Any other number; may be NaN or infinite.
    Float(f64),
    /// true or false.
    Boolean(bool),
    /// A date or a time of day, which nothing here wants.
    Date(String),
    /// An array.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// Keys and values in the order of the file; no key twice.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One line of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub at: Place,
    /// The value.
    pub node: Node,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.source),
            line => write!(f, "{}:{line}", self.source),
        }
    }
}

impl Place {
    /// A source as a whole.
    pub fn whole(source: &str) -> Self {
        Self { source: source.into(), line: 0, origin: None }
    }

    /// The error that blames this place.
    pub fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> ScenarioError {
        let origin = self.origin.iter().map(|origin| format!(" ({origin})"));
        let what = origin.fold(what.into(), |what, origin| what + &origin);
        ScenarioError { place: self.to_string(), what, remedy: remedy.into() }
    }
}

impl Table {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index).node)
    }

    /// Replaces the entry with the same key where it stands, or adds this one at the end.
    pub fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// The keys in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }
}

impl Node {
    /// The value for a message: what it is and, if it is short, what it says.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the string \"{}\"", shorten(text)),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Boolean(flag) => flag.to_string(),
            Value::Date(text) => format!("the date {text}"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The table in it, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// Parses a file; `origin` is its name in messages, `start_from` tells the author of an empty one what to do.
///
/// # Errors
/// An empty or too large file, bytes that are not UTF-8, and text that is not TOML.
pub fn parse(bytes: &[u8], origin: &str, start_from: &str) -> Result<Node, ScenarioError> {
    let source: Arc<str> = origin.into();
    let whole = Place { source: Arc::clone(&source), line: 0, origin: None };
    if bytes.is_empty() {
        return Err(whole.error("the file is empty", start_from));
    }
    if bytes.len() > LARGEST_BYTES {
        let size = bytes.len() as f64 / 1_048_576.0;
        let what = format!("the file has {size:.1} MiB; at most 16 MiB are read");
        return Err(whole.error(what, "use `count` and `repeat`, or build the scenario in Python"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let bad = error.valid_up_to();
        let what = format!("the byte 0x{:02x} is not UTF-8", bytes[bad]);
        line_of(&source, bytes, bad).error(what, "save the file as UTF-8")
    })?;
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map_or(whole, |span| line_of(&source, bytes, span.start));
        place.error(shorten_message(error.message()), "correct the TOML")
    })?;
    let lines = Lines::new(source, text);
    let span = table.span();
    lines.table(span.start, table.into_inner())
}

/// Parses a single value, as after `--set key=`; `None` if the text is no TOML value.
pub fn parse_value(text: &str, source: &str) -> Option<Result<Node, ScenarioError>> {
    let value = DeValue::parse(text).ok()?;
    let node = Lines { source: source.into(), starts: Vec::new() }.node(value);
    Some(node.map(|node| match node.value {
        Value::Text(_) | Value::List(_) | Value::Table(_) => node,
        _ => Node { typed: Some(text.into()), ..node },
    }))
}

fn shorten_message(message: &str) -> String {
    message.split('\n').map(str::trim).collect::<Vec<_>>().join(", ")
}

fn line_of(source: &Arc<str>, bytes: &[u8], offset: usize) -> Place {
    let before = bytes[..offset.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count();
    Place { source: Arc::clone(source), line: before as u32 + 1, origin: None }
}

/// Turns offsets into lines while the tree is built.
struct Lines {
    source: Arc<str>,
    /// Offset of the first byte of each line; empty if the source has no lines.
    starts: Vec<usize>,
}

impl Lines {
    fn new(source: Arc<str>, text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self { source, starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= offset) as u32;
        Place { source: Arc::clone(&self.source), line, origin: None }
    }

    fn table(&self, offset: usize, table: DeTable<'_>) -> Result<Node, ScenarioError> {
        let mut sorted: Vec<_> = table.into_iter().collect();
        // The parser's map is ordered by key; the file's order is what the author meant.
        sorted.sort_by_key(|(key, _)| key.span().start);
        let entries = sorted
            .into_iter()
            .map(|(key, value)| {
                let at = self.place(key.span().start);
                Ok(Entry { key: key.into_inner().into_owned(), at, node: self.node(value)? })
            })
            .collect::<Result<_, ScenarioError>>()?;
        Ok(Node { value: Value::Table(Table { entries }), at: self.place(offset), typed: None })
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Result<Node, ScenarioError> {
        let offset = value.span().start;
        let at = self.place(offset);
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => {
                Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
                    at.error(format!("{} does not fit into 64 bits", shorten(number.as_str())), "")
                })?)
            }
            DeValue::Float(number) => Value::Float(
                number
                    .as_str()
                    .parse()
                    .map_err(|_| at.error(format!("{} is no number", number.as_str()), ""))?,
            ),
            DeValue::Boolean(flag) => Value::Boolean(flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(list) => {
                Value::List(list.into_iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => return self.table(offset, table),
        };
        Ok(Node { value, at, typed: None })
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn error(bytes: &[u8]) -> String {
        parse(bytes, "x.toml", "start from `pagecast init`").unwrap_err().to_string()
    }

    #[test]
    fn keys_keep_the_order_and_the_lines_of_the_file() {
        let root = parse(b"zebra = 1\n\n[ape]\nb = [\n 1,\n 2]\na = 'x'\n", "x.toml", "").unwrap();
        let root = root.as_table().unwrap();
        assert_eq!(root.keys().collect::<Vec<_>>(), ["zebra", "ape"]);
        let ape = root.get("ape").unwrap();
        assert_eq!(ape.at.to_string(), "x.toml:3");
        let ape = ape.as_table().unwrap();
        assert_eq!(ape.keys().collect::<Vec<_>>(), ["b", "a"]);
        let Value::List(list) = &ape.get("b").unwrap().value else { panic!("b is a list") };
        assert_eq!(list[1].at.line, 6);
    }

    #[test]
    fn an_empty_file_is_refused() {
        assert_snapshot!(error(b""), @"x.toml: the file is empty; start from `pagecast init`");
    }

    #[test]
    fn a_file_of_50_mb_is_refused_before_it_is_parsed() {
        assert_snapshot!(error(&vec![b'['; 50_000_000]), @"x.toml: the file has 47.7 MiB; at most 16 MiB are read; use `count` and `repeat`, or build the scenario in Python");
    }

    #[test]
    fn a_byte_that_is_not_utf_8_has_a_line() {
        assert_snapshot!(error(b"a = 1\nb = '\xff'"), @"x.toml:2: the byte 0xff is not UTF-8; save the file as UTF-8");
    }

    #[test]
    fn a_key_given_twice_has_the_line_of_the_second() {
        assert_snapshot!(error(b"a = 1\nb = 2\na = 3\n"), @"x.toml:3: duplicate key; correct the TOML");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        let text = format!("a = {}", "[".repeat(100_000));
        assert_snapshot!(error(text.as_bytes()), @"x.toml:1: cannot recurse further; max recursion depth met; correct the TOML");
    }

    #[test]
    fn a_number_beyond_64_bits_is_refused() {
        assert_snapshot!(error(b"a = 99999999999999999999"), @"x.toml:1: 99999999999999999999 does not fit into 64 bits");
    }

    #[test]
    fn messages_are_short_and_of_one_line() {
        assert_eq!(shorten("a\nb"), "a\\nb");
        assert_eq!(shorten(&"x".repeat(1000)).len(), 63);
    }
}
