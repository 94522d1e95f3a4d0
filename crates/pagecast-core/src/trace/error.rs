//! Names what can go wrong with a recording in binary form.

use std::io;

/// A recording that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file without a name that a long recording is kept in.
    #[error("cannot be kept in {dir}: {source}")]
    Spill {
        /// Its directory.
        dir: String,
        /// The reason.
        source: io::Error,
    },
    /// A read of the file.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Another format, or another version of this one.
    #[error("{0}")]
    Foreign(String),
    /// Bytes that no writer has written so.
    #[error("{what}")]
    Damaged {
        /// The place in the file.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// More of something than the format has numbers for.
    #[error("has more {0} than there are numbers of 32 bits")]
    TooMany(&'static str),
}

impl TraceError {
    /// What can be done about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Spill { .. } => "set TMPDIR to a directory with room for it",
            Self::Read(_) => "",
            Self::Foreign(_) => "convert it again with `pagecast convert`",
            Self::Damaged { .. } => "it is cut or damaged; convert it again with `pagecast convert`",
            Self::TooMany(_) => "split the recording",
        }
    }
}
