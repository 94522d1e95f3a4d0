//! Defines what can go wrong with a net, and where.

use std::fmt;

/// A place in a net: its file or name, page, element, and inscription.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Where {
    /// File or name of the net.
    pub net: String,
    /// Page, if the error is on one.
    pub page: Option<String>,
    /// Kind and name of the element, such as "transition `Send`".
    pub element: Option<String>,
    /// Kind of the inscription, such as "guard".
    pub inscription: Option<&'static str>,
}

impl Where {
    /// A net as a whole.
    pub fn net(net: &str) -> Self {
        Self { net: net.to_owned(), ..Self::default() }
    }

    /// An element of a page.
    pub fn element(net: &str, page: &str, element: String) -> Self {
        Self { net: net.to_owned(), page: Some(page.to_owned()), element: Some(element), inscription: None }
    }

    /// The same place, in an inscription.
    pub fn inscription(&self, kind: &'static str) -> Self {
        Self { inscription: Some(kind), ..self.clone() }
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.net)?;
        if let Some(page) = &self.page {
            write!(f, ": page `{page}`")?;
        }
        if let Some(element) = &self.element {
            write!(f, "{} {element}", if self.page.is_some() { "," } else { ":" })?;
        }
        if let Some(inscription) = self.inscription {
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

/// What can go wrong with a net.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { net, line, column, message } => write!(f, "{net}:{line}:{column}: {message}"),
            Self::Inscription { place, line, column, message } => {
                write!(f, "{place}, line {line}, column {column}: {message}")
            }
            Self::Net { place, message } => write!(f, "{place}: {message}"),
            Self::Run { place, time, message } => write!(f, "{place}, at time {time}: {message}"),
            Self::Interrupted => write!(f, "the run was interrupted"),
        }
    }
}

impl std::error::Error for Error {}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
