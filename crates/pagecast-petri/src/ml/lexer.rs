//! Splits a text of CPN ML into words, numbers, strings and operators.

use crate::error::MlError;

/// A token of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Lexeme {
    /// A name, perhaps with its structure in front: `List.take`.
    Name(String),
    /// A reserved word.
    Word(&'static str),
    /// An integer.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A string.
    Str(String),
    /// A character, `#"a"`.
    Char(String),
    /// The type of a polymorphic function, such as `'a`.
    TypeVar(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Lexeme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Int(value) => write!(f, "`{value}`"),
            Self::Real(value) => write!(f, "`{value}`"),
            Self::Str(_) => write!(f, "a string"),
            Self::Char(_) => write!(f, "a character"),
            Self::TypeVar(name) => write!(f, "`{name}`"),
            Self::Sign("`") => write!(f, "a backquote"),
            Self::Sign(sign) => write!(f, "`{sign}`"),
            Self::End => write!(f, "the end of the text"),
        }
    }
}

/// Reserved words: those of Standard ML that are understood, and those of declarations.
const WORDS: [&str; 29] = [
    "if",
    "then",
    "else",
    "let",
    "val",
    "in",
    "end",
    "fun",
    "fn",
    "case",
    "of",
    "andalso",
    "orelse",
    "div",
    "mod",
    "rec",
    "and",
    "raise",
    "handle",
    "op",
    "as",
    "colset",
    "var",
    "globref",
    "exception",
    "datatype",
    "local",
    "while",
    "do",
];

/// Operators and brackets; of those that begin alike, the longest first.
const SIGNS: [&str; 45] = [
    "...", "<><>", "+++", "<<=", ">>=", "@@+", "@++", "@+", "**", ":=", "<<", ">>", "==", "=>", "->", "<=",
    ">=", "<>", "::", "++", "--", "^^", "..", "@", "^", "+", "-", "*", "/", "<", ">", "=", "|", ":", ",",
    ";", "(", ")", "[", "]", "{", "}", "#", "!", "`",
];

/// Splits a text; each token comes with its offset, and the last one is `End`.
pub fn lexemes(text: &str) -> Result<Vec<(Lexeme, usize)>, MlError> {
    Lexer { text, bytes: text.as_bytes(), at: 0 }.all()
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn all(mut self) -> Result<Vec<(Lexeme, usize)>, MlError> {
        let mut found = Vec::new();
        loop {
            self.skip_blanks()?;
            let start = self.at;
            let Some(&byte) = self.bytes.get(start) else {
                found.push((Lexeme::End, start));
                return Ok(found);
            };
            let lexeme = match byte {
                b'0'..=b'9' => self.number(false)?,
                b'~' if self.bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => {
                    self.at += 1;
                    self.number(true)?
                }
                b'~' => {
                    self.at += 1;
                    Lexeme::Name("~".into())
                }
                b'"' => Lexeme::Str(self.string()?),
                b'#' if self.bytes.get(start + 1) == Some(&b'"') => {
                    self.at += 1;
                    Lexeme::Char(self.character(start)?)
                }
                b'\'' => {
                    self.at += 1;
                    let name = self.word();
                    Lexeme::TypeVar(format!("'{name}"))
                }
                b'_' if !self.bytes.get(start + 1).is_some_and(|&next| is_in_name(next)) => {
                    self.at += 1;
                    Lexeme::Sign("_")
                }
                byte if byte.is_ascii_alphabetic() || byte == b'_' => self.name(),
                _ => self.sign()?,
            };
            found.push((lexeme, start));
        }
    }

    /// Spaces and comments, which may be nested.
    fn skip_blanks(&mut self) -> Result<(), MlError> {
        let mut open = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(b"(*") {
                open.push(self.at);
                self.at += 2;
            } else if rest.starts_with(b"*)") && !open.is_empty() {
                open.pop();
                self.at += 2;
            } else if rest.first().is_some_and(|byte| !open.is_empty() || byte.is_ascii_whitespace()) {
                self.at += 1;
            } else if let Some(&start) = open.last() {
                return Err(MlError::new(start, "this comment is not closed; end it with `*)`"));
            } else {
                return Ok(());
            }
        }
    }

    fn digits(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn number(&mut self, negative: bool) -> Result<Lexeme, MlError> {
        if let Some(hexadecimal) = self.hexadecimal(negative)? {
            return Ok(hexadecimal);
        }
        let start = self.at;
        self.digits();
        let mut is_real = false;
        if self.bytes.get(self.at) == Some(&b'.')
            && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit)
        {
            is_real = true;
            self.at += 1;
            self.digits();
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            let sign = usize::from(matches!(self.bytes.get(self.at + 1), Some(b'~' | b'-' | b'+')));
            if self.bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                is_real = true;
                self.at += 1 + sign;
                self.digits();
            }
        }
        let digits = self.text[start..self.at].replace('~', "-");
        if is_real {
            let value: f64 = digits.parse().expect("the digits of a real number");
            return Ok(Lexeme::Real(if negative { -value } else { value }));
        }
        let signed = if negative { format!("-{digits}") } else { digits };
        signed.parse().map(Lexeme::Int).map_err(|_| too_large(start, &signed))
    }

    /// `0x` and digits, if they come next.
    fn hexadecimal(&mut self, negative: bool) -> Result<Option<Lexeme>, MlError> {
        let start = self.at;
        let Some(rest) = self.text[start..].strip_prefix("0x") else { return Ok(None) };
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        if end == 0 {
            return Ok(None);
        }
        self.at += 2 + end;
        let signed = format!("{}{}", if negative { "-" } else { "" }, &rest[..end]);
        let value = i64::from_str_radix(&signed, 16);
        value.map(|value| Some(Lexeme::Int(value))).map_err(|_| too_large(start, &self.text[start..self.at]))
    }

    fn string(&mut self) -> Result<String, MlError> {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let Some(next) = self.text[self.at..].chars().next() else {
                return Err(MlError::new(start, "this string is not closed; end it with `\"`"));
            };
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(value),
                '\\' => self.escape(&mut value)?,
                '\n' => {
                    return Err(MlError::new(
                        start,
                        "this string is not closed on its line; end it with `\"`",
                    ));
                }
                _ => value.push(next),
            }
        }
    }

    fn escape(&mut self, value: &mut String) -> Result<(), MlError> {
        let at = self.at - 1;
        let wrong = || MlError::new(at, r#"no such escape; there are \n, \t, \\, \" and \ddd"#);
        let byte = *self.bytes.get(self.at).ok_or_else(wrong)?;
        match byte {
            b'n' => value.push('\n'),
            b't' => value.push('\t'),
            b'\\' | b'"' => value.push(char::from(byte)),
            b'0'..=b'9' => {
                let digits = self.text.get(self.at..self.at + 3).ok_or_else(wrong)?;
                let code: u8 = digits.parse().map_err(|_| wrong())?;
                value.push(char::from(code));
                self.at += 2;
            }
            byte if byte.is_ascii_whitespace() => {
                while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
                    self.at += 1;
                }
                if self.bytes.get(self.at) != Some(&b'\\') {
                    return Err(wrong());
                }
            }
            _ => return Err(wrong()),
        }
        self.at += 1;
        Ok(())
    }

    fn character(&mut self, start: usize) -> Result<String, MlError> {
        let text = self.string()?;
        if text.chars().count() == 1 {
            return Ok(text);
        }
        Err(MlError::new(start, "a character is a string of one, as in #\"a\""))
    }

    fn word(&mut self) -> &str {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|&byte| is_in_name(byte)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn name(&mut self) -> Lexeme {
        let start = self.at;
        let word = self.word();
        if let Some(&word) = WORDS.iter().find(|&&known| known == word) {
            return Lexeme::Word(word);
        }
        while self.bytes.get(self.at) == Some(&b'.')
            && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_alphabetic)
        {
            self.at += 1;
            self.word();
        }
        Lexeme::Name(self.text[start..self.at].to_owned())
    }

    fn sign(&mut self) -> Result<Lexeme, MlError> {
        let rest = &self.text[self.at..];
        if let Some(&sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            return Ok(Lexeme::Sign(sign));
        }
        let wrong = rest.chars().next().unwrap_or_default();
        Err(MlError::new(self.at, format!("`{}` has no meaning in CPN ML", wrong.escape_default())))
    }
}

fn too_large(at: usize, integer: &str) -> MlError {
    MlError::new(at, format!("the integer {integer} is too large; integers have 64 bits"))
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\''
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Lexeme> {
        lexemes(text).unwrap().into_iter().map(|(lexeme, _)| lexeme).collect()
    }

    #[test]
    fn a_tilde_before_a_digit_is_the_sign_of_a_number() {
        assert_eq!(
            of("~5 ~ x"),
            [Lexeme::Int(-5), Lexeme::Name("~".into()), Lexeme::Name("x".into()), Lexeme::End]
        );
    }

    #[test]
    fn the_longest_operator_is_taken() {
        assert_eq!(
            of("x@++y"),
            [Lexeme::Name("x".into()), Lexeme::Sign("@++"), Lexeme::Name("y".into()), Lexeme::End]
        );
    }

    #[test]
    fn comments_may_be_nested() {
        assert_eq!(of("(* a (* b *) c *) 1"), [Lexeme::Int(1), Lexeme::End]);
        assert_eq!(lexemes("1 (* a").unwrap_err().offset, 2);
    }

    #[test]
    fn a_name_has_its_structure_with_it() {
        assert_eq!(of("List.take")[0], Lexeme::Name("List.take".into()));
        assert_eq!(of("n''1")[0], Lexeme::Name("n''1".into()));
    }

    #[test]
    fn an_integer_beyond_64_bits_is_refused() {
        assert!(lexemes("99999999999999999999").is_err());
        assert!(lexemes("0xFFFFFFFFFFFFFFFF").is_err());
    }

    #[test]
    fn an_integer_may_be_hexadecimal() {
        assert_eq!(of("0xFf ~0x10"), [Lexeme::Int(255), Lexeme::Int(-16), Lexeme::End]);
    }
}
