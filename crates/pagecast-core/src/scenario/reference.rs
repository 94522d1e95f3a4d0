//! Writes the tables of machine keys in `docs/reference/scenario.md`, from the declarations of the keys. `make reference` does so; a test
//! fails when they are not current.
//!
//! A table stands between `<!-- keys: NAME -->`, with the name of its schema, and `<!-- end of keys -->`. `memory.NAME` puts `memory.`
//! before each key.

use std::fmt::Write;
use std::path::Path;

use super::print::default_of;
use super::schema::MACHINES;
use crate::keys::{Key, Kind, Schema};

const BEGIN: &str = "<!-- keys: ";
const END: &str = "<!-- end of keys -->";

/// The page with its tables as they should be.
fn with_tables(page: &str) -> String {
    let schemas = schemas();
    let mut parts = page.split(BEGIN);
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").expect("the mark ends in its line");
        let (_, rest) = rest.split_once(END).expect("the table has an end");
        let (prefix, name_of_schema) = name.split_at(name.find('.').map_or(0, |dot| dot + 1));
        let schema = schemas.iter().find(|schema| schema.name == name_of_schema);
        let table = table(prefix, schema.unwrap_or_else(|| panic!("there is no table `{name_of_schema}`")));
        write!(made, "{BEGIN}{name} -->\n{table}{END}{rest}").expect("a string takes all");
    }
    made
}

/// The tables of machine files.
fn schemas() -> Vec<&'static Schema> {
    let mut found = Vec::new();
    collect(&MACHINES, &mut found);
    found
}

fn collect(schema: &'static Schema, found: &mut Vec<&'static Schema>) {
    for key in schema.keys {
        if let Kind::Table(inner) | Kind::Tables(inner) = key.kind
            && !found.iter().any(|other| other.name == inner.name)
        {
            found.push(inner);
            collect(inner, found);
        }
    }
}

fn table(prefix: &str, schema: &Schema) -> String {
    let mut text = "| key | holds | default | meaning |\n|---|---|---|---|\n".to_owned();
    for key in schema.keys {
        let default =
            if key.is_required { "required".to_owned() } else { default_of(key).unwrap_or_default() };
        let cells = [format!("`{prefix}{}`", key.name), holds(&key.kind), default, meaning(key)];
        writeln!(text, "| {} |", cells.join(" | ").replace("|  |", "| |")).expect("a string takes all");
    }
    text
}

fn meaning(key: &Key) -> String {
    let mut paragraphs = key.paragraphs();
    paragraphs[0].push('.');
    paragraphs.join(" ")
}

/// Describes the form of a value in a table cell.
fn holds(kind: &Kind) -> String {
    match kind {
        Kind::Size | Kind::SizeOrZero => "size".to_owned(),
        Kind::Rate => "rate".to_owned(),
        Kind::Time => "time".to_owned(),
        Kind::Whole(least, most) => format!("whole number, {least} to {most}"),
        Kind::Number(least, most) => format!("number, {least} to {most}"),
        Kind::Rates => "rates by number of streams".to_owned(),
        Kind::Tables(_) => "tables by name".to_owned(),
        Kind::Texts => "list".to_owned(),
        other => other.wanted().trim_start_matches("a ").to_owned(),
    }
}

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    let page = std::fs::read_to_string(&path).expect("the reference can be read");
    let made = with_tables(&page);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &made).expect("the reference can be written");
    } else {
        assert!(made == page, "docs/reference/scenario.md is not current; `make reference` writes it");
    }
}

#[test]
fn every_key_of_a_machine_has_a_doc_line() {
    let keys = schemas().into_iter().flat_map(|schema| schema.keys);
    assert_eq!(keys.filter(|key| meaning(key) == ".").map(|key| key.name).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_table_of_a_machine_is_in_the_reference() {
    let page = include_str!("../../../../docs/reference/scenario.md");
    for schema in schemas().into_iter().filter(|schema| schema.name != "cgroup") {
        let marks = [BEGIN.to_owned(), format!("{BEGIN}memory."), format!("{BEGIN}io.")];
        let is_there = marks.iter().any(|mark| page.contains(&format!("{mark}{} -->", schema.name)));
        assert!(is_there, "no table of `{}`", schema.name);
    }
}
