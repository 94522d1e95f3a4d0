//! Reads and writes the files of CPN Tools.
//!
//! Source: the document type of format 6 (CPN Tools 2.0 to 4.0) and its samples. All that is in a file is kept when it is written again, also
//! layout, options and what this crate does not understand. Not tried: whether CPN Tools itself opens what is written.

mod new;
mod read;
pub mod xml;

use crate::error::{Error, Result, Where};
use crate::net::Net;
use xml::Element;

/// A file of CPN Tools.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of the file, for messages.
    pub name: String,
    /// All of the file.
    pub root: Element,
    /// The net in it.
    pub net: Net,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// `File` for what is no XML, declares entities, or is not of CPN Tools.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self> {
        let root = xml::parse(name, bytes)?;
        let net = read::net(name, &root)?;
        Ok(Self { name: name.to_owned(), root, net })
    }

    /// Makes a file of a net that was built.
    pub fn of(net: Net) -> Self {
        Self { name: net.name.clone(), root: new::workspace(&net), net }
    }

    /// The file as text, in UTF-8.
    pub fn write(&self) -> String {
        xml::write(&self.root)
    }

    /// Gives a declared value (`val NAME = ...`, or a `globref`) another one, given in CPN ML.
    ///
    /// # Errors
    ///
    /// `Net` if the net declares no such value.
    pub fn set_value(&mut self, name: &str, text: &str) -> Result<()> {
        let found = self.net.declarations.iter().find_map(|declaration| {
            value_of(&declaration.text, name)
                .map(|word| (declaration.id.clone(), format!("{word} {name} = {text};")))
        });
        let Some((id, changed)) = found else {
            let declared: Vec<_> = self.values().into_iter().map(|(name, _)| name).collect();
            let message = if declared.is_empty() {
                format!("there is no value `{name}`: the net declares none with `val`")
            } else {
                format!("there is no value `{name}`; the net declares {}", declared.join(", "))
            };
            return Err(Error::Net { place: Where::net(&self.name), message });
        };
        read::replace_declaration(&mut self.root, &id, &changed);
        self.net = read::net(&self.name, &self.root)?;
        Ok(())
    }

    /// The values that the net declares, with their expressions.
    pub fn values(&self) -> Vec<(String, String)> {
        self.net.declarations.iter().filter_map(|declaration| declared_value(&declaration.text)).collect()
    }
}

/// The word in front of a value, if this is the declaration of the value.
fn value_of(text: &str, name: &str) -> Option<&'static str> {
    let (declared, _) = declared_value(text)?;
    (declared == name).then_some(if text.trim_start().starts_with("val") { "val" } else { "globref" })
}

/// Name and expression of a text that declares one value.
fn declared_value(text: &str) -> Option<(String, String)> {
    let rest = text.trim_start();
    let rest = rest.strip_prefix("val ").or_else(|| rest.strip_prefix("globref "))?;
    let (name, value) = rest.split_once('=')?;
    let name = name.trim();
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
    is_name.then(|| (name.to_owned(), value.trim().trim_end_matches(';').trim().to_owned()))
}
