//! Imports of the core point down the layers of `lib.rs`, and no circle has more than three files.
//!
//! Counted are all paths outside tests: in `use`, also below `super::` or a child module, and written out in the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sources::{code, sources};

/// A circle of files has no more than these.
const MOST_FILES: usize = 3;

type Imports = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The words, `::` and other signs of a text.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text.trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// All paths of a text, with those of `use a::{b, c::d}` written out.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let tokens = tokens(text);
    let is_word = |at: usize| tokens.get(at).is_some_and(|token| token.starts_with(char::is_alphabetic));
    // The prefix of each open brace.
    let mut before: Vec<Vec<&str>> = vec![Vec::new()];
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "{" {
            before.push(Vec::new());
        } else if tokens[at] == "}" && before.len() > 1 {
            before.pop();
        } else if is_word(at) {
            let mut path = before.last().expect("one is always there").clone();
            path.push(tokens[at]);
            while tokens.get(at + 1) == Some(&"::") && is_word(at + 2) {
                path.push(tokens[at + 2]);
                at += 2;
            }
            if tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2) == Some(&"{") {
                before.push(path);
                at += 2;
            } else if path.len() > 1 {
                found.push(path);
            }
        }
        at += 1;
    }
    found
}

/// The module that a file holds, as the parts of its path.
fn module_of(file: &str) -> Vec<&str> {
    let name = file.trim_end_matches(".rs").trim_end_matches("/mod");
    if name == "lib" { Vec::new() } else { name.split('/').collect() }
}

/// The file in which a path of the crate leads furthest.
fn file_of(path: &[&str], files: &BTreeMap<String, String>) -> String {
    let ends = (1..=path.len()).rev().map(|end| path[..end].join("/"));
    let mut names = ends.flat_map(|stem| [format!("{stem}.rs"), format!("{stem}/mod.rs")]);
    names.find(|name| files.contains_key(name)).unwrap_or_else(|| "lib.rs".to_owned())
}

/// The files that each file imports.
fn imports(files: &BTreeMap<String, String>) -> Imports {
    let of_file = |(name, text): (&String, &String)| {
        let module = module_of(name);
        let text = code(text);
        let whole = paths(&text).into_iter().filter_map(|path| {
            let ups = path.iter().take_while(|part| **part == "super").count();
            let rest = path.iter().skip(ups).filter(|part| **part != "self").copied();
            match path[0] {
                "crate" => Some(path[1..].to_vec()),
                "super" => Some(module[..module.len() - ups].iter().copied().chain(rest).collect()),
                _ => {
                    let below: Vec<&str> = module.iter().copied().chain(rest).collect();
                    let child = below[..=module.len()].join("/");
                    let is_child = [format!("{child}.rs"), format!("{child}/mod.rs")]
                        .iter()
                        .any(|name| files.contains_key(name));
                    is_child.then_some(below)
                }
            }
        });
        let imported: BTreeSet<String> =
            whole.map(|path| file_of(&path, files)).filter(|other| other != name).collect();
        (name.clone(), imported)
    };
    files.iter().map(of_file).collect()
}

/// All that a file reaches by imports.
fn reached<'a>(from: &'a str, imports: &'a Imports) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(file) = left.pop() {
        left.extend(imports[file].iter().map(String::as_str).filter(|other| reached.insert(*other)));
    }
    reached
}

/// The sets of files that all import each other, by whatever way.
fn circles(imports: &Imports) -> BTreeSet<Vec<&str>> {
    let reached: BTreeMap<&str, _> =
        imports.keys().map(|file| (file.as_str(), reached(file, imports))).collect();
    let circle = |(&file, others): (&&'_ str, &BTreeSet<&'_ str>)| {
        imports
            .keys()
            .map(String::as_str)
            .filter(|other| others.contains(other) && reached[other].contains(file))
            .collect::<Vec<&str>>()
    };
    reached.iter().map(circle).filter(|circle| !circle.is_empty()).collect()
}

/// The layers that the header of `lib.rs` lists, from the highest to the lowest.
fn layers() -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("lib.rs")).expect("it is there");
    let block = text.split("//! ```text\n").nth(1).and_then(|rest| rest.split("//! ```").next());
    let lines = block.expect("the header has a block of text").lines();
    let names = |line: &str| {
        let names = line.trim_start_matches("//! ").split("  ").next().expect("it has a first part");
        names.split(", ").map(|name| name.trim().to_owned()).collect()
    };
    lines.map(names).collect()
}

#[test]
fn the_layers_have_all_modules() {
    let mut listed: Vec<String> = layers().concat();
    listed.sort();
    let text = code(&fs::read_to_string(root().join("lib.rs")).expect("it is there"));
    let declared = text.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
    let mut declared: Vec<&str> = declared.map(|name| name.trim_end_matches(';')).collect();
    declared.sort_unstable();
    assert_eq!(listed, declared);
}

#[test]
fn modules_import_only_what_stands_below_them() {
    let layers = layers();
    let layer = |file: &str| {
        let module = module_of(file).first().map(|name| (*name).to_owned())?;
        let place = layers.iter().position(|layer| layer.contains(&module))?;
        Some((place, module))
    };
    let mut wrong = Vec::new();
    for (file, others) in imports(&sources(&root())) {
        let Some((own, module)) = layer(&file) else { continue };
        for other in others {
            let is_below = match layer(&other) {
                Some((place, name)) => name == module || place > own,
                None => false,
            };
            if !is_below {
                wrong.push(format!("{file} imports {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_circle_has_more_than_three_files() {
    let imports = imports(&sources(&root()));
    let large: Vec<_> = circles(&imports).into_iter().filter(|circle| circle.len() > MOST_FILES).collect();
    assert!(large.is_empty(), "{large:#?}");
}

#[test]
fn every_way_to_import_counts() {
    let file = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
    let files = [
        ("lib.rs", "mod a;\nmod b;\npub use b::{c, deep::{self, Thing}};"),
        ("a/mod.rs", "mod inner;\n// use crate::b::c;\nfn f() { crate::b::deep::g(); }"),
        ("a/inner.rs", "use super::super::b::c::{X, Y as Z};\n#[cfg(test)]\nmod tests {\n use crate::c;\n}"),
        ("b/mod.rs", "pub mod deep;\npub mod c;\nfn f() { deep::g(); }"),
        ("b/deep.rs", "use super::c;\nfn g() {}"),
        ("b/c.rs", "use crate::a::{inner, missing::Thing};"),
    ];
    let imports = imports(&files.into_iter().map(file).collect());
    let of = |name: &str| imports[name].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("lib.rs"), ["b/c.rs", "b/deep.rs"]);
    assert_eq!(of("a/mod.rs"), ["b/deep.rs"]);
    assert_eq!(of("a/inner.rs"), ["b/c.rs"]);
    assert_eq!(of("b/mod.rs"), ["b/deep.rs"]);
    assert_eq!(of("b/deep.rs"), ["b/c.rs"]);
    assert_eq!(of("b/c.rs"), ["a/inner.rs", "a/mod.rs"]);
    assert_eq!(
        circles(&imports).into_iter().collect::<Vec<_>>(),
        [vec!["a/inner.rs", "a/mod.rs", "b/c.rs", "b/deep.rs"]]
    );
}
