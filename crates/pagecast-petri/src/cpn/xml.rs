//! Reads and writes XML as a tree, without entities and without anything that is outside of the file.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::error::{Error, Result};

/// The largest file that is read.
const LARGEST: usize = 256 << 20;
/// How deep elements may be nested.
const DEEPEST: usize = 500;

/// An element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes, in their order.
    pub attributes: Vec<(String, String)>,
    /// Its content. Blanks between elements are left out.
    pub children: Vec<Node>,
    /// Line in the file, from 1.
    pub line: usize,
}

/// A part of the content of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An element.
    Element(Element),
    /// Text.
    Text(String),
    /// A comment.
    Comment(String),
}

impl Element {
    /// An element without anything in it.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The same with one attribute more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.attributes.push((name.to_owned(), value.to_string()));
        self
    }

    /// The same with an element in it.
    #[must_use]
    pub fn child(mut self, child: Self) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// The same with text in it.
    #[must_use]
    pub fn holding(mut self, text: &str) -> Self {
        self.children.push(Node::Text(text.to_owned()));
        self
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The elements in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            _ => None,
        })
    }

    /// The elements of a name in it.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.elements().filter(move |element| element.name == name)
    }

    /// The first element of a name in it.
    pub fn first(&self, name: &str) -> Option<&Element> {
        self.elements().find(|element| element.name == name)
    }

    /// The text directly in it.
    pub fn text(&self) -> String {
        let texts = self.children.iter().filter_map(|node| match node {
            Node::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Reads a file.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Element> {
    let text = decoded(file, bytes)?;
    Parser { file, text: &text, lines: Lines { at: 0, line: 1 } }.document()
}

/// The text of a file: UTF-8, or ISO 8859-1 where its first line says so.
fn decoded(file: &str, bytes: &[u8]) -> Result<String> {
    let wrong = |message: String| Error::File { net: file.to_owned(), line: 1, column: 1, message };
    if bytes.len() > LARGEST {
        return Err(wrong(format!("the file has {} bytes; files up to {LARGEST} are read", bytes.len())));
    }
    let first = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).to_ascii_lowercase();
    let declaration = first.split("?>").next().unwrap_or_default();
    if declaration.contains("iso-8859-1") || declaration.contains("latin1") {
        return Ok(bytes.iter().map(|&byte| char::from(byte)).collect());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.trim_start_matches('\u{feff}').to_owned()),
        Err(error) => Err(wrong(format!(
            "byte {} is no UTF-8; a file in another encoding says so in its first line",
            error.valid_up_to()
        ))),
    }
}

/// Counts lines up to an offset that only grows.
struct Lines {
    at: usize,
    line: usize,
}

struct Parser<'a> {
    file: &'a str,
    text: &'a str,
    lines: Lines,
}

impl Parser<'_> {
    fn wrong(&self, at: usize, message: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Error::File {
            net: self.file.to_owned(),
            line,
            column: 1 + before.len() - start,
            message: message.into(),
        }
    }

    fn line(&mut self, at: usize) -> usize {
        let passed = &self.text.as_bytes()[self.lines.at.min(at)..at];
        self.lines.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.lines.at = at;
        self.lines.line
    }

    fn document(mut self) -> Result<Element> {
        let mut reader = Reader::from_str(self.text);
        let mut open: Vec<Element> = Vec::new();
        loop {
            let at = reader.buffer_position() as usize;
            let event = reader
                .read_event()
                .map_err(|error| self.wrong(reader.error_position() as usize, error.to_string()))?;
            match event {
                Event::Start(start) => {
                    if open.len() == DEEPEST {
                        return Err(
                            self.wrong(at, format!("elements are nested deeper than {DEEPEST} levels"))
                        );
                    }
                    let element = self.element(&start, at)?;
                    open.push(element);
                }
                Event::Empty(start) => {
                    let element = self.element(&start, at)?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(Node::Element(element)),
                        None => return Ok(element),
                    }
                }
                Event::End(_) => {
                    let mut done = open.pop().ok_or_else(|| self.wrong(at, "nothing is open here"))?;
                    drop_blanks(&mut done);
                    match open.last_mut() {
                        Some(parent) => parent.children.push(Node::Element(done)),
                        None => return Ok(done),
                    }
                }
                Event::Text(text) => add_text(&mut open, &text.xml_content(Default::default())),
                Event::CData(data) => add_text(&mut open, &data),
                Event::GeneralRef(reference) => {
                    let name: &str = &reference;
                    match unescape(&format!("&{name};")) {
                        Ok(text) => add_text(&mut open, &text),
                        Err(_) => {
                            return Err(self.wrong(at, format!("the entity `&{name};` is not expanded")));
                        }
                    }
                }
                Event::Comment(comment) => {
                    if let Some(parent) = open.last_mut() {
                        parent.children.push(Node::Comment(comment.to_string()));
                    }
                }
                Event::DocType(declared) if declared.contains('[') => {
                    return Err(self.wrong(
                        at,
                        "the document type declares entities or elements; remove the part in [ ]",
                    ));
                }
                Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => {
                    return Err(match open.last() {
                        Some(element) => {
                            let message = format!(
                                "the file ends inside of <{}> of line {}",
                                element.name, element.line
                            );
                            self.wrong(at, message)
                        }
                        None => self.wrong(at, "this is no XML: there is no element"),
                    });
                }
            }
        }
    }

    fn element(&mut self, start: &BytesStart<'_>, at: usize) -> Result<Element> {
        let mut element = Element::new(start.name().as_ref());
        element.line = self.line(at);
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| self.wrong(at, error.to_string()))?;
            let value = unescape(&attribute.value)
                .map_err(|_| self.wrong(at, "an attribute has an entity, and entities are not expanded"))?;
            element.attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
        }
        Ok(element)
    }
}

fn add_text(open: &mut [Element], text: &str) {
    let Some(parent) = open.last_mut() else { return };
    match parent.children.last_mut() {
        Some(Node::Text(before)) => before.push_str(text),
        _ => parent.children.push(Node::Text(text.to_owned())),
    }
}

/// Leaves out blanks in an element that has elements.
fn drop_blanks(element: &mut Element) {
    if element.elements().next().is_some() {
        element.children.retain(|node| !matches!(node, Node::Text(text) if text.trim().is_empty()));
    }
}

/// Writes a file of CPN Tools.
pub fn write(root: &Element) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    if root.name == "workspaceElements" {
        text.push_str(
            "<!DOCTYPE workspaceElements PUBLIC \"-//CPN//DTD CPNXML 1.0//EN\" \"http://cpntools.org/DTD/6/cpn.dtd\">\n",
        );
    }
    write_element(&mut text, root, 0);
    text
}

fn write_element(text: &mut String, element: &Element, depth: usize) {
    let indent = "  ".repeat(depth);
    text.push_str(&indent);
    text.push('<');
    text.push_str(&element.name);
    for (name, value) in &element.attributes {
        text.push_str(&format!(" {name}=\"{}\"", escaped(value, true)));
    }
    if element.children.is_empty() {
        text.push_str("/>\n");
        return;
    }
    text.push('>');
    let has_text = element.children.iter().any(|node| matches!(node, Node::Text(_)));
    if !has_text {
        text.push('\n');
    }
    for node in &element.children {
        match node {
            Node::Text(inner) => text.push_str(&escaped(inner, false)),
            Node::Comment(inner) => text.push_str(&format!("<!--{inner}-->")),
            Node::Element(inner) if has_text => {
                // Blanks would become part of the text.
                let mut line = String::new();
                write_element(&mut line, inner, 0);
                text.push_str(line.trim_end_matches('\n'));
            }
            Node::Element(inner) => write_element(text, inner, depth + 1),
        }
    }
    if !has_text {
        text.push_str(&indent);
    }
    text.push_str(&format!("</{}>\n", element.name));
}

fn escaped(text: &str, in_attribute: bool) -> String {
    let mut found = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => found.push_str("&amp;"),
            '<' => found.push_str("&lt;"),
            '>' => found.push_str("&gt;"),
            '"' if in_attribute => found.push_str("&quot;"),
            '\n' | '\t' | '\r' if in_attribute => found.push_str(&format!("&#{};", u32::from(c))),
            '\r' => found.push_str("&#13;"),
            c => found.push(c),
        }
    }
    found
}
