//! Parses the declarations of a net: colour sets, variables, values, functions, references.

use super::ast::{Colset, ColsetKind, Declaration, Expr};
use super::lexer::Lexeme;
use super::parser::Parser;
use crate::error::MlError;

/// Parses all declarations of a text.
pub fn declarations(text: &str) -> Result<Vec<Declaration>, MlError> {
    let mut parser = Parser::new(text)?;
    let mut found = Vec::new();
    loop {
        while parser.takes_sign(";") {}
        if *parser.peek() == Lexeme::End {
            return Ok(found);
        }
        found.push(parser.declaration()?);
    }
}

impl Parser {
    fn declaration(&mut self) -> Result<Declaration, MlError> {
        let at = self.at();
        if self.takes_word("colset") {
            return self.colset();
        }
        if self.takes_word("var") {
            let mut names = vec![self.name("the name of a variable")?];
            while self.takes_sign(",") {
                names.push(self.name("the name of a variable")?);
            }
            self.sign(":")?;
            return Ok(Declaration::Var(names, self.type_expression()?));
        }
        if self.takes_word("globref") {
            let (name, _) = self.name("the name of a reference")?;
            self.sign("=")?;
            return Ok(Declaration::Globref(name, self.expression()?));
        }
        if self.takes_word("exception") {
            let (name, _) = self.name("the name of an exception")?;
            let argument = if self.takes_word("of") { Some(self.type_expression()?) } else { None };
            return Ok(Declaration::Exception(name, argument, at));
        }
        if matches!(self.peek(), Lexeme::Word("val" | "fun")) {
            return self.value_declaration();
        }
        Err(self.expected_or_unsupported("`colset`, `var`, `val`, `fun`, `globref` or `exception`"))
    }

    fn colset(&mut self) -> Result<Declaration, MlError> {
        let (name, at) = self.name("the name of a colour set")?;
        self.sign("=")?;
        let kind = self.colset_kind()?;
        let timed = self.takes_name("timed");
        if self.takes_name("declare") {
            // The functions that CPN Tools would declare are always there.
            self.name("the name of a function")?;
            while self.takes_sign(",") {
                self.name("the name of a function")?;
            }
        }
        Ok(Declaration::Colset(Colset { name, at, kind, timed }))
    }

    fn colset_kind(&mut self) -> Result<ColsetKind, MlError> {
        if self.takes_name("with") {
            let mut names = vec![self.name("an element")?];
            while self.takes_sign("|") {
                names.push(self.name("an element")?);
            }
            return Ok(ColsetKind::Enum(names));
        }
        let (name, at) = self.name("a colour set")?;
        Ok(match name.as_str() {
            "unit" => ColsetKind::Unit(if self.takes_name("with") {
                Some(self.name("the name of the unit")?.0)
            } else {
                None
            }),
            "bool" => ColsetKind::Bool(if self.takes_name("with") {
                self.sign("(")?;
                let (no, _) = self.name("a name for false")?;
                self.sign(",")?;
                let (yes, _) = self.name("a name for true")?;
                self.sign(")")?;
                Some((no, yes))
            } else {
                None
            }),
            "int" | "intinf" => ColsetKind::Int(self.range()?),
            "real" => ColsetKind::Real(self.range()?),
            "time" => ColsetKind::Time,
            "string" => {
                let characters = self.range()?;
                let length = if characters.is_some() && self.takes_word("and") {
                    let low = self.expression()?;
                    self.sign("..")?;
                    Some((low, self.expression()?))
                } else {
                    None
                };
                ColsetKind::Str(characters, length)
            }
            "index" => {
                let (constructor, _) = self.name("the name of the index")?;
                let at = self.at();
                let (low, high) = self
                    .range()?
                    .ok_or_else(|| MlError::new(at, "an index wants its range, as in `with 1..n`"))?;
                ColsetKind::Index(constructor, low, high)
            }
            "product" => {
                let mut parts = vec![self.name("a colour set")?];
                while self.takes_sign("*") {
                    parts.push(self.name("a colour set")?);
                }
                ColsetKind::Product(parts)
            }
            "record" => {
                let mut fields = vec![self.field()?];
                while self.takes_sign("*") {
                    fields.push(self.field()?);
                }
                ColsetKind::Record(fields)
            }
            "list" => {
                let (item, at) = self.name("a colour set")?;
                ColsetKind::List(item, at, self.range()?)
            }
            "union" => {
                let mut parts = vec![self.alternative()?];
                while self.takes_sign("+") {
                    parts.push(self.alternative()?);
                }
                ColsetKind::Union(parts)
            }
            "subset" => {
                let (of, at) = self.name("a colour set")?;
                if self.takes_name("by") {
                    ColsetKind::SubsetBy(of, at, self.expression()?)
                } else if self.takes_name("with") {
                    ColsetKind::SubsetWith(of, at, self.expression()?)
                } else {
                    return Err(self.expected("`by` or `with`"));
                }
            }
            _ => ColsetKind::Alias(name, at),
        })
    }

    fn range(&mut self) -> Result<Option<(Expr, Expr)>, MlError> {
        if !self.takes_name("with") {
            return Ok(None);
        }
        let low = self.expression()?;
        self.sign("..")?;
        Ok(Some((low, self.expression()?)))
    }

    fn field(&mut self) -> Result<(String, String, usize), MlError> {
        let (label, _) = self.name("the label of a field")?;
        self.sign(":")?;
        let (colset, at) = self.name("a colour set")?;
        Ok((label, colset, at))
    }

    fn alternative(&mut self) -> Result<(String, Option<(String, usize)>), MlError> {
        let (name, _) = self.name("a constructor")?;
        Ok((name, if self.takes_sign(":") { Some(self.name("a colour set")?) } else { None }))
    }
}
