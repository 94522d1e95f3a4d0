//! Parses XML into elements that know their lines.
//!
//! A document type is passed over and never fetched; entities beside the five of XML are refused, so a small file stays small.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::error::ScenarioError;
use crate::nearest::{hint, shorten};

/// More is no platform, and would only make the readers deep.
const DEEPEST: usize = 64;

/// An element with its attributes and what is inside.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub line: u32,
    pub children: Vec<Element>,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// An attribute; nothing if it is not there or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }
}

/// A file, for messages.
#[derive(Clone, Debug)]
pub struct Source(pub String);

impl Source {
    /// The error that blames a line.
    pub fn error(&self, line: u32, what: impl Into<String>, remedy: impl Into<String>) -> ScenarioError {
        ScenarioError { place: format!("{}:{line}", self.0), what: what.into(), remedy: remedy.into() }
    }

    /// The error that blames an element.
    pub fn blame(
        &self,
        element: &Element,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ScenarioError {
        self.error(element.line, what, remedy)
    }

    /// An attribute that an element must have.
    ///
    /// # Errors
    /// Without it.
    pub fn need<'a>(&self, element: &'a Element, name: &str) -> Result<&'a str, ScenarioError> {
        element.get(name).ok_or_else(|| {
            self.blame(element, format!("<{}> has no `{name}`", element.name), format!("add {name}=\"...\""))
        })
    }

    /// Refuses attributes that are not known.
    ///
    /// # Errors
    /// The first of them, with the nearest known one.
    pub fn check_attributes(&self, element: &Element, known: &[&str]) -> Result<(), ScenarioError> {
        match element.attributes.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => {
                let what = format!("<{}> has an unknown attribute `{}`", element.name, shorten(key));
                Err(self.blame(element, what, hint(key, known.iter().copied(), "attributes")))
            }
        }
    }

    /// Parses a document into its root.
    ///
    /// # Errors
    /// Whatever is no XML, or an entity.
    pub fn parse(&self, bytes: &[u8]) -> Result<Element, ScenarioError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = line_at(bytes, error.valid_up_to());
            self.error(line, "the file is not UTF-8", "save it as UTF-8")
        })?;
        let mut reader = Reader::from_str(text);
        let (mut line, mut counted) = (1, 0);
        let mut open: Vec<Element> = Vec::new();
        let mut root = None;
        loop {
            let start = reader.buffer_position() as usize;
            line += newlines(&bytes[counted..start]);
            counted = start;
            let event = reader.read_event().map_err(|error| {
                let at = line_at(bytes, reader.error_position() as usize);
                self.error(at, format!("this is no XML: {error}"), "correct it there")
            })?;
            let closed = match event {
                Event::Start(_) | Event::Empty(_) if root.is_some() => {
                    return Err(self.error(line, "there is a second root element", "remove it"));
                }
                Event::Start(start) if open.len() < DEEPEST => {
                    open.push(self.element(&start, line)?);
                    None
                }
                Event::Start(_) => {
                    let what = format!("elements are more than {DEEPEST} deep");
                    return Err(self.error(line, what, "put fewer zones into each other"));
                }
                Event::Empty(start) => Some(self.element(&start, line)?),
                Event::End(_) => open.pop(),
                Event::Text(text) if text.trim_ascii().is_empty() => None,
                Event::DocType(text) if text.contains('[') => {
                    let what = "the document type has declarations of its own";
                    return Err(self.error(line, what, "remove what is in its brackets"));
                }
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                    return Err(self.error(line, "text between elements is not understood", "remove it"));
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => None,
                Event::Eof => break,
            };
            match (closed, open.last_mut()) {
                (Some(element), Some(parent)) => parent.children.push(element),
                (Some(element), None) => root = Some(element),
                (None, _) => {}
            }
        }
        if let Some(left) = open.last() {
            return Err(self.blame(left, format!("<{}> has no end", left.name), ""));
        }
        root.ok_or_else(|| self.error(line, "there is no element", "start with <platform version=\"4.1\">"))
    }

    fn element(&self, start: &BytesStart<'_>, line: u32) -> Result<Element, ScenarioError> {
        let attributes = start.attributes().map(|attribute| {
            let attribute =
                attribute.map_err(|error| self.error(line, error.to_string(), "correct it there"))?;
            let value = unescape(&attribute.value).map_err(|error| {
                self.error(line, error.to_string(), "write the character itself, or &amp;, &lt; and so on")
            })?;
            Ok::<_, ScenarioError>((attribute.key.as_ref().to_owned(), value.into_owned()))
        });
        let attributes = attributes.collect::<Result<_, _>>()?;
        Ok(Element { name: start.name().as_ref().to_owned(), line, children: Vec::new(), attributes })
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', bytes).count() as u32
}

fn line_at(bytes: &[u8], at: usize) -> u32 {
    1 + newlines(&bytes[..at.min(bytes.len())])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn parse(text: &str) -> Result<Element, String> {
        Source("x.xml".to_owned()).parse(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn elements_know_their_lines() {
        let text = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<!-- one\ntwo -->\n<platform version='4.1'>\n\n  <zone id='a &amp; b'/>\n</platform>\n";
        let root = parse(text).unwrap();
        assert_eq!((root.line, root.children[0].line), (5, 7));
        assert_eq!(root.children[0].get("id"), Some("a & b"));
    }

    #[test]
    fn what_is_no_plain_xml_is_refused() {
        let refused = |text: &str| parse(text).map(|_| ()).expect_err("it should be refused");
        assert_snapshot!(refused("<a>\n<b></a>"), @"x.xml:2: this is no XML: ill-formed document: expected `</b>`, but `</a>` was found; correct it there");
        assert_snapshot!(refused("<a>\n<b x='1' x='2'/></a>"), @"x.xml:2: position 8: duplicated attribute, previous declaration at position 2; correct it there");
        assert_snapshot!(refused("<!DOCTYPE a [ <!ENTITY lol 'lol'> ]>\n<a b='&lol;'/>"), @"x.xml:1: the document type has declarations of its own; remove what is in its brackets");
        assert_snapshot!(refused("<a\nb='&lol;'/>"), @"x.xml:1: at 1..4: unrecognized entity `lol`; write the character itself, or &amp;, &lt; and so on");
        assert_snapshot!(refused("<a>\n text</a>"), @"x.xml:1: text between elements is not understood; remove it");
        assert_snapshot!(refused("<a>\n&lol;</a>"), @"x.xml:2: text between elements is not understood; remove it");
        assert_snapshot!(refused("<a/>\n<b/>"), @"x.xml:2: there is a second root element; remove it");
        assert_snapshot!(refused("<a>\n"), @"x.xml:1: <a> has no end");
        assert_snapshot!(refused(""), @r#"x.xml:1: there is no element; start with <platform version="4.1">"#);
        assert_snapshot!(refused(&"<a>".repeat(70)), @"x.xml:1: elements are more than 64 deep; put fewer zones into each other");
    }
}
