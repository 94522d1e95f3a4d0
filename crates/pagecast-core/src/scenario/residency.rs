//! Reads when the cache content of files is recorded.

/// When the cache content of each file is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Residency {
    /// Once, when all is over.
    #[default]
    End,
    /// Also after each operation on a file.
    Operation,
}

impl Residency {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["end", "operation"];
}
