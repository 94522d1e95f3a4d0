//! Applies `--set machine.vm.dirty_ratio=10`: values that replace those of the file before it is understood.
//!
//! A value that is no TOML is a string, so that `--set parameter.size=3GB` needs no quotes. Neither does a number for a key that holds
//! text, as in `--set machine.kernel.version=5.10`: that key gets the text as typed. Files and processes are addressed by path and name.
//! Since a shell eats quotes, a key with dots in it is also found without them.

use super::document::{Node, Place, Table, Value, parse_value, shorten};
use super::machine_file::set;
use crate::error::ScenarioError;
use crate::nearest::hint;

/// Applies one override to the tree of a scenario; a later check of the whole tree refuses keys that are not valid.
///
/// # Errors
/// A text without `=`, and a path that leads nowhere.
pub fn apply(root: &mut Node, text: &str) -> Result<(), ScenarioError> {
    let source = format!("--set {}", shorten(text));
    let at = Place::whole(&source);
    let (path, value) = split_at_equals(text)
        .ok_or_else(|| at.error("there is no `=`", "write for example --set machine.vm.dirty_ratio=10"))?;
    let path = segments(path, &at)?;
    let value = match parse_value(value.trim(), &source) {
        Some(node) => node?,
        None => Node { value: Value::Text(value.trim().to_owned()), at: at.clone(), typed: None },
    };
    Setting { at }.set_in_node(root, &path, value)
}

/// Splits at the first `=` outside of quotes.
fn split_at_equals(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let equals = text.char_indices().find(|&(_, c)| {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        c == '=' && quote.is_none()
    });
    equals.map(|(index, _)| (&text[..index], &text[index + 1..]))
}

/// A part of a path, and whether it was quoted: what was quoted is not joined with its neighbours.
struct Segment {
    text: String,
    is_quoted: bool,
}

fn segments(path: &str, at: &Place) -> Result<Vec<Segment>, ScenarioError> {
    let mut segments = vec![Segment { text: String::new(), is_quoted: false }];
    let mut quote = None;
    for c in path.trim().chars() {
        let last = segments.last_mut().expect("starts with one");
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                last.is_quoted = true;
            }
            (None, '.') => segments.push(Segment { text: String::new(), is_quoted: false }),
            _ => last.text.push(c),
        }
    }
    if quote.is_some() {
        return Err(at.error("a quote is not closed", "close it before the `=`"));
    }
    if segments.iter().any(|segment| segment.text.trim().is_empty()) {
        return Err(at.error("a part of the key is empty", "write for example machine.vm.dirty_ratio"));
    }
    Ok(segments)
}

/// The way down to the value to set.
struct Setting {
    at: Place,
}

impl Setting {
    fn set_in_node(&self, node: &mut Node, path: &[Segment], value: Node) -> Result<(), ScenarioError> {
        match &mut node.value {
            Value::Table(table) => self.set_in_table(table, path, value),
            _ => {
                let what =
                    format!("`{}` is inside {}, which has no keys", shorten(&path[0].text), node.describe());
                Err(self.at.error(what, "shorten the key"))
            }
        }
    }

    fn set_in_table(&self, table: &mut Table, path: &[Segment], value: Node) -> Result<(), ScenarioError> {
        let (key, rest) = take(path, |key| table.get(key).is_some());
        if rest.is_empty() {
            set(table, &key, value);
            return Ok(());
        }
        if key == "parameter" {
            let known = table.get("parameter").and_then(Node::as_table);
            self.check_parameter(&rest[0].text, known)?;
        }
        match table.get_mut(&key) {
            Some(Node { value: Value::List(list), .. }) => self.set_in_list(list, &key, rest, value),
            Some(node) => self.set_in_node(node, rest, value),
            None => {
                let mut inner = Table::default();
                self.set_in_table(&mut inner, rest, value)?;
                set(table, &key, Node { value: Value::Table(inner), at: self.at.clone(), typed: None });
                Ok(())
            }
        }
    }

    /// A parameter that no file declares would be used by no string.
    fn check_parameter(&self, name: &str, known: Option<&Table>) -> Result<(), ScenarioError> {
        if known.is_some_and(|table| table.get(name).is_some()) {
            return Ok(());
        }
        let remedy = hint(name, known.into_iter().flat_map(Table::keys), "parameters");
        Err(self.at.error(format!("the scenario has no parameter `{}`", shorten(name)), remedy))
    }

    /// An element of `[[file]]` or `[[process]]`.
    fn set_in_list(
        &self,
        list: &mut [Node],
        key: &str,
        path: &[Segment],
        value: Node,
    ) -> Result<(), ScenarioError> {
        let names: Vec<String> =
            list.iter().map(|node| name_of(node).unwrap_or_default().to_owned()).collect();
        let (name, rest) = take(path, |name| names.iter().any(|known| known == name));
        let Some(index) = names.iter().position(|known| *known == name) else {
            // The last part is the key inside the element.
            let wanted: Vec<&str> = path.iter().map(|segment| segment.text.as_str()).collect();
            let wanted = wanted[..wanted.len().saturating_sub(1).max(1)].join(".");
            let what = format!("there is no {key} `{}`", shorten(&wanted));
            return Err(self.at.error(
                what,
                hint(&wanted, names.iter().map(String::as_str), &format!("known {key} names")),
            ));
        };
        if rest.is_empty() {
            let what = format!("the key ends at the {key} `{}`", shorten(&name));
            return Err(self
                .at
                .error(what, format!("say which of its keys, as {key}.{}.count=8", shorten(&name))));
        }
        self.set_in_node(&mut list[index], rest, value)
    }
}

/// What a file or a process is addressed by.
fn name_of(node: &Node) -> Option<&str> {
    let table = node.as_table()?;
    match &table.get("name").or_else(|| table.get("path"))?.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// The first segment, joined with as many of the next as make a key that exists, and the segments after it.
fn take(path: &[Segment], exists: impl Fn(&str) -> bool) -> (String, &[Segment]) {
    let mut joined = path[0].text.clone();
    for (index, next) in path.iter().enumerate().skip(1) {
        if exists(&joined) || next.is_quoted || path[index - 1].is_quoted {
            return if exists(&joined) {
                (joined, &path[index..])
            } else {
                (path[0].text.clone(), &path[1..])
            };
        }
        joined = format!("{joined}.{}", next.text);
    }
    if exists(&joined) { (joined, &[]) } else { (path[0].text.clone(), &path[1..]) }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::document::parse;
    use crate::scenario::testing::{MACHINE, PROCESS, read};

    const FILE: &str = r#"
        [parameter]
        apps = 32
        [machine]
        cores = 4
        [machine.disk.ssd]
        read = "1 MB/s"
        read_at = { "1" = "1 MB/s" }
        [[file]]
        path = "/data/f.1"
        size = "1 GB"
        [[process]]
        name = "app{n}.task1"
        count = 2
    "#;

    fn with(text: &str) -> Result<Node, String> {
        let mut root = parse(FILE.as_bytes(), "x.toml", "").expect("the test's text is TOML");
        apply(&mut root, text).map_err(|error| error.to_string())?;
        Ok(root)
    }

    fn get<'a>(node: &'a Node, path: &[&str]) -> Option<&'a Node> {
        path.iter().try_fold(node, |node, key| match &node.value {
            Value::Table(table) => table.get(key),
            Value::List(list) => list.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }

    fn after(text: &str, path: &[&str]) -> String {
        get(&with(text).unwrap(), path).expect("it was set").describe()
    }

    #[test]
    fn a_value_is_toml_or_else_a_string() {
        assert_eq!(after("machine.vm.dirty_ratio=10", &["machine", "vm", "dirty_ratio"]), "the number 10");
        assert_eq!(
            after("machine.disk.ssd.read=5 MB/s", &["machine", "disk", "ssd", "read"]),
            r#"the string "5 MB/s""#
        );
        assert_eq!(after("models=['wrench']", &["models"]), "a list");
        assert_eq!(after("parameter.apps=", &["parameter", "apps"]), r#"the string """#);
    }

    /// Somebody asked for `--set machine.kernel.version=5.15` and was refused: the value was the number 5.15 and had
    /// to be a text, and the quotes that would have made it one are eaten by the shell.
    #[test]
    fn a_number_is_a_text_as_typed_where_the_key_holds_text() {
        let version = |typed: &str| {
            let typed = format!("machine.kernel.version={typed}");
            read(&format!("{MACHINE}\n{PROCESS}"), &[&typed])
                .map(|scenario| scenario.machine.hosts[0].kernel.version)
        };
        assert_eq!(version("5.15"), Ok((5, 15)));
        assert_eq!(version("5.10"), Ok((5, 10)), "another version than 5.1");
        assert_eq!(version("5.1"), Ok((5, 1)));
        assert_eq!(version("5.15.3-generic"), Ok((5, 15)));
        assert_eq!(version("2.6.27-8-generic"), Ok((2, 27)));
        assert_eq!(version("3.0"), Ok((3, 0)));
        assert_snapshot!(version("2.6.26").unwrap_err(), @"--set machine.kernel.version=2.6.26: Linux 2.6.26 is older than the rules that are modelled; name 2.6.27 or a later version");
        assert_snapshot!(version("2.4.20").unwrap_err(), @"--set machine.kernel.version=2.4.20: Linux 2.4.20 is older than the rules that are modelled; name 2.6.27 or a later version");
        assert_snapshot!(version("2.6").unwrap_err(), @r#"--set machine.kernel.version=2.6: `2.6` is no version of Linux; write for example version = "6.18""#);
        assert_snapshot!(version("6").unwrap_err(), @r#"--set machine.kernel.version=6: `6` is no version of Linux; write for example version = "6.18""#);
    }

    #[test]
    fn a_parameter_keeps_the_digits_that_were_typed() {
        let text = format!("parameter.version = '6.18'\n{MACHINE}\n{PROCESS}");
        let overrides = ["machine.kernel.version={version}", "parameter.version=5.10"];
        let scenario = read(&text, &overrides).unwrap();
        assert_eq!(scenario.machine.hosts[0].kernel.version, (5, 10));
    }

    #[test]
    fn files_and_processes_go_by_their_names() {
        assert_eq!(after("process.app{n}.task1.count=8", &["process", "0", "count"]), "the number 8");
        assert_eq!(after("process.'app{n}.task1'.count=8", &["process", "0", "count"]), "the number 8");
        assert_eq!(after("file.\"/data/f.1\".size='3 GB'", &["file", "0", "size"]), r#"the string "3 GB""#);
        assert_eq!(after("file./data/f.1.size=3 GB", &["file", "0", "size"]), r#"the string "3 GB""#);
    }

    #[test]
    fn a_new_rate_takes_the_old_curve_away() {
        assert!(
            get(&with("machine.disk.ssd.read=5 MB/s").unwrap(), &["machine", "disk", "ssd", "read_at"])
                .is_none()
        );
        assert!(get(&with("machine.cores=5").unwrap(), &["machine", "disk", "ssd", "read_at"]).is_some());
    }

    #[test]
    fn an_override_is_its_own_place() {
        let root = with("machine.vm.dirty_ratio=10").unwrap();
        assert_eq!(
            get(&root, &["machine", "vm", "dirty_ratio"]).unwrap().at.to_string(),
            "--set machine.vm.dirty_ratio=10"
        );
    }

    #[test]
    fn an_override_needs_an_equals_sign() {
        assert_snapshot!(with("machine.cores").unwrap_err(), @"--set machine.cores: there is no `=`; write for example --set machine.vm.dirty_ratio=10");
    }

    #[test]
    fn an_unknown_process_names_the_nearest() {
        assert_snapshot!(with("process.app{n}.task2.count=8").unwrap_err(), @"--set process.app{n}.task2.count=8: there is no process `app{n}.task2`; did you mean `app{n}.task1`?");
        assert_snapshot!(with("file.f1.size=1 GB").unwrap_err(), @"--set file.f1.size=1 GB: there is no file `f1`; known file names: `/data/f.1`");
    }

    #[test]
    fn an_unknown_parameter_names_the_nearest() {
        assert_snapshot!(with("parameter.aps=8").unwrap_err(), @"--set parameter.aps=8: the scenario has no parameter `aps`; did you mean `apps`?");
    }

    #[test]
    fn a_path_through_a_value_is_refused() {
        assert_snapshot!(with("machine.cores.x=8").unwrap_err(), @"--set machine.cores.x=8: `x` is inside the number 4, which has no keys; shorten the key");
    }

    #[test]
    fn empty_parts_and_open_quotes_are_refused() {
        assert_snapshot!(with("machine..x=8").unwrap_err(), @"--set machine..x=8: a part of the key is empty; write for example machine.vm.dirty_ratio");
        assert_snapshot!(with("'machine'.'x=8").unwrap_err(), @"--set 'machine'.'x=8: there is no `=`; write for example --set machine.vm.dirty_ratio=10");
    }

    #[test]
    fn a_process_as_a_whole_is_not_set() {
        assert_snapshot!(with("process.app{n}.task1=8").unwrap_err(), @"--set process.app{n}.task1=8: the key ends at the process `app{n}.task1`; say which of its keys, as process.app{n}.task1.count=8");
    }
}
