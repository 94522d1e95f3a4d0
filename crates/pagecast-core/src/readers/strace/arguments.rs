//! Takes the arguments of a call apart.

use std::borrow::Cow;

/// The most arguments that are looked at.
const MOST: usize = 12;

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    all: [&'a str; MOST],
}

/// A descriptor: its number, and with `-y` what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    /// The number; -100 is AT_FDCWD.
    pub fd: i32,
    /// The path, or a text such as `pipe:[123]`.
    pub path: Option<&'a str>,
}

/// The number of AT_FDCWD.
pub const CWD: i32 = -100;

impl<'a> Arguments<'a> {
    /// Splits a text at its outer commas.
    pub fn of(text: &'a str) -> Self {
        let mut all = [""; MOST];
        let mut rest = text;
        for place in &mut all {
            let end = end_of_first(rest);
            *place = rest[..end].trim();
            rest = rest.get(end + 1..).unwrap_or("");
            if rest.is_empty() {
                break;
            }
        }
        Self { all }
    }

    /// The text of an argument; empty if there are not so many.
    pub fn text(&self, at: usize) -> &'a str {
        self.all.get(at).copied().unwrap_or("")
    }

    /// An argument that is a number.
    pub fn number(&self, at: usize) -> Option<u64> {
        let text = self.text(at);
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// An argument that is a pointer to a number: "[4096]", "[0 => 4096]"; none of NULL.
    pub fn pointed(&self, at: usize) -> Option<u64> {
        leading_digits(self.text(at).strip_prefix('[')?)
    }

    /// An argument that is a descriptor.
    pub fn fd(&self, at: usize) -> Option<Number<'a>> {
        descriptor(self.text(at))
    }

    /// An argument that is a string. One that strace has cut counts as none: `-s` sets the length.
    pub fn string(&self, at: usize) -> Option<Cow<'a, str>> {
        let inner = self.text(at).strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') { Some(Cow::Owned(unescaped(inner))) } else { Some(Cow::Borrowed(inner)) }
    }

    /// Whether an argument has a flag.
    pub fn has(&self, at: usize, flag: &str) -> bool {
        has_flag(self.text(at), flag)
    }

    /// The two descriptors of "[3, 4]".
    pub fn pair(&self, at: usize) -> Option<[Number<'a>; 2]> {
        let inner = Self::of(self.text(at).strip_prefix('[')?.strip_suffix(']')?);
        Some([inner.fd(0)?, inner.fd(1)?])
    }

    /// The number of a field of a structure: "{st_mode=S_IFREG|0644, st_size=5000, ...}".
    pub fn field(&self, at: usize, name: &str) -> Option<u64> {
        let text = self.text(at);
        let rest = text[text.find(name)? + name.len()..].strip_prefix('=')?;
        leading_digits(rest)
    }
}

fn leading_digits(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// Whether a text has a flag as a whole word.
pub fn has_flag(text: &str, flag: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == flag)
}

/// "3", "3</path>", "3</path>(deleted)", "AT_FDCWD</dir>", and what follows a return: "3 (flags O_RDWR)".
pub fn descriptor(text: &str) -> Option<Number<'_>> {
    let (number, rest) = text.split_at(memchr::memchr(b'<', text.as_bytes()).unwrap_or(text.len()));
    let path = rest.get(1..).and_then(|rest| Some(&rest[..memchr::memchr(b'>', rest.as_bytes())?]));
    let fd = match number {
        "AT_FDCWD" => CWD,
        number => number.split(' ').next()?.parse().ok()?,
    };
    Some(Number { fd, path: path.map(|path| path.strip_suffix(" (deleted)").unwrap_or(path)) })
}

/// Where the first argument of a text ends.
fn end_of_first(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_u32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at + 1),
            b'<' if at > 0 && (bytes[at - 1].is_ascii_digit() || bytes[at - 1] == b'D') => {
                at = memchr::memchr(b'>', &bytes[at..]).map_or(bytes.len(), |length| at + length);
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The place of the quote that ends a string.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(length) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += length;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// The text of a C string.
pub fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        let Some((&second, after)) = rest.split_first() else { break };
        let digits = |most: usize, radix: u32, from: &[u8]| {
            from.iter().take(most).take_while(|&&byte| char::from(byte).is_digit(radix)).count()
        };
        let (value, length) = match second {
            b'0'..=b'7' => number(rest, digits(3, 8, rest), 8),
            b'x' => {
                let (value, length) = number(after, digits(2, 16, after), 16);
                (value, length + 1)
            }
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            b'r' => (b'\r', 1),
            b'f' => (12, 1),
            b'v' => (11, 1),
            other => (other, 1),
        };
        bytes.push(value);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number(bytes: &[u8], digits: usize, radix: u32) -> (u8, usize) {
    let value = bytes[..digits]
        .iter()
        .fold(0_u32, |sum, &byte| sum * radix + char::from(byte).to_digit(radix).unwrap_or(0));
    (value as u8, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_belong_to_an_argument() {
        let arguments = Arguments::of(r#"3</a,b>, [{iov_base="x,\"y", iov_len=3}], 1, "a\"b,c", 0x10"#);
        assert_eq!(arguments.fd(0), Some(Number { fd: 3, path: Some("/a,b") }));
        assert_eq!(arguments.text(2), "1");
        assert_eq!(arguments.string(3).as_deref(), Some("a\"b,c"));
        assert_eq!((arguments.number(4), arguments.text(5)), (Some(16), ""));
    }

    #[test]
    fn pairs_and_fields_are_found() {
        let arguments = Arguments::of("[3<pipe:[5]>, 4<pipe:[5]>], {st_mode=S_IFREG|0644, st_size=50, ...}");
        assert_eq!(arguments.pair(0).map(|pair| pair.map(|number| number.fd)), Some([3, 4]));
        assert_eq!(arguments.pair(1), None);
        assert_eq!((arguments.field(1, "st_size"), arguments.field(1, "st_s")), (Some(50), None));
        assert_eq!(descriptor("3</a>(deleted)"), Some(Number { fd: 3, path: Some("/a") }));
        assert_eq!(descriptor("3</a (deleted)>"), Some(Number { fd: 3, path: Some("/a") }));
        assert_eq!(descriptor("3 (flags O_RDWR)"), Some(Number { fd: 3, path: None }));
    }

    #[test]
    fn flags_are_whole_words() {
        let arguments = Arguments::of("AT_FDCWD</x>, \"f\", O_RDWR|O_CREAT|O_CLOEXEC, 0644");
        assert_eq!(arguments.fd(0), Some(Number { fd: CWD, path: Some("/x") }));
        assert!(arguments.has(2, "O_CREAT") && !arguments.has(2, "O_CLO"));
    }

    #[test]
    fn strings_are_c_strings_and_cut_ones_are_none() {
        assert_eq!(unescaped(r"a\303\274\n\x41\\"), "aü\nA\\");
        assert_eq!(Arguments::of(r#""abc"..., 3"#).string(0), None);
        assert_eq!(Arguments::of("[4096], NULL").pointed(0), Some(4096));
        assert_eq!(Arguments::of("[4096], NULL").pointed(1), None);
    }

    #[test]
    fn any_text_can_be_taken_apart() {
        for text in ["", "\"", "\"\\", "3<", "<>,<,", "{[(", ")]}", "\\", "\"\\x\", 1", "a,,,,,,,,,,,,,,,,,b"]
        {
            let arguments = Arguments::of(text);
            let _ = (arguments.fd(0), arguments.string(0), arguments.pointed(0), arguments.number(0));
        }
        let _ = (unescaped("\\"), unescaped("\\x"), unescaped("\\9"));
    }
}
