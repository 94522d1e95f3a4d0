//! Finds errors that will surely happen, without simulating: files that nobody makes and events that nobody signals.
//!
//! A pattern such as "/data/app{n}/f" is looked at in its first and its last copy and round only, so a hundred thousand copies cost as much
//! as one. Nothing that could work is refused. The order of operations is left out, and an unlinked file counts as made. If the host or
//! mount of a path is open, its last part decides alone.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::braces::Pattern;
use super::document::{Place, shorten};
use super::files::Files;
use super::paths::{Home, Mounts};
use super::program::{Role, Use};
use crate::error::ScenarioError;

/// So many similar patterns are compared with a text; if there are more, one of them is believed to fit.
const MOST_COMPARED: usize = 100;

/// Stands for any host.
const ANY_HOST: usize = usize::MAX;

/// What all processes make and need.
#[derive(Default)]
pub struct Certain {
    files: Known,
    events: Known,
    needs: Vec<Need>,
    has_unknown: bool,
}

/// A file or event without which an operation fails.
struct Need {
    verb: &'static str,
    /// As the process names it.
    name: String,
    /// Where its bytes are; none for an event.
    home: Option<Home>,
    at: Place,
}

impl Certain {
    /// Notes what the copies 1 to `count` of a process make; `host` is none if they run on different ones.
    pub fn note_made(&mut self, uses: &[Use], count: u32, host: Option<usize>, mounts: &Mounts<'_>) {
        for used in uses.iter().filter(|used| used.is_reached) {
            let most = || [&[count], &used.rounds[..]].concat();
            match used.role {
                Role::Signals => self.events.add(ANY_HOST, used.text.clone(), most()),
                Role::MakesFile => match host.and_then(|host| home_of_all(used, host, mounts)) {
                    Some(home) => {
                        let at_home = used.text.with_prefix(home.path.to_string());
                        self.files.add(home.host, at_home, most());
                    }
                    None => self.files.add(ANY_HOST, used.text.file_name(), most()),
                },
                Role::NeedsFile | Role::NeedsMount | Role::WaitsFor => {}
            }
        }
    }

    /// Notes what copy `n` of a process needs.
    ///
    /// # Errors
    /// If no mount covers a path.
    pub fn note_needed(
        &mut self,
        uses: &[Use],
        n: u32,
        host: usize,
        mounts: &Mounts<'_>,
    ) -> Result<(), ScenarioError> {
        let needed = |used: &&Use| matches!(used.role, Role::NeedsFile | Role::WaitsFor) && used.is_reached;
        for used in uses.iter().filter(needed) {
            let [first, last] = used.ends(n);
            let is_one = first == last;
            for name in std::iter::once(first).chain((!is_one).then_some(last)) {
                let home = used.is_path().then(|| mounts.home(host, &name.as_str().into(), &used.at));
                let (verb, home, at) = (used.verb, home.transpose()?, used.at.clone());
                self.needs.push(Need { verb, name, home, at });
            }
        }
        Ok(())
    }

    /// Checks all that was noted; `files` are those that exist before time 0.
    ///
    /// # Errors
    /// The first need that nothing meets.
    pub fn check(&self, files: &Files<'_>) -> Result<(), ScenarioError> {
        for Need { verb, name, home, at } in &self.needs {
            let shown = shorten(name);
            match home {
                None if !self.events.has(ANY_HOST, name) => {
                    let what = format!("`{verb}` needs the event \"{shown}\", which no process signals");
                    let remedy = format!("correct it, or add {{ signal = \"{shown}\" }} to a process");
                    return Err(at.error(what, remedy));
                }
                Some(home) if !(files.has(home) || self.is_made(home)) => {
                    let what =
                        format!("`{verb}` needs \"{shown}\", which no [[file]] makes and no process writes");
                    return Err(at.error(what, "correct the path, add a [[file]], or write it first"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes a process of which it is not known what it makes.
    pub fn note_unknown(&mut self) {
        self.has_unknown = true;
    }

    fn is_made(&self, home: &Home) -> bool {
        let name = home.path.rsplit('/').next().unwrap_or_default();
        // A directory that is renamed has its files below the new name.
        let mut above = home.path.match_indices('/').map(|(at, _)| &home.path[..at]).chain([&*home.path]);
        self.has_unknown
            || above.any(|path| self.files.has(home.host, path))
            || self.files.has(ANY_HOST, name)
    }
}

/// Where the path up to its first number leads, if that is the same mount for every copy and round.
fn home_of_all(used: &Use, host: usize, mounts: &Mounts<'_>) -> Option<Home> {
    let prefix = used.text.prefix();
    let is_one = used.text.is_constant() || !mounts.may_be_below(host, prefix);
    is_one.then(|| mounts.home(host, &prefix.into(), &used.at).ok()).flatten()
}

/// A pattern and the largest numbers that it is used with.
type Ranged = (Pattern, Vec<u32>);

/// Names on hosts, written out or as patterns.
#[derive(Default)]
struct Known {
    exact: FxHashSet<(usize, Arc<str>)>,
    /// By host and shape.
    patterns: FxHashMap<(usize, String), Vec<Ranged>>,
}

impl Known {
    fn add(&mut self, host: usize, name: Pattern, most: Vec<u32>) {
        if name.is_constant() {
            self.exact.insert((host, name.prefix().into()));
            return;
        }
        let similar = self.patterns.entry((host, shape(&name.render(&most)))).or_default();
        if similar.len() <= MOST_COMPARED {
            similar.push((name, most));
        }
    }

    fn has(&self, host: usize, name: &str) -> bool {
        self.exact.contains(&(host, name.into()))
            || self.patterns.get(&(host, shape(name))).is_some_and(|similar| {
                similar.len() > MOST_COMPARED
                    || similar.iter().any(|(pattern, most)| pattern.may_become(name, most))
            })
    }
}

/// The text with "#" for every number: the same for all that a pattern can become.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            other => shape.push(other),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{HOSTS, MACHINE, read, refusal};

    /// A process and its operations; `rest` are its other keys.
    fn process(name: &str, operations: &str, rest: &str) -> String {
        format!("[[process]]\nname = '{name}'\ndo = [ {operations} ]\n{rest}\n")
    }

    fn error(processes: &[String]) -> String {
        refusal(&format!("{MACHINE}\n{}", processes.concat()))
    }

    /// Why it is refused, if it is; the first host of two is the client.
    fn check(machine: &str, processes: &[String]) -> Result<(), String> {
        read(&format!("{machine}\n{}", processes.concat()), &[]).map(|_| ())
    }

    fn writes(path: &str) -> String {
        format!("{{ write = '{path}', size = '1 GB' }}")
    }

    fn reads(path: &str) -> String {
        format!("{{ read = '{path}' }}")
    }

    #[test]
    fn a_file_that_nobody_makes_is_refused() {
        assert_snapshot!(error(&[process("a", &reads("/data/f"), "")]), @r#"x.toml:4: `read` needs "/data/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
        assert_snapshot!(error(&[process("a", "{ open = '/data/f' }", ""), process("b", &writes("/data/g"), "")]), @r#"x.toml:4: `open` needs "/data/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
    }

    #[test]
    fn a_file_may_be_made_by_anybody_at_any_time() {
        let reader = || process("a", &reads("/data/f"), "");
        for made in [writes("/data/f"), "{ open = '/data//f', create = true }".to_owned()] {
            assert_eq!(check(MACHINE, &[reader(), process("b", &made, "start = '5 s'")]), Ok(()));
        }
        let file = "[[file]]\npath = '/data/f'\nsize = '1 GB'\n".to_owned();
        assert_eq!(check(MACHINE, &[file, process("b", "{ unlink = '/data/f' }", ""), reader()]), Ok(()));
    }

    #[test]
    fn what_stands_after_an_exit_is_never_done() {
        let after_exit =
            |operation: &str| format!("{{ repeat = 2, do = [ {{ exit = true }} ] }}, {operation}");
        assert_eq!(check(MACHINE, &[process("a", &after_exit(&reads("/data/f")), "")]), Ok(()));
        let made_too_late = process("a", &after_exit(&writes("/data/f")), "");
        assert_snapshot!(error(&[made_too_late, process("b", &reads("/data/f"), "")]), @r#"x.toml:8: `read` needs "/data/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
    }

    #[test]
    fn the_first_and_the_last_copy_and_round_need_their_files() {
        let made = |count: u32| process("a{n}", &writes("/data/app{n}/f"), &format!("count = {count}"));
        let needed = || process("b{n}", &reads("/data/app{n}/f"), "count = 3");
        assert_eq!(check(MACHINE, &[made(3), needed()]), Ok(()));
        assert_snapshot!(error(&[made(2), needed()]), @r#"x.toml:8: `read` needs "/data/app3/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
        let files = |count| format!("[[file]]\npath = '/data/app{{n}}/f'\nsize = '1 GB'\ncount = {count}\n");
        assert_eq!(check(MACHINE, &[files(3), needed()]), Ok(()));
        let rounds =
            process("c", &format!("{{ repeat = 3, as = 'k', do = [ {} ] }}", reads("/data/app{k}/f")), "");
        assert_eq!(check(MACHINE, &[files(3), rounds.clone()]), Ok(()));
        assert_snapshot!(error(&[files(2), rounds]), @r#"x.toml:8: `read` needs "/data/app3/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
    }

    #[test]
    fn numbers_of_different_kinds_meet() {
        let rounds = format!("{{ repeat = 20, as = 'k', do = [ {} ] }}", writes("/data/f{n}{k}"));
        let needs = |path: &str| {
            check(MACHINE, &[process("a{n}", &rounds, "count = 2"), process("b", &reads(path), "")])
        };
        assert_eq!(["/data/f11", "/data/f220", "/data/f120"].map(needs), [Ok(()), Ok(()), Ok(())]);
        assert!(
            ["/data/f31", "/data/f221", "/data/f2", "/data/f20"].into_iter().all(|path| needs(path).is_err())
        );
    }

    #[test]
    fn a_file_is_found_under_its_name_on_another_host() {
        let written = |path: &str, host: &str| process("a", &writes(path), &format!("host = '{host}'"));
        let needed = |path: &str, host: &str| process("b", &reads(path), &format!("host = '{host}'"));
        let there = [written("/export/f", "server"), needed("/remote/f", "client")];
        let back = [written("/remote/f", "client"), needed("/export/f", "server")];
        assert_eq!([check(HOSTS, &there), check(HOSTS, &back)], [Ok(()), Ok(())]);
        let elsewhere = [written("/data/f", "client"), needed("/remote/f", "client")];
        assert_snapshot!(check(HOSTS, &elsewhere).unwrap_err(), @r#"x.toml:9: `read` needs "/remote/f", which no [[file]] makes and no process writes; correct the path, add a [[file]], or write it first"#);
        let copies = process("a{n}", &writes("/export/f{n}"), "host = 'server'\ncount = 2");
        assert_eq!(check(HOSTS, &[copies, needed("/remote/f2", "client")]), Ok(()));
    }

    #[test]
    fn where_the_mount_is_open_the_last_part_of_the_path_decides() {
        let hosts = HOSTS.replace("client", "node1").replace("server", "node2").replace("/export", "/remote");
        let copies = process("a{n}", &writes("/remote/x{n}/f{n}"), "host = 'node{n}'\ncount = 2");
        let needs =
            |path: &str| check(&hosts, &[copies.clone(), process("b", &reads(path), "host = 'node1'")]);
        assert_eq!([needs("/remote/x2/f2"), needs("/remote/y/f1")], [Ok(()), Ok(())]);
        assert!(needs("/remote/x2/f3").is_err());
        let below = MACHINE.replace(r#"mount."/data""#, r#"mount."/data/1".disk = "ssd", mount."/data""#);
        let by_number = process("a{n}", &writes("/data/{n}/f{n}"), "count = 2");
        assert_eq!(check(&below, &[by_number, process("b", &reads("/data/1/f1"), "")]), Ok(()));
    }

    #[test]
    fn too_many_similar_patterns_are_not_compared() {
        let many: Vec<String> = (0..200)
            .map(|i| process(&format!("a{i}.{{n}}"), &writes(&format!("/data/{i}/f{{n}}")), "count = 2"))
            .collect();
        let needs = |path: &str| check(MACHINE, &[many.concat(), process("b", &reads(path), "")]);
        assert_eq!(needs("/data/300/f1"), Ok(()));
        assert!(needs("/data/300/g1").is_err());
    }

    #[test]
    fn an_event_that_nobody_signals_is_refused() {
        assert_snapshot!(error(&[process("a", "{ wait = 'dawn' }", ""), process("b", "{ signal = 'down' }", "")]), @r#"x.toml:4: `wait` needs the event "dawn", which no process signals; correct it, or add { signal = "dawn" } to a process"#);
        let signals = "{ repeat = 3, as = 'k', do = [ { signal = 'go{n}.{k}' } ] }";
        let waits = |event: &str| {
            check(
                MACHINE,
                &[
                    process("a", &format!("{{ wait = '{event}' }}"), ""),
                    process("b{n}", signals, "count = 2"),
                ],
            )
        };
        assert_eq!([waits("go1.1"), waits("go2.3")], [Ok(()), Ok(())]);
        assert!(waits("go3.1").is_err() && waits("go1.4").is_err());
    }

    #[test]
    fn what_a_pattern_becomes_has_its_shape() {
        assert_eq!(shape("/data/a#12/3f{4"), "/data/a#/#f{#");
    }
}
