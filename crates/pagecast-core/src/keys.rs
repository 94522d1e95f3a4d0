//! Declares the keys of a table once: name, kind of value with its unit and range, default, doc line.
//!
//! [`keys!`] makes a struct of such declarations. The reader, the printer, the JSON schema, the reference and the hints of errors go by the
//! [`Schema`] and by [`Keyed`], so none of them names a key. Left out: rules for several values together.

mod declare;
mod form;

pub(crate) use declare::keys;
pub use form::{
    CENTISECS, FLAG, Held, Keyed, MILLIONTHS_PER_PERCENT, PERCENT, RATE, RATES, SIZE, SIZE_OR_ZERO, Slot,
    TIME, VERSION, Word, by_hand, kib, millionths, number, table, whole, word,
};

/// A table and its keys.
#[derive(Debug)]
pub struct Schema {
    /// Identifies it in the JSON schema.
    pub name: &'static str,
    /// The keys, in the order in which they are best written.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// The form of its value.
    pub kind: Kind,
    /// True if the table is wrong without it.
    pub is_required: bool,
    /// The value without it.
    pub otherwise: Otherwise,
    /// True if it is printed even where it has its default.
    pub is_shown: bool,
    /// Its purpose. The first paragraph is the description that an editor shows; the reference has all.
    pub doc: &'static str,
}

/// The value of a key that is left out.
#[derive(Clone, Copy, Debug)]
pub enum Otherwise {
    /// Nothing to say: the doc line says it, or the key is required.
    Nothing,
    /// The value that another key or the model gives, in words.
    Words(&'static str),
    /// This value.
    Value(fn() -> Held),
}

/// The values that a key can hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any string.
    Text,
    /// An absolute path.
    Path,
    /// A version of Linux.
    Version,
    /// Bytes with a unit; zero is an error.
    Size,
    /// Bytes with a unit; zero is fine.
    SizeOrZero,
    /// Like `Size`, or the word "all".
    SizeOrAll,
    /// Bytes per second.
    Rate,
    /// A duration.
    Time,
    /// A part of a whole, in percent; zero is an error.
    Percent,
    /// A whole number within bounds.
    Whole(u32, u32),
    /// Any number within bounds.
    Number(f64, f64),
    /// true or false.
    Flag,
    /// Nothing but true.
    True,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of some words.
    Words(&'static [&'static str]),
    /// A list of strings.
    Texts,
    /// Number of streams to rate.
    Rates,
    /// Names of the user's own with a string, number or boolean each.
    Scalars,
    /// Names of the user's own with a part of a whole each.
    Percents,
    /// Names of the user's own with `Scalars` each.
    ScalarTables,
    /// A table.
    Table(&'static Schema),
    /// Names of the user's own with a table each.
    Tables(&'static Schema),
    /// Any number of tables.
    List(&'static Schema),
    /// Any number of tables, each of one of these.
    Either(&'static [&'static Schema]),
    /// A list of operations, each by its verb.
    Program,
}

impl Kind {
    /// Returns the words for "must be ...".
    pub fn wanted(&self) -> String {
        match self {
            Self::Text | Self::Version => "a string".to_owned(),
            Self::Path => "an absolute path".to_owned(),
            Self::Size | Self::SizeOrZero => "a size with its unit".to_owned(),
            Self::SizeOrAll => "a size with its unit or \"all\"".to_owned(),
            Self::Rate => "a rate with its unit".to_owned(),
            Self::Time => "a time with its unit".to_owned(),
            Self::Percent => "a percentage".to_owned(),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::True => "true".to_owned(),
            Self::Word(words) => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
            Self::Words(_) => "a list of words".to_owned(),
            Self::Texts => "a list of strings".to_owned(),
            Self::Rates => "a table of rates by number of streams".to_owned(),
            Self::Percents => "a table of percentages".to_owned(),
            Self::Scalars | Self::ScalarTables | Self::Table(_) | Self::Tables(_) => "a table".to_owned(),
            Self::List(_) | Self::Either(_) => "a list of tables".to_owned(),
            Self::Program => "a list of operations".to_owned(),
        }
    }

    /// A right value as it would be written; empty where a table would be.
    pub fn example(&self) -> String {
        match self {
            Self::Text => "\"name\"".to_owned(),
            Self::Path => "\"/data/f1\"".to_owned(),
            Self::Version => "\"6.18\"".to_owned(),
            Self::Size | Self::SizeOrZero | Self::SizeOrAll => "\"20 GB\"".to_owned(),
            Self::Rate => "\"465 MB/s\"".to_owned(),
            Self::Time => "\"28 s\"".to_owned(),
            Self::Percent => "\"15 %\"".to_owned(),
            Self::Whole(least, _) => least.max(&1).to_string(),
            Self::Number(_, most) => most.to_string(),
            Self::Flag | Self::True => "true".to_owned(),
            Self::Word(words) => format!("\"{}\"", words[0]),
            Self::Words(words) => format!("[\"{}\"]", words[0]),
            Self::Texts => "[\"name\"]".to_owned(),
            Self::Rates => "{ \"1\" = \"511 MB/s\" }".to_owned(),
            Self::Percents => "{ \"memory.write\" = \"3 %\" }".to_owned(),
            Self::Program => "[ { read = \"/data/f1\" } ]".to_owned(),
            Self::Scalars
            | Self::ScalarTables
            | Self::Table(_)
            | Self::Tables(_)
            | Self::List(_)
            | Self::Either(_) => String::new(),
        }
    }
}

impl Schema {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

impl Key {
    /// The paragraphs of its doc, each in a line.
    pub fn paragraphs(&self) -> Vec<String> {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<&str> = self.doc.lines().map(str::trim).collect();
        lines.split(|line| line.is_empty()).map(|lines| words(&lines.join(" "))).collect()
    }

    /// True if it is printed when it holds this.
    pub fn shows(&self, value: &Held) -> bool {
        self.is_shown || !matches!(self.otherwise, Otherwise::Value(default) if default() == *value)
    }
}

/// A key that a table must have.
pub const fn must(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, is_required: true, otherwise: Otherwise::Nothing, is_shown: false, doc }
}

/// A key that a table may have.
pub const fn may(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, is_required: false, otherwise: Otherwise::Nothing, is_shown: false, doc }
}

/// One list after another.
pub const fn join<const N: usize>(first: &[Key], then: &[Key]) -> [Key; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { then[at - first.len()] };
        at += 1;
    }
    all
}
