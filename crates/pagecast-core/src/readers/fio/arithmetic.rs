//! Evaluates expressions as fio's `exp/expression-parser.y` does: `+ - * / % ^`, parentheses, and units behind a number or a parenthesis.
//!
//! Debian's fio is built without them and refuses each value in parentheses.

use super::wrong::Wrong;

/// How deep parentheses and signs may stand in each other.
const DEEPEST: u32 = 64;

/// What units mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// None: a number that has one is refused.
    None,
    /// `k`, `m`, ... are powers of 1024, `kib`, `mib`, ... of 1000, whatever `kb_base` says.
    Bytes,
    /// `us`, `ms`, `s`, `m`, `h`, `d`; the value is in microseconds.
    Time,
}

/// The value of an expression, and whether some number of it has a unit.
///
/// # Errors
/// What cannot be read, or is no whole number of 63 bits.
pub fn evaluate(text: &str, units: Units) -> Result<(i64, bool), Wrong> {
    let mut parser = Parser { rest: text, units, has_unit: false, depth: 0 };
    let value = parser.sum()?;
    parser.skip_blanks();
    if !parser.rest.is_empty() {
        return Err(parser.unexpected());
    }
    // A float holds 53 bits; what is beyond 2^63 was no size or time anyway.
    if !value.is_finite() || value.abs() >= 9.2e18 {
        return Err(Wrong::new(
            format!("`{text}` has no value that can be held"),
            "make it smaller, and do not divide by 0",
        ));
    }
    Ok((value.trunc() as i64, parser.has_unit))
}

struct Parser<'a> {
    rest: &'a str,
    units: Units,
    has_unit: bool,
    depth: u32,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, signs: &[char]) -> Option<char> {
        self.skip_blanks();
        let sign = self.rest.chars().next().filter(|sign| signs.contains(sign))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn unexpected(&self) -> Wrong {
        let shown: String = self.rest.chars().take(12).collect();
        let what = if shown.is_empty() {
            "the expression ends too early".to_owned()
        } else {
            format!("`{}` cannot stand there in an expression", shown.escape_default())
        };
        Wrong::new(what, "write for example (2 * 4k)")
    }

    fn sum(&mut self) -> Result<f64, Wrong> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if sign == '+' { value + right } else { value - right };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, Wrong> {
        let mut value = self.power()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let right = self.power()?;
            value = match sign {
                '*' => value * right,
                // Whole numbers are divided as such.
                '/' if value.fract() == 0.0 && right.fract() == 0.0 => (value / right).trunc(),
                '/' => value / right,
                _ => value % right,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, Wrong> {
        let base = self.signed()?;
        match self.take(&['^']) {
            Some(_) => Ok(base.powf(self.signed()?)),
            None => Ok(base),
        }
    }

    fn signed(&mut self) -> Result<f64, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Wrong::new(
                format!("an expression is nested deeper than {DEEPEST} levels"),
                "take parentheses away",
            ));
        }
        let value = match self.take(&['-', '+', '(']) {
            Some('-') => -self.signed()?,
            Some('+') => self.signed()?,
            Some(_) => {
                let value = self.sum()?;
                self.take(&[')']).ok_or_else(|| self.unexpected())?;
                value
            }
            None => self.number()?,
        };
        self.depth -= 1;
        Ok(value * self.unit()?)
    }

    fn number(&mut self) -> Result<f64, Wrong> {
        self.skip_blanks();
        let text = self.rest;
        if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            let value = u64::from_str_radix(&hex[..end], 16).map_err(|_| self.unexpected())?;
            self.rest = &hex[end..];
            return Ok(value as f64);
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let value = text[..end].parse().map_err(|_| self.unexpected())?;
        self.rest = &text[end..];
        Ok(value)
    }

    /// The factor of a unit, if one follows.
    fn unit(&mut self) -> Result<f64, Wrong> {
        self.skip_blanks();
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let unit = self.rest[..end].to_ascii_lowercase();
        let factor = match (self.units, unit.as_str()) {
            (_, "") => return Ok(1.0),
            (Units::Bytes, "k" | "kb") => f64::from(1 << 10),
            (Units::Bytes, "m" | "mb") => f64::from(1 << 20),
            (Units::Bytes, "g" | "gb") => f64::from(1 << 30),
            (Units::Bytes, "t" | "tb") => (1_u64 << 40) as f64,
            (Units::Bytes, "p" | "pb") => (1_u64 << 50) as f64,
            (Units::Bytes, "kib") => 1e3,
            (Units::Bytes, "mib") => 1e6,
            (Units::Bytes, "gib") => 1e9,
            (Units::Bytes, "tib") => 1e12,
            (Units::Bytes, "pib") => 1e15,
            (Units::Time, "us") => 1.0,
            (Units::Time, "ms") => 1e3,
            (Units::Time, "s") => 1e6,
            (Units::Time, "m") => 60e6,
            (Units::Time, "h") => 3600e6,
            (Units::Time, "d") => 86400e6,
            _ => return Err(self.unexpected()),
        };
        self.rest = &self.rest[end..];
        self.has_unit = true;
        Ok(factor)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn bytes(text: &str) -> i64 {
        evaluate(text, Units::Bytes).unwrap().0
    }

    #[test]
    fn signs_bind_as_usual() {
        assert_eq!(bytes("(1 + 2 * 3 ^ 2)"), 19);
        assert_eq!(bytes("(7 / 2) + (7 % 4) - -1"), 7);
        assert_eq!(bytes("(2 * 4k)"), 8192);
        assert_eq!(bytes("(1 + 1) m"), 2 << 20);
        assert_eq!(bytes("(0x10 * 1kib)"), 16_000);
        assert_eq!(bytes("(1.5 * 2)"), 3);
    }

    #[test]
    fn m_is_minutes_in_a_time() {
        assert_eq!(evaluate("(2m + 500ms)", Units::Time), Ok((120_500_000, true)));
        assert_eq!(evaluate("(5)", Units::Time), Ok((5, false)));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let refused = |text: &str| evaluate(text, Units::Bytes).unwrap_err().what;
        assert_snapshot!(refused("(1 + "), @"the expression ends too early");
        assert_snapshot!(refused("(4 * 4x)"), @"`x)` cannot stand there in an expression");
        assert_snapshot!(refused("(1 / 0)"), @"`(1 / 0)` has no value that can be held");
        assert_snapshot!(refused(&"(".repeat(1000)), @"an expression is nested deeper than 64 levels");
    }
}
