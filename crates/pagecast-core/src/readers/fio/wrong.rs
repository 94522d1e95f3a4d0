//! Says what is wrong with a value, before its place is known.

use std::sync::Arc;

use crate::readers::error::ReadError;

/// Where something stands in a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl Place {
    /// An error there.
    pub fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> ReadError {
        ReadError::new(self.to_string(), what, remedy)
    }

    /// An error there, of a value.
    pub fn wrong(&self, wrong: Wrong) -> ReadError {
        self.error(wrong.what, wrong.remedy)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What is wrong with a value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub what: String,
    pub remedy: String,
}

impl Wrong {
    /// Puts both together.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}
