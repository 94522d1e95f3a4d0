//! Reads the values of a table by its schema: unknown and missing keys, wrong types and units are refused here.

use std::borrow::Cow;

use super::braces::{self, Copies, Scope};
use super::document::{Entry, Node, Place, Table, Value, shorten};
use crate::error::ScenarioError;
use crate::keys::{Held, Key, Keyed, Kind, Schema};
use crate::nearest::hint;
use crate::units::{Bytes, BytesPerSecond, Fraction, Nanos, QuantityError};

/// A table whose keys have been checked.
#[derive(Clone)]
pub struct Fields<'a> {
    /// Where the table starts.
    pub at: &'a Place,
    /// The table's name in messages, such as "[machine.disk.ssd]".
    pub title: Cow<'a, str>,
    table: &'a Table,
    schema: &'static Schema,
    /// Keys that it may have beside those of its schema.
    common: &'static [Key],
    scope: Scope<'a>,
}

/// A value with what is known about it.
pub struct Given<'a> {
    /// Its key.
    pub key: &'a str,
    /// The value.
    pub node: &'a Node,
    kind: &'static Kind,
    scope: Scope<'a>,
}

/// What a value can be turned into.
pub trait FromNode: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// If it is something else, or outside of what its key allows.
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError>;
}

/// Where a key belongs that stands one table too high, as in `--set vm.dirty_ratio=10`: "machine.vm".
fn one_table_down(schema: &Schema, key: &str) -> Option<String> {
    schema.keys.iter().find_map(|outer| match outer.kind {
        Kind::Table(inner) if inner.key(key).is_some() => Some(format!("{}.{key}", outer.name)),
        _ => None,
    })
}

impl<'a> Fields<'a> {
    /// Checks that `node` is a table with all the keys it must have and none that it may not have.
    ///
    /// # Errors
    /// What it is instead; the unknown key and the nearest valid one; the missing key and how to write it.
    pub fn open(
        node: &'a Node,
        schema: &'static Schema,
        title: impl Into<Cow<'a, str>>,
    ) -> Result<Self, ScenarioError> {
        Self::open_with(node, schema, &[], title)
    }

    /// The same of a table that may have keys beside those of its schema.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        node: &'a Node,
        schema: &'static Schema,
        common: &'static [Key],
        title: impl Into<Cow<'a, str>>,
    ) -> Result<Self, ScenarioError> {
        let title = title.into();
        let Value::Table(table) = &node.value else {
            return Err(node.at.error(format!("{title} is {}, but must be a table", node.describe()), ""));
        };
        for entry in &table.entries {
            if schema.key(&entry.key).is_none() && common.iter().all(|key| key.name != entry.key) {
                let what = format!("unknown key `{}` in {title}", shorten(&entry.key));
                let remedy = match one_table_down(schema, &entry.key) {
                    Some(path) => format!("did you mean `{path}`?"),
                    None => {
                        let common = common.iter().map(|key| key.name);
                        hint(&entry.key, schema.names().chain(common), "known keys")
                    }
                };
                return Err(entry.at.error(what, remedy));
            }
        }
        let fields = Self { at: &node.at, title, table, schema, common, scope: Scope::of(Copies::Never) };
        match schema.keys.iter().find(|key| key.is_required && table.get(key.name).is_none()) {
            Some(key) => Err(fields.missing(key)),
            None => Ok(fields),
        }
    }

    fn missing(&self, key: &Key) -> ScenarioError {
        let example = key.kind.example();
        let remedy = match example.as_str() {
            "" => format!("add a table `{}`", key.name),
            example => format!("add for example {} = {example}", key.name),
        };
        self.at.error(format!("{} has no `{}`", self.title, key.name), remedy)
    }

    /// The same table where strings may have these numbers.
    pub fn within(self, scope: Scope<'a>) -> Self {
        Self { scope, ..self }
    }

    /// Reads a struct from the keys of the table.
    ///
    /// # Errors
    /// If one is not what the key holds.
    pub fn read<T: Keyed>(&self) -> Result<T, ScenarioError> {
        let mut made = T::default();
        for (key, value) in self.held()? {
            made.set(key, value);
        }
        Ok(made)
    }

    /// Reads a struct from a table inside this one, or from the defaults of its keys.
    ///
    /// # Errors
    /// If it is no table, has unknown keys, or lacks some.
    pub fn read_inner<T: Keyed>(&self, key: &'static str) -> Result<T, ScenarioError> {
        self.inner(key, T::SCHEMA)?.map_or_else(|| Ok(T::default()), |inner| inner.read())
    }

    /// A table inside this one.
    ///
    /// # Errors
    /// If it is no table, has unknown keys, or lacks some.
    pub fn inner(&self, key: &str, schema: &'static Schema) -> Result<Option<Fields<'a>>, ScenarioError> {
        let open = |node| Ok(Fields::open(node, schema, self.inside(key))?.within(self.scope));
        self.node(key).map(open).transpose()
    }

    /// The name of a table inside this one: "[machine]" and "memory" make "[machine.memory]", "read" and "pattern" "read.pattern".
    pub fn inside(&self, key: &str) -> String {
        match self.title.strip_suffix(']') {
            Some(title) => format!("{title}.{key}]"),
            None => format!("{}.{key}", self.title),
        }
    }

    /// The values of all keys that are there and that a field can hold.
    fn held(&self) -> Result<Vec<(&'static str, Held)>, ScenarioError> {
        let each = self.schema.keys.iter().map(|key| Ok(self.value(key)?.map(|value| (key.name, value))));
        each.filter_map(Result::transpose).collect()
    }

    fn value(&self, key: &'static Key) -> Result<Option<Held>, ScenarioError> {
        let name = key.name;
        Ok(match key.kind {
            Kind::Version => self.get(name)?.map(|Version(major, minor)| Held::Version(major, minor)),
            Kind::Size | Kind::SizeOrZero => self.get(name)?.map(Held::Size),
            Kind::Rate => self.get(name)?.map(Held::Rate),
            Kind::Time => self.get(name)?.map(Held::Time),
            Kind::Whole(..) => self.get(name)?.map(Held::Whole),
            Kind::Number(..) => self.get(name)?.map(Held::Number),
            Kind::Flag => self.get(name)?.map(Held::Flag),
            Kind::Word(_) => self.get(name)?.map(|WordIndex(at)| Held::Word(at)),
            Kind::Rates => self.get(name)?.map(Held::Rates),
            Kind::Table(schema) => {
                self.inner(name, schema)?.map(|inner| inner.held()).transpose()?.map(Held::Table)
            }
            _ => None,
        })
    }

    /// True if the schema has a key.
    pub fn has_key(&self, key: &str) -> bool {
        self.key(key).is_some()
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.schema.key(name).or_else(|| self.common.iter().find(|key| key.name == name))
    }

    /// The value as it was written.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    /// Where `key` has its value, or where the table starts without it.
    pub fn place(&self, key: &str) -> &'a Place {
        self.node(key).map_or(self.at, |node| &node.at)
    }

    /// The value of a key, if it is there.
    ///
    /// # Errors
    /// If it is not what the key holds.
    pub fn get<T: FromNode>(&self, key: &'static str) -> Result<Option<T>, ScenarioError> {
        let kind = &self.key(key).expect("a reader asks only for keys of its schema").kind;
        let given = self.node(key).map(|node| Given { key, node, kind, scope: self.scope });
        given.map(|given| T::from_node(&given)).transpose()
    }

    /// The value of a key that the schema requires.
    ///
    /// # Errors
    /// If it is not what the key holds.
    pub fn need<T: FromNode>(&self, key: &'static str) -> Result<T, ScenarioError> {
        Ok(self.get(key)?.expect("required keys were checked when the table was opened"))
    }

    /// The value of a key that other keys require.
    ///
    /// # Errors
    /// If it is not there, or not what the key holds.
    pub fn need_here<T: FromNode>(&self, key: &'static str) -> Result<T, ScenarioError> {
        self.get(key)?.ok_or_else(|| self.missing(self.key(key).expect("the schema has it")))
    }

    /// The one of `values` whose word is given; the schema has the words in the same order.
    ///
    /// # Errors
    /// Any other word.
    pub fn word<T: Copy>(&self, key: &'static str, values: &[T]) -> Result<Option<T>, ScenarioError> {
        Ok(self.get::<WordIndex>(key)?.map(|WordIndex(index)| values[index]))
    }

    /// Those of `values` whose words are in the list that is given; none without the key.
    ///
    /// # Errors
    /// Any other word.
    pub fn words<T: Copy>(&self, key: &'static str, values: &[T]) -> Result<Vec<T>, ScenarioError> {
        let given = self.get::<Vec<WordIndex>>(key)?.unwrap_or_default();
        Ok(given.into_iter().map(|WordIndex(index)| values[index]).collect())
    }

    /// The tables below a key that are named by the user, in the order of the file.
    ///
    /// # Errors
    /// If the key holds no table, or a name is empty or has control characters.
    pub fn named(&self, key: &str) -> Result<Vec<(&'a str, &'a Node)>, ScenarioError> {
        let Some(node) = self.node(key) else { return Ok(Vec::new()) };
        let Value::Table(table) = &node.value else {
            let remedy = format!("give each a name: [{key}.NAME]");
            return Err(node
                .at
                .error(format!("`{key}` is {}, but must be a table", node.describe()), remedy));
        };
        let checked = |entry: &'a Entry| match &*entry.key {
            name if name.trim().is_empty() || name.contains(char::is_control) => {
                let what = format!("\"{}\" cannot be a name in `{key}`", shorten(name));
                Err(entry.at.error(what, "use letters and digits"))
            }
            name => Ok((name, &entry.node)),
        };
        table.entries.iter().map(checked).collect()
    }

    /// A value of a table with names of the user's own.
    pub fn value_of<'b>(&self, entry: &'b Entry, kind: &'static Kind) -> Given<'b>
    where
        'a: 'b,
    {
        Given { key: &entry.key, node: &entry.node, kind, scope: self.scope }
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// If the key holds something else.
    pub fn list(&self, key: &str) -> Result<&'a [Node], ScenarioError> {
        match self.node(key) {
            None => Ok(&[]),
            Some(Node { value: Value::List(list), .. }) => Ok(list),
            Some(node) => {
                let what = format!("`{key}` is {}, but must be a list", node.describe());
                Err(node.at.error(
                    what,
                    if key == "do" { "write do = [ ... ]".into() } else { format!("write [[{key}]]") },
                ))
            }
        }
    }
}

impl Given<'_> {
    /// A value inside this one.
    pub fn inner<'b>(&self, key: &'b str, node: &'b Node, kind: &'static Kind) -> Given<'b>
    where
        Self: 'b,
    {
        Given { key, node, kind, scope: self.scope }
    }

    /// The error that the value is `what`.
    pub fn error(&self, what: impl AsRef<str>) -> ScenarioError {
        let remedy = format!("write for example {} = {}", self.key, self.kind.example());
        self.node.at.error(format!("`{}` {}", self.key, what.as_ref()), remedy)
    }

    fn mismatch(&self) -> ScenarioError {
        self.error(format!("is {}, but must be {}", self.node.describe(), self.kind.wanted()))
    }

    /// The string, with its copy number put in.
    ///
    /// # Errors
    /// If it is no string, or has wrong braces.
    pub fn text(&self) -> Result<Cow<'_, str>, ScenarioError> {
        let text = match (&self.node.value, &self.node.typed) {
            (Value::Text(text), _) => text,
            (_, Some(typed)) => &**typed,
            _ => return Err(self.mismatch()),
        };
        let may_have_rounds = matches!(self.kind, Kind::Path | Kind::Text | Kind::Version);
        braces::render(text, &self.scope, may_have_rounds, &self.node.at)
    }

    /// A quantity; `parse` is of `units`.
    fn quantity<T>(&self, parse: impl Fn(&str) -> Result<T, QuantityError>) -> Result<T, ScenarioError> {
        if let Value::Integer(_) | Value::Float(_) = self.node.value {
            let what = format!("`{}` is {} without a unit", self.key, self.node.describe());
            let remedy =
                format!("a quantity is a string with its unit: {} = {}", self.key, self.kind.example());
            return Err(self.node.at.error(what, remedy));
        }
        let text = self.text()?;
        // A quantity is short; what is not would be repeated in full by the error.
        parse(&shorten(&text)).map_err(|error| match error.to_string().split_once("; ") {
            Some((what, remedy)) => self.node.at.error(format!("`{}`: {what}", self.key), remedy),
            None => self.error(format!("is wrong: {error}")),
        })
    }

    /// A number, also as a string, which is what a parameter makes of it.
    fn number(&self) -> Result<f64, ScenarioError> {
        let number = match &self.node.value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            Value::Text(_) => self.text()?.trim().parse().map_err(|_| self.mismatch())?,
            _ => return Err(self.mismatch()),
        };
        Ok(number)
    }

    fn number_between(&self, least: f64, most: f64) -> Result<f64, ScenarioError> {
        let number = self.number()?;
        if (least..=most).contains(&number) { Ok(number) } else { Err(self.mismatch()) }
    }
}

/// The place of a word among those of its key.
struct WordIndex(usize);

impl FromNode for WordIndex {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let Kind::Word(words) = given.kind else {
            panic!("`{}` is read as a word, as its schema says", given.key)
        };
        let text = given.text()?;
        Self::of(&text, words).ok_or_else(|| {
            let what = format!("`{}` cannot be \"{}\"", given.key, shorten(&text));
            given.node.at.error(what, hint(&text, words.iter().copied(), "known words"))
        })
    }
}

impl WordIndex {
    fn of(text: &str, words: &[&str]) -> Option<Self> {
        words.iter().position(|word| *word == text).map(Self)
    }
}

impl FromNode for Vec<WordIndex> {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let (Kind::Words(words), key) = (given.kind, given.key) else {
            panic!("`{}` is read as a list of words, as its schema says", given.key)
        };
        let Value::List(list) = &given.node.value else { return Err(given.mismatch()) };
        let each = |node: &Node| {
            let Value::Text(text) = &node.value else {
                let what = format!("`{key}` has {} in it, but must be a list of words", node.describe());
                return Err(node
                    .at
                    .error(what, format!("write for example {key} = {}", given.kind.example())));
            };
            let text = braces::render(text, &given.scope, false, &node.at)?;
            WordIndex::of(&text, words).ok_or_else(|| {
                let what = format!("`{key}` cannot have \"{}\"", shorten(&text));
                node.at.error(what, hint(&text, words.iter().copied(), "known words"))
            })
        };
        list.iter().map(each).collect()
    }
}

impl FromNode for String {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let text = given.text()?;
        if text.trim().is_empty() {
            return Err(given.error("is empty"));
        }
        if text.contains(char::is_control) {
            return Err(given.error(format!("is \"{}\", with a control character", shorten(&text))));
        }
        Ok(text.into_owned())
    }
}

impl FromNode for Vec<String> {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let Value::List(list) = &given.node.value else { return Err(given.mismatch()) };
        let each = |node| String::from_node(&given.inner(given.key, node, &Kind::Text));
        list.iter().map(each).collect()
    }
}

impl FromNode for Bytes {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let bytes = given.quantity(Self::parse)?;
        let may_be_zero = matches!(given.kind, Kind::SizeOrZero);
        if bytes == Self::ZERO && !may_be_zero {
            return Err(given.error("is zero, but must be more"));
        }
        Ok(bytes)
    }
}

impl FromNode for BytesPerSecond {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        given.quantity(Self::parse)
    }
}

impl FromNode for Nanos {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        given.quantity(Self::parse)
    }
}

impl FromNode for Fraction {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let fraction = given.quantity(Self::parse)?;
        if fraction.0 == 0.0 { Err(given.error("is zero, but must be more")) } else { Ok(fraction) }
    }
}

impl FromNode for u32 {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let Kind::Whole(least, most) = *given.kind else {
            panic!("`{}` is read as a whole number, as its schema says", given.key)
        };
        let number = given.number_between(f64::from(least), f64::from(most))?;
        if number.fract() == 0.0 { Ok(number as Self) } else { Err(given.mismatch()) }
    }
}

impl FromNode for f64 {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let Kind::Number(least, most) = *given.kind else {
            panic!("`{}` is read as a number, as its schema says", given.key)
        };
        given.number_between(least, most)
    }
}

impl FromNode for bool {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        match (&given.node.value, given.kind) {
            (Value::Boolean(false), Kind::True) => Err(given.mismatch()),
            (Value::Boolean(flag), _) => Ok(*flag),
            _ => Err(given.mismatch()),
        }
    }
}

/// A version of Linux. That of 2.6.27 is (2, 27), as 3.0 came after 2.6.39.
struct Version(u32, u32);

/// Reads a version up to its first two numbers; of 2.6, which has three, the last one.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    match (major.parse().ok()?, number(rest)?) {
        (2, 6) => Some((2, number(rest.split_once('.')?.1)?)),
        (2, _) => Some((2, 0)),
        version => Some(version),
    }
}

impl FromNode for Version {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let text = String::from_node(given)?;
        match parse_version(&text) {
            Some(version) if (2, 27) <= version => Ok(Self(version.0, version.1)),
            Some(_) => Err(given.node.at.error(
                format!("Linux {} is older than the rules that are modelled", shorten(&text)),
                "name 2.6.27 or a later version",
            )),
            None => Err(given.node.at.error(
                format!("`{}` is no version of Linux", shorten(&text)),
                "write for example version = \"6.18\"",
            )),
        }
    }
}

/// Rates by number of concurrent streams, ascending.
impl FromNode for Vec<(u32, BytesPerSecond)> {
    fn from_node(given: &Given<'_>) -> Result<Self, ScenarioError> {
        let Value::Table(table) = &given.node.value else {
            return Err(given.error(format!("is {}, but must be a table", given.node.describe())));
        };
        let mut rates = Self::with_capacity(table.entries.len());
        for entry in &table.entries {
            let streams =
                entry.key.parse().ok().filter(|streams| *streams > 0 && entry.key == u32::to_string(streams));
            let streams = streams.ok_or_else(|| {
                let what = format!("`{}` in `{}` is no number of streams", shorten(&entry.key), given.key);
                entry.at.error(what, "write a whole number from 1 on, in quotes")
            })?;
            let rate = BytesPerSecond::from_node(&given.inner(&entry.key, &entry.node, &Kind::Rate))?;
            rates.push((streams, rate));
        }
        rates.sort_by_key(|&(streams, _)| streams);
        Ok(rates)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::machine::{Disk, Memory, VmSettings};
    use crate::scenario::document::parse;

    fn read<T>(
        text: &str,
        schema: &'static Schema,
        take: impl Fn(&Fields<'_>) -> Result<T, ScenarioError>,
    ) -> Result<T, String> {
        let node = parse(text.as_bytes(), "x.toml", "").expect("the test's text is TOML");
        Fields::open(&node, schema, "[table]")
            .and_then(|fields| take(&fields))
            .map_err(|error| error.to_string())
    }

    fn memory(size: &str) -> String {
        let text = format!("read = '1 MB/s'\nwrite = '1 MB/s'\nsize = {size}");
        read(&text, Memory::SCHEMA, |fields| fields.need::<Bytes>("size")).unwrap_err()
    }

    fn ratio(value: &str) -> Result<Option<f64>, String> {
        read(&format!("dirty_ratio = {value}"), VmSettings::SCHEMA, |fields| fields.get::<f64>("dirty_ratio"))
    }

    #[test]
    fn a_bare_number_is_no_quantity() {
        assert_snapshot!(memory("20"), @r#"x.toml:3: `size` is the number 20 without a unit; a quantity is a string with its unit: size = "20 GB""#);
    }

    #[test]
    fn a_number_in_a_string_is_no_quantity_either() {
        assert_snapshot!(memory("'20'"), @r#"x.toml:3: `size`: `20` has no unit; write for example "20 GB""#);
    }

    #[test]
    fn a_negative_size_is_refused() {
        assert_snapshot!(memory("'-1 GB'"), @"x.toml:3: `size`: `-1 GB` is negative; sizes, times and rates cannot be");
    }

    #[test]
    fn nan_is_refused() {
        assert_snapshot!(memory("'NaN GB'"), @r#"x.toml:3: `size` is wrong: `NaN GB` does not start with a finite number; write for example size = "20 GB""#);
        assert_snapshot!(memory("nan"), @r#"x.toml:3: `size` is the number NaN without a unit; a quantity is a string with its unit: size = "20 GB""#);
    }

    #[test]
    fn a_size_of_zero_is_refused_where_something_must_be() {
        assert_snapshot!(memory("'0 GB'"), @r#"x.toml:3: `size` is zero, but must be more; write for example size = "20 GB""#);
    }

    #[test]
    fn a_rate_of_zero_is_refused() {
        let text = "size = '1 GB'\nread = '0 MB/s'\nwrite = '1 MB/s'";
        assert_snapshot!(read(text, Memory::SCHEMA, |fields| fields.need::<BytesPerSecond>("read")).unwrap_err(), @"x.toml:2: `read`: `0 MB/s` is zero; it must be more than zero");
    }

    #[test]
    fn an_unknown_unit_names_the_nearest_or_the_known_ones() {
        assert_snapshot!(memory("'20 KB'"), @"x.toml:3: `size`: `20 KB` has the unknown unit `KB`; did you mean `kB` or `KiB`?");
        assert_snapshot!(memory("'20 pages'"), @"x.toml:3: `size`: `20 pages` has the unknown unit `pages`; known units are B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
    }

    #[test]
    fn another_type_is_named() {
        assert_snapshot!(memory("true"), @r#"x.toml:3: `size` is true, but must be a size with its unit; write for example size = "20 GB""#);
        assert_snapshot!(memory("[]"), @r#"x.toml:3: `size` is a list, but must be a size with its unit; write for example size = "20 GB""#);
        assert_snapshot!(memory("1979-05-27"), @r#"x.toml:3: `size` is the date 1979-05-27, but must be a size with its unit; write for example size = "20 GB""#);
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        assert_snapshot!(read("\ndirty_ratoi = 1", VmSettings::SCHEMA, |_| Ok(())).unwrap_err(), @"x.toml:2: unknown key `dirty_ratoi` in [table]; did you mean `dirty_ratio`?");
    }

    #[test]
    fn a_missing_key_is_shown_as_it_would_be_written() {
        assert_snapshot!(read("size = '1 GB'", Memory::SCHEMA, |_| Ok(())).unwrap_err(), @r#"x.toml:1: [table] has no `read`; add for example read = "465 MB/s""#);
    }

    #[test]
    fn numbers_have_bounds_and_may_be_strings() {
        assert_eq!(ratio("40"), Ok(Some(40.0)));
        assert_eq!(ratio("'12.5'"), Ok(Some(12.5)));
        assert_snapshot!(ratio("101").unwrap_err(), @"x.toml:1: `dirty_ratio` is the number 101, but must be a number from 0 to 100; write for example dirty_ratio = 100");
        assert_snapshot!(ratio("nan").unwrap_err(), @"x.toml:1: `dirty_ratio` is the number NaN, but must be a number from 0 to 100; write for example dirty_ratio = 100");
        assert_snapshot!(ratio("'10 %'").unwrap_err(), @r#"x.toml:1: `dirty_ratio` is the string "10 %", but must be a number from 0 to 100; write for example dirty_ratio = 100"#);
    }

    #[test]
    fn a_wrong_word_names_the_nearest() {
        let text = "size = '1 GB'\nread = '1 MB/s'\nwrite = '1 MB/s'\nsharing = 'totl'";
        let error = read(text, Disk::SCHEMA, |fields| fields.word("sharing", &[1, 2, 3])).unwrap_err();
        assert_snapshot!(error, @r#"x.toml:4: `sharing` cannot be "totl"; did you mean `total`?"#);
    }
}
