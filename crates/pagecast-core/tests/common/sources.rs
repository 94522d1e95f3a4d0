//! The sources of the core, for tests of who imports whom.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The text of a file without its tests and comments. A module of tests is the last thing of its file.
pub fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {");
    let lines = text[..tests.unwrap_or(text.len())].lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    let mut kept = Vec::new();
    // Other things that are there for tests alone end with a line at the margin of their first.
    let mut margin = None;
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        match margin {
            None if line.trim() == "#[cfg(test)]" => margin = Some((indent, true)),
            None => kept.push(line),
            Some((at, is_first)) => {
                let ends = line.ends_with(['}', ';']) && indent == at && (!is_first || !line.ends_with('{'));
                margin = (!ends).then_some((at, false));
            }
        }
    }
    kept.join("\n")
}

/// The sources by their paths below a folder, but for tests.
pub fn sources(root: &Path) -> BTreeMap<String, String> {
    fn visit(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() { visit(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    visit(root, &mut found);
    let name = |path: &PathBuf| path.strip_prefix(root).expect("it is below").display().to_string();
    let files = found.iter().map(|path| (name(path), fs::read_to_string(path).expect("it is text")));
    files.filter(|(name, _)| !name.contains("test")).collect()
}
