//! Replaces `{n}`, `{parameter}` and the `{k}` of a loop in strings. `{{` and `}}` stand for the braces themselves.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::document::{Node, Place, Table, Value, shorten};
use crate::error::ScenarioError;
use crate::nearest::hint;
use crate::stop;

/// The name that is no parameter: the number of a copy.
const COPY: &str = "n";

/// The length of the longest text that parameters make: no path is longer (`PATH_MAX`, include/uapi/linux/limits.h).
const LONGEST: usize = 4096;

/// Parameters by name.
pub type Parameters = BTreeMap<String, Parameter>;

/// A parameter's value.
#[derive(Debug)]
pub struct Parameter {
    /// As text.
    pub text: String,
    /// Where it was given.
    pub at: Place,
}

/// What `{n}` is in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Nothing: such a table has no copies.
    Never,
    /// Nothing: a table of this kind ("process") could have copies, but has no `count`.
    NotCounted(&'static str),
    /// The number of a copy.
    Number(u32),
}

impl Copies {
    /// Of a table that may have a `count`: a copy of it if it has.
    pub fn of(kind: &'static str, count: Option<u32>, n: u32) -> Self {
        count.map_or(Self::NotCounted(kind), |_| Self::Number(n))
    }
}

/// A loop around an operation.
#[derive(Debug)]
pub struct Loop<'a> {
    /// What its operations call the number of its round.
    pub name: Option<&'a str>,
    /// The loop around it.
    pub outer: Option<&'a Self>,
}

/// Which numbers strings may have in a place.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The meaning of `{n}`.
    pub copies: Copies,
    /// The innermost loop.
    pub innermost: Option<&'a Loop<'a>>,
}

impl<'a> Scope<'a> {
    /// Outside of any loop.
    pub fn of(copies: Copies) -> Self {
        Self { copies, innermost: None }
    }

    fn loops(self) -> impl Iterator<Item = &'a Loop<'a>> {
        std::iter::successors(self.innermost, |inner| inner.outer)
    }

    /// The copy and the first round of every loop.
    pub fn first_numbers(&self) -> Vec<u32> {
        let copy = if let Copies::Number(n) = self.copies { n } else { 1 };
        std::iter::once(copy).chain(self.loops().map(|_| 1)).collect()
    }

    /// The place of a name's number: 0 is the copy, then come the loops from the outermost.
    fn slot(&self, name: &str, text: &str, at: &Place) -> Result<usize, ScenarioError> {
        let number = |what: &str| format!("`{{n}}` in \"{}\" is the number of a copy, {what}", shorten(text));
        match (name, self.copies) {
            (COPY, Copies::Number(_)) => Ok(0),
            (COPY, Copies::NotCounted(kind)) => {
                let what = number(&format!("but this {kind} has no `count`"));
                let or = if kind == "process" { ", or count rounds with `as` in `repeat`" } else { "" };
                Err(at.error(what, format!("add for example count = 8{or}")))
            }
            (COPY, Copies::Never) => {
                Err(at.error(number("and nothing is copied here"), "use it in [[file]] and [[process]] only"))
            }
            _ => {
                let inside = self.loops().position(|each| each.name == Some(name));
                let inside = inside.ok_or_else(|| unknown(name, &Parameters::new(), self.innermost, at))?;
                Ok(self.loops().count() - inside)
            }
        }
    }
}

/// A string with the places where numbers go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The text up to the first number.
    first: String,
    /// Which number comes next, and the text after it.
    rest: Vec<(usize, String)>,
}

impl Pattern {
    /// Understands `text`, in which parameters have been replaced already.
    ///
    /// # Errors
    /// A brace alone, or a name that means nothing here.
    pub fn parse(text: &str, scope: &Scope<'_>, at: &Place) -> Result<Self, ScenarioError> {
        let mut pattern = Self { first: String::new(), rest: Vec::new() };
        if !text.contains(['{', '}']) {
            text.clone_into(&mut pattern.first);
            return Ok(pattern);
        }
        for piece in split(text, at)? {
            match piece {
                Piece::Text(text) => {
                    pattern.rest.last_mut().map_or(&mut pattern.first, |(_, after)| after).push_str(text);
                }
                Piece::Name(name) => pattern.rest.push((scope.slot(name, text, at)?, String::new())),
            }
        }
        Ok(pattern)
    }

    /// True if it is the same text everywhere.
    pub fn is_constant(&self) -> bool {
        self.rest.is_empty()
    }

    /// True if the number in this place is part of it.
    pub fn has(&self, slot: usize) -> bool {
        self.rest.iter().any(|&(each, _)| each == slot)
    }

    /// The text up to the first number.
    pub fn prefix(&self) -> &str {
        &self.first
    }

    /// The same with another text up to the first number.
    pub fn with_prefix(&self, first: String) -> Self {
        Self { first, rest: self.rest.clone() }
    }

    /// The text with these numbers: of the copy, then of the round of each loop from the outermost.
    pub fn render(&self, numbers: &[u32]) -> String {
        let mut text = self.first.clone();
        for (slot, after) in &self.rest {
            text.push_str(&numbers[*slot].to_string());
            text.push_str(after);
        }
        text
    }

    /// What comes after the last slash.
    pub fn file_name(&self) -> Self {
        let name = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        match self.rest.iter().rposition(|(_, after)| after.contains('/')) {
            None => Self { first: name(&self.first), rest: self.rest.clone() },
            Some(at) => Self { first: name(&self.rest[at].1), rest: self.rest[at + 1..].to_vec() },
        }
    }

    /// False if `text` does not come out with any numbers from 1 to `most`. It may be true without need: a number that
    /// stands in two places is not compared.
    pub fn may_become(&self, text: &str, most: &[u32]) -> bool {
        let mut tails: Vec<&str> = text.strip_prefix(&*self.first).into_iter().collect();
        for (slot, after) in &self.rest {
            let numbers_off = tails.iter().flat_map(|tail| tails_after_number(tail, most[*slot]));
            let mut shorter: Vec<&str> = numbers_off.filter_map(|tail| tail.strip_prefix(&**after)).collect();
            shorter.sort_unstable_by_key(|tail| tail.len());
            shorter.dedup();
            tails = shorter;
        }
        tails.contains(&"")
    }
}

/// What is left of `text` after each number from 1 to `most` with which it begins.
fn tails_after_number(text: &str, most: u32) -> impl Iterator<Item = &str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let longest = if text.starts_with('0') { 0 } else { digits };
    let fits = move |length: &usize| text[..*length].parse::<u32>().is_ok_and(|number| number <= most);
    (1..=longest).take_while(fits).map(|length| &text[length..])
}

/// The text of a string in its copy and in the first round of its loops; without `may_have_rounds` these cannot be in it.
///
/// # Errors
/// As [`Pattern::parse`], and the number of a round where it may not be.
pub fn render<'a>(
    text: &'a str,
    scope: &Scope<'_>,
    may_have_rounds: bool,
    at: &Place,
) -> Result<Cow<'a, str>, ScenarioError> {
    if !text.contains(['{', '}']) {
        return Ok(Cow::Borrowed(text));
    }
    let pattern = Pattern::parse(text, scope, at)?;
    let depth = scope.loops().count();
    let named = scope.loops().enumerate().find(|&(inside, _)| pattern.has(depth - inside));
    match named.and_then(|(_, each)| each.name) {
        Some(name) if !may_have_rounds => {
            let what = format!(
                "`{{{name}}}` in \"{}\" is the number of a round, which only paths and events can have",
                shorten(text)
            );
            Err(at.error(what, "write the value out, or build the scenario in Python"))
        }
        _ => Ok(Cow::Owned(pattern.render(&scope.first_numbers()))),
    }
}

/// True if the string is different in every copy.
///
/// # Errors
/// A brace alone.
pub fn has_copy_number(text: &str, at: &Place) -> Result<bool, ScenarioError> {
    Ok(text.contains('{') && split(text, at)?.iter().any(|piece| matches!(piece, Piece::Name(COPY))))
}

/// Replaces the parameters in all strings below `node`; `{n}`, the rounds of the loops, `{{` and `}}` stay.
///
/// # Errors
/// A name that is no parameter, a brace alone, or a loop whose rounds have a name that is taken.
pub fn substitute(
    node: &mut Node,
    parameters: &Parameters,
    innermost: Option<&Loop<'_>>,
) -> Result<(), ScenarioError> {
    stop::spend(1);
    match &mut node.value {
        Value::Text(text) if text.contains(['{', '}']) => {
            let (with_values, origin) = replaced(text, parameters, innermost, &node.at)?;
            *text = with_values;
            node.at.origin = origin.map(Into::into);
        }
        Value::List(list) => {
            list.iter_mut().try_for_each(|item| substitute(item, parameters, innermost))?;
        }
        Value::Table(table) => {
            let name = name_of_round(table, parameters, innermost)?;
            let inside = Loop { name: name.as_deref(), outer: innermost };
            for entry in &mut table.entries {
                let is_inside = name.is_some() && entry.key == "do";
                substitute(&mut entry.node, parameters, if is_inside { Some(&inside) } else { innermost })?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What a loop calls the number of its round; none if the table is no loop.
fn name_of_round(
    table: &Table,
    parameters: &Parameters,
    innermost: Option<&Loop<'_>>,
) -> Result<Option<String>, ScenarioError> {
    let (Some(_), Some(node)) = (table.get("repeat"), table.get("as")) else { return Ok(None) };
    let Value::Text(name) = &node.value else {
        let what = format!("`as` is {}, but must be a name", node.describe());
        return Err(node.at.error(what, "write for example as = \"k\""));
    };
    let is_outer = Scope { copies: Copies::Never, innermost }.loops().any(|each| each.name == Some(name));
    let taken = match () {
        () if name == COPY => "the number of a copy",
        () if parameters.contains_key(name) => "a parameter",
        () if is_outer => "the round of a loop around it",
        () if name.trim().is_empty() || name.contains(['{', '}']) || name.contains(char::is_control) => {
            let what = format!("`as` is \"{}\", which cannot be a name", shorten(name));
            return Err(node.at.error(what, "use letters, digits and `_`"));
        }
        () => return Ok(Some(name.clone())),
    };
    let what = format!("`as` cannot be \"{}\", which is {taken}", shorten(name));
    Err(node.at.error(what, "choose another name"))
}

/// The text with its parameters' values, and where these come from, if there are any.
fn replaced(
    text: &str,
    parameters: &Parameters,
    innermost: Option<&Loop<'_>>,
    at: &Place,
) -> Result<(String, Option<String>), ScenarioError> {
    let mut result = String::with_capacity(text.len());
    let mut origins: Vec<String> = Vec::new();
    let scope = Scope { copies: Copies::Never, innermost };
    for piece in split(text, at)? {
        match piece {
            // A brace that was written double is a piece of its own and must stay double.
            Piece::Text(brace @ ("{" | "}")) => result.push_str(&brace.repeat(2)),
            Piece::Text(text) => result.push_str(text),
            Piece::Name(name) if name == COPY || scope.loops().any(|each| each.name == Some(name)) => {
                result.push_str(&format!("{{{name}}}"));
            }
            Piece::Name(name) => {
                let Parameter { text, at: given } =
                    parameters.get(name).ok_or_else(|| unknown(name, parameters, innermost, at))?;
                result.push_str(text);
                let origin = format!("`{{{}}}` comes from {given}", shorten(name));
                let origin = given.origin.iter().fold(origin, |text, before| format!("{text}, {before}"));
                if !origins.contains(&origin) {
                    origins.push(origin);
                }
            }
        }
        if result.len() > LONGEST && !origins.is_empty() {
            let what = format!("\"{}\" is longer than {LONGEST} bytes with its parameters", shorten(text));
            return Err(at.error(what, "write something shorter"));
        }
    }
    Ok((result, (!origins.is_empty()).then(|| origins.join(", "))))
}

/// Refuses a parameter's name that could not be used.
///
/// # Errors
/// `n`, and names with braces in them.
pub fn check_name(name: &str, at: &Place) -> Result<(), ScenarioError> {
    if name == COPY {
        return Err(at.error(
            "a parameter cannot be called `n`, which is the number of a copy",
            "choose another name",
        ));
    }
    if name.is_empty() || name.contains(['{', '}']) {
        return Err(at.error(
            format!("`{}` cannot be the name of a parameter", shorten(name)),
            "use letters, digits and `_`",
        ));
    }
    Ok(())
}

fn unknown(name: &str, parameters: &Parameters, innermost: Option<&Loop<'_>>, at: &Place) -> ScenarioError {
    let rounds = Scope { copies: Copies::Never, innermost }.loops().filter_map(|each| each.name);
    let known: Vec<&str> = rounds.chain(parameters.keys().map(String::as_str)).collect();
    let remedy = if known.is_empty() {
        "add it to [parameter], or write {{ for a brace".to_owned()
    } else {
        hint(name, known, "known parameters")
    };
    at.error(format!("`{{{}}}` is no parameter", shorten(name)), remedy)
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn split<'a>(text: &'a str, at: &Place) -> Result<Vec<Piece<'a>>, ScenarioError> {
    let alone = |brace: char| {
        let what = format!("\"{}\" has a `{brace}` without its partner", shorten(text));
        at.error(what, format!("write `{brace}{brace}` for a brace that is meant"))
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(found) = rest.find(['{', '}']) {
        if found > 0 {
            pieces.push(Piece::Text(&rest[..found]));
        }
        rest = &rest[found..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            pieces.push(Piece::Text(&rest[..1]));
            rest = &rest[2..];
        } else if rest.starts_with('{') {
            let end = rest.find('}').ok_or_else(|| alone('{'))?;
            pieces.push(Piece::Name(&rest[1..end]));
            rest = &rest[end + 1..];
        } else {
            return Err(alone('}'));
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn at() -> Place {
        Place { line: 7, ..Place::whole("x.toml") }
    }

    fn copy(n: u32) -> Scope<'static> {
        Scope::of(Copies::Number(n))
    }

    const NOWHERE: Scope<'_> = Scope { copies: Copies::Never, innermost: None };

    fn parameters(all: &[(&str, &str)]) -> Parameters {
        let each = |&(name, text): &(&str, &str)| (name.into(), Parameter { text: text.into(), at: at() });
        all.iter().map(each).collect()
    }

    fn with_values(text: &str, all: &[(&str, &str)]) -> Result<String, ScenarioError> {
        replaced(text, &parameters(all), None, &at()).map(|(text, _)| text)
    }

    #[test]
    fn a_pattern_puts_the_number_in_every_place() {
        let pattern = Pattern::parse("/data/app{n}/f{n}", &copy(1), &at()).unwrap();
        assert_eq!(pattern.render(&[12]), "/data/app12/f12");
        assert_eq!(pattern.prefix(), "/data/app");
        assert!(!pattern.is_constant());
    }

    #[test]
    fn loops_have_their_own_numbers() {
        let outer = Loop { name: Some("i"), outer: None };
        let unnamed = Loop { name: None, outer: Some(&outer) };
        let inner = Loop { name: Some("k"), outer: Some(&unnamed) };
        let scope = Scope { innermost: Some(&inner), ..copy(1) };
        let pattern = Pattern::parse("{k}.{n}/{i}{k}", &scope, &at()).unwrap();
        assert_eq!(pattern.render(&[5, 6, 7, 8]), "8.5/68");
        assert_eq!(pattern.file_name().render(&[5, 6, 7, 8]), "68");
        assert_eq!([0, 1, 2, 3].map(|slot| pattern.has(slot)), [true, true, false, true]);
    }

    #[test]
    fn a_pattern_knows_what_it_may_become() {
        let may_become =
            |text: &str| Pattern::parse("app{n}/f{n}0", &copy(1), &at()).unwrap().may_become(text, &[12]);
        assert!(may_become("app1/f10") && may_become("app12/f120"));
        let others =
            ["app13/f10", "app0/f10", "app01/f10", "app1/f1", "app1/f10x", "app/f10", "xapp1/f10", ""];
        assert_eq!(others.map(may_become), [false; 8]);
        let digits = Pattern::parse("{n}1{n}", &copy(1), &at()).unwrap();
        assert!(digits.may_become("111", &[9]) && digits.may_become("11111", &[11]));
        assert!(!digits.may_become("11111", &[9]));
    }

    #[test]
    fn double_braces_are_braces_through_both_stages() {
        let once = with_values("{{{n}}} {apps}", &[("apps", "3")]).unwrap();
        assert_eq!(once, "{{{n}}} 3");
        assert_eq!(render(&once, &copy(5), false, &at()).unwrap(), "{5} 3");
    }

    #[test]
    fn a_parameter_may_hold_the_number_of_the_copy() {
        let once = with_values("{dir}/f1", &[("dir", "/data/app{n}")]).unwrap();
        assert_eq!(render(&once, &copy(5), false, &at()).unwrap(), "/data/app5/f1");
    }

    #[test]
    fn a_value_knows_the_parameters_it_comes_from() {
        let (_, origin) = replaced("{a}{b}{a}", &parameters(&[("a", "1"), ("b", "2")]), None, &at()).unwrap();
        assert_snapshot!(origin.unwrap(), @"`{a}` comes from x.toml:7, `{b}` comes from x.toml:7");
        assert_eq!(replaced("{n}", &parameters(&[]), None, &at()).unwrap().1, None);
    }

    #[test]
    fn an_unknown_parameter_names_the_nearest() {
        assert_snapshot!(with_values("{aps}", &[("apps", "3")]).unwrap_err(), @"x.toml:7: `{aps}` is no parameter; did you mean `apps`?");
        assert_snapshot!(render("{aps}", &NOWHERE, false, &at()).unwrap_err(), @"x.toml:7: `{aps}` is no parameter; add it to [parameter], or write {{ for a brace");
    }

    #[test]
    fn a_brace_alone_is_refused() {
        assert_snapshot!(render("{n", &NOWHERE, false, &at()).unwrap_err(), @r#"x.toml:7: "{n" has a `{` without its partner; write `{{` for a brace that is meant"#);
        assert_snapshot!(render("n}", &NOWHERE, false, &at()).unwrap_err(), @r#"x.toml:7: "n}" has a `}` without its partner; write `}}` for a brace that is meant"#);
    }

    #[test]
    fn the_number_of_a_copy_needs_copies() {
        assert_snapshot!(render("{n} GB", &NOWHERE, false, &at()).unwrap_err(), @r#"x.toml:7: `{n}` in "{n} GB" is the number of a copy, and nothing is copied here; use it in [[file]] and [[process]] only"#);
        let not_counted = |kind| {
            render("f{n}", &Scope::of(Copies::NotCounted(kind)), false, &at()).unwrap_err().to_string()
        };
        assert_snapshot!(not_counted("file"), @r#"x.toml:7: `{n}` in "f{n}" is the number of a copy, but this file has no `count`; add for example count = 8"#);
        assert_snapshot!(not_counted("process"), @r#"x.toml:7: `{n}` in "f{n}" is the number of a copy, but this process has no `count`; add for example count = 8, or count rounds with `as` in `repeat`"#);
    }

    #[test]
    fn a_parameter_is_not_called_n() {
        assert_snapshot!(check_name("n", &at()).unwrap_err(), @"x.toml:7: a parameter cannot be called `n`, which is the number of a copy; choose another name");
        assert_snapshot!(check_name("a{", &at()).unwrap_err(), @"x.toml:7: `a{` cannot be the name of a parameter; use letters, digits and `_`");
    }
}
