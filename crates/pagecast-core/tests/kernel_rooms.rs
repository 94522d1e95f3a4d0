//! The rooms of the kernel model, as their sources stand: who imports whom, and where each function of the kernel is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sources::{self, code};

/// `Kernel` has no more fields than this.
const MOST_FIELDS: usize = 12;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/kernel")
}

/// The sources by their paths below the root, but for tests.
fn sources() -> BTreeMap<String, String> {
    sources::sources(&root())
}

/// The cells between backticks of each line of the tables of `mod.rs` with so many columns.
fn rows(columns: usize) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("mod.rs")).expect("it is there");
    let lines = text.lines().filter(|line| line.starts_with("//! | ") && !line.contains("---"));
    let cells = lines.map(|line| {
        let cells = line.trim_start_matches("//! |").trim_end_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    });
    let is_heading = |row: &[String]| !row.iter().any(|cell| cell.starts_with('`'));
    cells.filter(|row| row.len() == columns && !is_heading(row)).collect()
}

fn bare(cell: &str) -> &str {
    cell.trim_matches('`')
}

/// The rooms, from the highest to the lowest.
fn rooms() -> Vec<String> {
    let rows = rows(3).into_iter().filter(|row| !row[1].contains(".rs"));
    rows.map(|row| bare(&row[1]).to_owned()).collect()
}

#[test]
fn the_table_has_all_rooms() {
    let mut folders: Vec<String> = fs::read_dir(root())
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.is_dir() && !path.ends_with("tests"))
        .map(|path| path.file_name().expect("it has a name").to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let mut rooms = rooms();
    rooms.sort();
    assert_eq!(rooms, folders);
}

#[test]
fn rooms_import_only_what_stands_below_them() {
    let rooms = rooms();
    let place = |room: &str| rooms.iter().position(|each| each == room);
    let mut upwards = Vec::new();
    for (name, text) in sources() {
        let Some(own) = name.split_once('/').and_then(|(room, _)| place(room)) else { continue };
        let text = code(&text);
        assert!(!text.contains("super::super::super::"), "{name} climbs: import by the full path");
        let imported = text.split("crate::policy::kernel::").skip(1);
        let names = imported.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        for other in names.flatten().filter_map(place).filter(|&other| other < own) {
            upwards.push(format!("{name} imports {}", rooms[other]));
        }
        assert!(!text.contains("kernel::Kernel"), "{name} knows the whole");
    }
    assert!(upwards.is_empty(), "{upwards:#?}");
}

#[test]
fn only_the_driver_knows_the_whole() {
    let of_kernel = |line: &str| line.starts_with("impl Kernel {") || line.ends_with("for Kernel {");
    let sources = sources();
    let blocks = sources.iter().filter(|(_, text)| code(text).lines().any(of_kernel));
    // The driver, and its short way for an operation that nothing disturbs.
    assert_eq!(blocks.map(|(name, _)| &**name).collect::<Vec<_>>(), ["driver.rs", "mod.rs", "serve.rs"]);
    let text = code(&sources["mod.rs"]);
    let fields = text.split("pub struct Kernel {").nth(1).and_then(|rest| rest.split('}').next());
    let count = fields.expect("the struct is there").matches(':').count();
    assert!((1..=MOST_FIELDS).contains(&count), "{count} fields");
}

#[test]
fn each_function_of_the_kernel_is_where_the_table_says() {
    let sources = sources();
    let functions: Vec<_> = rows(3).into_iter().filter(|row| row[1].contains(".rs")).collect();
    assert!(functions.len() > 40, "{} rows", functions.len());
    for row in functions {
        let (file, function) = (bare(&row[1]), bare(&row[2]));
        let text = sources.get(file).unwrap_or_else(|| panic!("no file {file}"));
        let is_there =
            [format!("fn {function}("), format!("fn {function}<")].iter().any(|fun| text.contains(fun));
        assert!(is_there, "{file} has no function {function}, for {}", row[0]);
    }
}
