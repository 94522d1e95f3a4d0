//! Defines what can go wrong with a net, and where.

use std::fmt;

/// A place in a net: its file or name, page, element, and inscription.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Where(Box<Parts>);

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Parts {
    net: String,
    page: Option<String>,
    /// Kind and name, such as "transition `Send`".
    element: Option<String>,
    inscription: Option<&'static str>,
}

impl Where {
    /// A net as a whole.
    pub fn net(net: &str) -> Self {
        Self(Box::new(Parts { net: net.to_owned(), ..Parts::default() }))
    }

    /// A declaration of a net.
    pub fn declaration(net: &str, name: &str) -> Self {
        let element = Some(format!("declaration `{name}`"));
        Self(Box::new(Parts { net: net.to_owned(), element, ..Parts::default() }))
    }

    /// A monitor of a net.
    pub fn monitor(net: &str, name: &str) -> Self {
        let element = Some(format!("monitor `{name}`"));
        Self(Box::new(Parts { net: net.to_owned(), element, ..Parts::default() }))
    }

    /// An element of a page: its kind and name, such as "transition `Send`".
    pub fn element(net: &str, page: &str, element: String) -> Self {
        let page = Some(page.to_owned());
        Self(Box::new(Parts { net: net.to_owned(), page, element: Some(element), inscription: None }))
    }

    /// The same place, in an inscription of this kind, such as "guard".
    #[must_use]
    pub fn inscription(&self, kind: &'static str) -> Self {
        Self(Box::new(Parts { inscription: Some(kind), ..(*self.0).clone() }))
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { net, page, element, inscription } = &*self.0;
        write!(f, "{net}")?;
        if let Some(page) = page {
            write!(f, ": page `{page}`")?;
        }
        if let Some(element) = element {
            write!(f, "{} {element}", if page.is_some() { "," } else { ":" })?;
        }
        if let Some(inscription) = inscription {
            write!(f, ", {inscription}")?;
        }
        Ok(())
    }
}

/// A mistake in a text of CPN ML.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MlError {
    /// Offset into the text, in bytes.
    pub offset: usize,
    /// The mistake, and what would be right.
    pub message: String,
}

impl MlError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }

    /// The error with its place: line and column are counted in the text, from 1.
    pub(crate) fn at(self, place: Where, text: &str) -> Error {
        let before = &text.as_bytes()[..self.offset.min(text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
        Error::Inscription { place, line, column, message: self.message }
    }
}

/// An error of a net.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The file is no XML, or not of CPN Tools.
    File {
        /// File or name of the net.
        net: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The mistake.
        message: String,
    },
    /// An inscription or a declaration that cannot be understood.
    Inscription {
        /// Net, page, element and inscription.
        place: Where,
        /// Line of the inscription, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The mistake.
        message: String,
    },
    /// The structure of the net is wrong: ports, fusion sets, arcs.
    Net {
        /// Net, page and element.
        place: Where,
        /// The mistake.
        message: String,
    },
    /// A run that cannot go on.
    Run {
        /// Net, page and element.
        place: Where,
        /// Model time at which it happened, as it is shown.
        time: String,
        /// The mistake.
        message: String,
    },
    /// The caller stopped the run.
    Interrupted,
}

/// One line: names and texts of a file may hold line breaks, which become spaces.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::File { net, line, column, message } => format!("{net}:{line}:{column}: {message}"),
            Self::Inscription { place, line, column, message } => {
                format!("{place}, line {line}, column {column}: {message}")
            }
            Self::Net { place, message } => format!("{place}: {message}"),
            Self::Run { place, time, message } => format!("{place}, at time {time}: {message}"),
            Self::Interrupted => "the run was interrupted".to_owned(),
        };
        f.write_str(&text.replace(char::is_control, " "))
    }
}

impl std::error::Error for Error {}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
