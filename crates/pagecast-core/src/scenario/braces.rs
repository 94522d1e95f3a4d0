//! `{n}` and `{parameter}` in strings. `{{` and `}}` stand for the braces themselves.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::document::{Node, Place, Value, shorten};
use super::nearest::hint;
use crate::error::ScenarioError;

/// The name that is no parameter: the number of a copy.
const COPY: &str = "n";

/// Parameters as text, by name.
pub type Parameters = BTreeMap<String, String>;

/// A string with the places where the number of the copy goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What stands between the numbers; one piece if there is none.
    pieces: Vec<String>,
}

impl Pattern {
    /// Understands `text`, in which parameters have been replaced already.
    ///
    /// # Errors
    /// A brace alone, or a name that is not `n`.
    pub fn parse(text: &str, at: &Place) -> Result<Self, ScenarioError> {
        if !text.contains(['{', '}']) {
            return Ok(Self { pieces: vec![text.to_owned()] });
        }
        let mut pieces = vec![String::new()];
        for piece in split(text, at)? {
            match piece {
                Piece::Text(text) => pieces.last_mut().expect("starts with one piece").push_str(text),
                Piece::Name(COPY) => pieces.push(String::new()),
                Piece::Name(name) => return Err(unknown(name, &Parameters::new(), at)),
            }
        }
        Ok(Self { pieces })
    }

    /// True if every copy has the same text.
    pub fn is_constant(&self) -> bool {
        self.pieces.len() == 1
    }

    /// The text up to the first number.
    pub fn prefix(&self) -> &str {
        &self.pieces[0]
    }

    /// The text of copy `n`.
    pub fn render(&self, n: u32) -> String {
        match &self.pieces[..] {
            [only] => only.clone(),
            pieces => pieces.join(&n.to_string()),
        }
    }
}

/// The text of a string for copy `n`; without a copy `{n}` is an error.
///
/// # Errors
/// As [`Pattern::parse`], and `{n}` where nothing is copied.
pub fn render<'a>(text: &'a str, n: Option<u32>, at: &Place) -> Result<Cow<'a, str>, ScenarioError> {
    if !text.contains(['{', '}']) {
        return Ok(Cow::Borrowed(text));
    }
    let pattern = Pattern::parse(text, at)?;
    if n.is_none() && !pattern.is_constant() {
        let what =
            format!("`{{n}}` in \"{}\" is the number of a copy, and nothing is copied here", shorten(text));
        return Err(at.error(what, "use it in [[file]] and [[process]] only"));
    }
    Ok(Cow::Owned(pattern.render(n.unwrap_or(0))))
}

/// True if the string is different in every copy.
pub fn has_copy_number(text: &str, at: &Place) -> Result<bool, ScenarioError> {
    Ok(text.contains('{') && !Pattern::parse(text, at)?.is_constant())
}

/// Replaces the parameters in all strings below `node`; `{n}`, `{{` and `}}` stay.
///
/// # Errors
/// A name that is no parameter, or a brace alone.
pub fn substitute(node: &mut Node, parameters: &Parameters) -> Result<(), ScenarioError> {
    match &mut node.value {
        Value::Text(text) if text.contains(['{', '}']) => *text = replaced(text, parameters, &node.at)?,
        Value::List(list) => list.iter_mut().try_for_each(|item| substitute(item, parameters))?,
        Value::Table(table) => {
            table.entries.iter_mut().try_for_each(|entry| substitute(&mut entry.node, parameters))?;
        }
        _ => {}
    }
    Ok(())
}

fn replaced(text: &str, parameters: &Parameters, at: &Place) -> Result<String, ScenarioError> {
    let mut result = String::with_capacity(text.len());
    for piece in split(text, at)? {
        match piece {
            // A brace that was written double is a piece of its own and must stay double.
            Piece::Text(brace @ ("{" | "}")) => result.push_str(&brace.repeat(2)),
            Piece::Text(text) => result.push_str(text),
            Piece::Name(COPY) => result.push_str("{n}"),
            Piece::Name(name) => {
                result.push_str(parameters.get(name).ok_or_else(|| unknown(name, parameters, at))?);
            }
        }
    }
    Ok(result)
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

fn unknown(name: &str, parameters: &Parameters, at: &Place) -> ScenarioError {
    let remedy = if parameters.is_empty() {
        "add it to [parameter], or write {{ for a brace".to_owned()
    } else {
        hint(name, parameters.keys().map(String::as_str), "known parameters")
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
        Place { source: "x.toml".into(), line: 7 }
    }

    #[test]
    fn a_pattern_puts_the_number_in_every_place() {
        let pattern = Pattern::parse("/data/app{n}/f{n}", &at()).unwrap();
        assert_eq!(pattern.render(12), "/data/app12/f12");
        assert_eq!(pattern.prefix(), "/data/app");
        assert!(!pattern.is_constant());
    }

    #[test]
    fn double_braces_are_braces_through_both_stages() {
        let once =
            replaced("{{{n}}} {apps}", &Parameters::from([("apps".into(), "3".into())]), &at()).unwrap();
        assert_eq!(once, "{{{n}}} 3");
        assert_eq!(render(&once, Some(5), &at()).unwrap(), "{5} 3");
    }

    #[test]
    fn a_parameter_may_hold_the_number_of_the_copy() {
        let parameters = Parameters::from([("dir".into(), "/data/app{n}".into())]);
        let once = replaced("{dir}/f1", &parameters, &at()).unwrap();
        assert_eq!(render(&once, Some(5), &at()).unwrap(), "/data/app5/f1");
    }

    #[test]
    fn an_unknown_parameter_names_the_nearest() {
        let parameters = Parameters::from([("apps".into(), "3".into())]);
        assert_snapshot!(replaced("{aps}", &parameters, &at()).unwrap_err(), @"x.toml:7: `{aps}` is no parameter; did you mean `apps`?");
        assert_snapshot!(render("{aps}", None, &at()).unwrap_err(), @"x.toml:7: `{aps}` is no parameter; add it to [parameter], or write {{ for a brace");
    }

    #[test]
    fn a_brace_alone_is_refused() {
        assert_snapshot!(render("{n", None, &at()).unwrap_err(), @r#"x.toml:7: "{n" has a `{` without its partner; write `{{` for a brace that is meant"#);
        assert_snapshot!(render("n}", None, &at()).unwrap_err(), @r#"x.toml:7: "n}" has a `}` without its partner; write `}}` for a brace that is meant"#);
    }

    #[test]
    fn the_number_of_a_copy_needs_copies() {
        assert_snapshot!(render("{n} GB", None, &at()).unwrap_err(), @r#"x.toml:7: `{n}` in "{n} GB" is the number of a copy, and nothing is copied here; use it in [[file]] and [[process]] only"#);
    }

    #[test]
    fn a_parameter_is_not_called_n() {
        assert_snapshot!(check_name("n", &at()).unwrap_err(), @"x.toml:7: a parameter cannot be called `n`, which is the number of a copy; choose another name");
        assert_snapshot!(check_name("a{", &at()).unwrap_err(), @"x.toml:7: `a{` cannot be the name of a parameter; use letters, digits and `_`");
    }
}
