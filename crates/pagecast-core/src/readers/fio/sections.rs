//! Splits a job file into sections and options as fio's `init.c` does: comments, `include`, `${NAME}`, `$pagesize` and its like.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arithmetic::{Units, evaluate};
use super::wrong::Place;
use crate::nearest::shorten;
use crate::readers::error::ReadError;
use crate::readers::options::Surroundings;

/// The longest line that fio takes (`OPT_LEN_MAX`).
const LONGEST_LINE: usize = 4096;

/// How deep files may include each other.
const DEEPEST_INCLUDE: u32 = 16;

/// `$pagesize`.
const PAGE_BYTES: u64 = 4096;

/// The most options of a job file.
const MOST_OPTIONS: usize = 1_000_000;

/// One section: its name and its options in order.
#[derive(Clone, Debug)]
pub struct Section {
    /// Between the brackets.
    pub name: String,
    /// Its head.
    pub place: Place,
    /// Its options, with those of the files that it includes.
    pub options: Vec<Given>,
}

impl Section {
    /// True if it changes what later sections start from, and is no job itself.
    pub fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// One option as it is written, after substitution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Before `=`.
    pub name: String,
    /// Behind it; `None` without `=`.
    pub value: Option<String>,
    /// Its line.
    pub place: Place,
    /// A variable that it uses and that is not set.
    pub unset: Option<String>,
}

/// Reads the sections of a job file; `path` is where it is, for files that it includes.
///
/// # Errors
/// Lines that fio refuses, and files that cannot be read.
pub fn read_sections(
    text: &str,
    origin: &str,
    path: Option<&Path>,
    around: &Surroundings,
) -> Result<Vec<Section>, ReadError> {
    let mut reader = Reader { around, sections: Vec::new(), options: 0 };
    reader.read(text, &Arc::from(origin), path, 0)?;
    Ok(reader.sections)
}

struct Reader<'a> {
    around: &'a Surroundings,
    sections: Vec<Section>,
    options: usize,
}

impl Reader<'_> {
    fn read(
        &mut self,
        text: &str,
        file: &Arc<str>,
        path: Option<&Path>,
        depth: u32,
    ) -> Result<(), ReadError> {
        for (index, line) in text.lines().enumerate() {
            let place = Place { file: Arc::clone(file), line: u32::try_from(index + 1).unwrap_or(u32::MAX) };
            if line.len() >= LONGEST_LINE {
                let what = format!("a line has {} bytes, and fio takes {}", line.len(), LONGEST_LINE - 1);
                return Err(place.error(what, "make it shorter"));
            }
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            if let Some(head) = line.strip_prefix('[') {
                self.open(head, place, depth)?;
            } else if let Some(included) = line.strip_prefix("include").filter(|_| !line.contains('=')) {
                self.include(included.trim(), &place, path, depth)?;
            } else {
                self.add(line, place)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, head: &str, place: Place, depth: u32) -> Result<(), ReadError> {
        if depth > 0 {
            return Err(place.error(
                "an included file begins a section",
                "put the section into the job file, and include its options alone",
            ));
        }
        let Some(name) = head.strip_suffix(']').filter(|name| !name.is_empty()) else {
            let what = format!("`[{}` is no head of a section", shorten(head));
            return Err(place.error(what, "write [NAME]"));
        };
        self.sections.push(Section { name: name.to_owned(), place, options: Vec::new() });
        Ok(())
    }

    fn include(
        &mut self,
        name: &str,
        place: &Place,
        path: Option<&Path>,
        depth: u32,
    ) -> Result<(), ReadError> {
        if name.is_empty() {
            return Err(place.error("`include` names no file", "write include FILE"));
        }
        if self.sections.is_empty() {
            return Err(outside(&format!("include {name}"), place));
        }
        if depth == DEEPEST_INCLUDE {
            let what = format!("files include each other deeper than {DEEPEST_INCLUDE} levels");
            return Err(place.error(what, "take one include away"));
        }
        // As fio does: as it stands, or else beside the file that includes it.
        let beside = path.and_then(Path::parent).map(|folder| folder.join(name));
        let found = [Some(PathBuf::from(name)), beside].into_iter().flatten().find(|path| path.is_file());
        let found = found.unwrap_or_else(|| PathBuf::from(name));
        let text = std::fs::read_to_string(&found).map_err(|error| {
            let what = format!("cannot read the included file {}: {error}", shorten(name));
            place.error(what, "correct the name; it is looked for here and beside the job file")
        })?;
        let origin: Arc<str> = found.to_string_lossy().into();
        self.read(&text, &origin, Some(&found), depth + 1)
    }

    fn add(&mut self, line: &str, place: Place) -> Result<(), ReadError> {
        let Some(section) = self.sections.last_mut() else { return Err(outside(line, &place)) };
        self.options += 1;
        if self.options > MOST_OPTIONS {
            return Err(place.error(format!("there are more than {MOST_OPTIONS} options"), "use fewer"));
        }
        let (text, unset) = with_environment(line, self.around);
        let text = with_keywords(text, self.around);
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end().to_owned(), Some(value.to_owned())),
            None => (text, None),
        };
        section.options.push(Given { name, value, place, unset });
        Ok(())
    }
}

fn outside(line: &str, place: &Place) -> ReadError {
    let what = format!("`{}` stands before the first section", shorten(line));
    place.error(what, "begin with [global] or with the name of a job in brackets")
}

/// The line up to `;` or `#`, which begin a comment wherever they stand, without blanks around it.
fn without_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control())
}

/// Replaces each `${NAME}` by its value, or by nothing if it is not set; the first that is not set is told.
fn with_environment(line: &str, around: &Surroundings) -> (String, Option<String>) {
    let (mut text, mut rest, mut unset) = (String::with_capacity(line.len()), line, None);
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        text.push_str(before);
        match around.environment.get(name) {
            Some(value) => text.push_str(value),
            None => {
                unset.get_or_insert_with(|| name.to_owned());
            }
        }
        rest = after;
    }
    text.push_str(rest);
    (text, unset)
}

/// Replaces `$pagesize`, `$mb_memory` and `$ncpus`; a value that is then a calculation is calculated, as fio does with bc.
fn with_keywords(text: String, around: &Surroundings) -> String {
    let words = [
        ("$pagesize", PAGE_BYTES),
        ("$mb_memory", around.memory.0 >> 20),
        ("$ncpus", u64::from(around.cores)),
    ];
    if !words.iter().any(|(word, _)| text.contains(word)) {
        return text;
    }
    let replaced = words.iter().fold(text, |text, (word, value)| text.replace(word, &value.to_string()));
    match replaced.split_once('=') {
        Some((name, value)) if value.contains(['+', '-', '*', '/']) => match evaluate(value, Units::None) {
            Ok((result, _)) => format!("{name}={result}"),
            Err(_) => replaced,
        },
        _ => replaced,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::units::Bytes;

    fn sections(text: &str) -> Result<Vec<Section>, ReadError> {
        let environment = [("SIZE".to_owned(), "64m".to_owned())].into();
        let around =
            Surroundings { environment, memory: Bytes(2000 << 20), cores: 8, ..Surroundings::default() };
        read_sections(text, "job.fio", None, &around)
    }

    fn options(text: &str) -> Vec<(String, Option<String>)> {
        let found = sections(text).unwrap();
        found.into_iter().flat_map(|section| section.options).map(|given| (given.name, given.value)).collect()
    }

    #[test]
    fn comments_and_blanks_are_passed_over() {
        let found = sections("; a\n\n  [ a b ]  \n\trw=read ; why\n# x\nthread\nbs = 4k\n").unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].place.line), (" a b ", 3));
        let values: Vec<_> =
            found[0].options.iter().map(|given| (&*given.name, given.value.as_deref())).collect();
        assert_eq!(values, [("rw", Some("read")), ("thread", None), ("bs", Some(" 4k"))]);
        assert_eq!(found[0].options[2].place.to_string(), "job.fio:7");
    }

    #[test]
    fn variables_and_keywords_are_replaced() {
        let one = |text: &str| options(&format!("[a]\n{text}")).remove(0).1.unwrap();
        assert_eq!(one("size=${SIZE}"), "64m");
        assert_eq!(one("filename=x${NONE}y${"), "xy${");
        assert_eq!(one("size=8*$mb_memory"), "16000");
        assert_eq!(one("bs=$pagesize"), "4096");
        assert_eq!(one("filename=a-$ncpus/b"), "a-8/b");
        let unset = sections("[a]\nfilename=${NONE}").unwrap().remove(0).options.remove(0).unset;
        assert_eq!(unset.as_deref(), Some("NONE"));
    }

    #[test]
    fn a_section_that_begins_with_global_is_global() {
        let found = sections("[global]\n[globals]\n[job]").unwrap();
        assert_eq!(found.iter().map(Section::is_global).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn lines_that_belong_nowhere_are_refused() {
        let refusal = |text: &str| sections(text).unwrap_err().to_string();
        assert_snapshot!(refusal("rw=read"), @"job.fio:1: `rw=read` stands before the first section; begin with [global] or with the name of a job in brackets");
        assert_snapshot!(refusal("[a"), @"job.fio:1: `[a` is no head of a section; write [NAME]");
        assert_snapshot!(refusal("[a]\ninclude nowhere.fio"), @"job.fio:2: cannot read the included file nowhere.fio: No such file or directory (os error 2); correct the name; it is looked for here and beside the job file");
        assert_snapshot!(refusal(&format!("[a]\n{}", "x".repeat(5000))), @"job.fio:2: a line has 5000 bytes, and fio takes 4095; make it shorter");
    }

    #[test]
    fn included_options_stand_where_the_line_stands() {
        let file = std::env::temp_dir().join(format!("pagecast-more-{}.fio", std::process::id()));
        std::fs::write(&file, "bs=8k\n").unwrap();
        let text = format!("[a]\nrw=read\ninclude {}\nsize=1m\n", file.display());
        let names: Vec<String> = options(&text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["rw", "bs", "size"]);
        std::fs::write(&file, "[b]\n").unwrap();
        assert!(sections(&text).unwrap_err().what.contains("begins a section"));
        std::fs::remove_file(&file).unwrap();
    }
}
