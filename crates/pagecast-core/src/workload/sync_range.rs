//! Describes the actions of sync_file_range(2).

/// A flag of sync_file_range(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncRangeFlag {
    /// SYNC_FILE_RANGE_WAIT_BEFORE: waits for pages of the range that are under writeback.
    WaitBefore,
    /// SYNC_FILE_RANGE_WRITE: has dirty pages of the range submitted.
    Write,
    /// SYNC_FILE_RANGE_WAIT_AFTER: waits for all that are under writeback then.
    WaitAfter,
}

impl SyncRangeFlag {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 3] = ["WAIT_BEFORE", "WRITE", "WAIT_AFTER"];
    /// All of them, in the order in which they are done.
    pub const ALL: [Self; 3] = [Self::WaitBefore, Self::Write, Self::WaitAfter];
}

/// A set of them; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRangeFlags(u8);

impl SyncRangeFlags {
    /// True if the flag is set.
    #[must_use]
    pub fn has(self, flag: SyncRangeFlag) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    /// True if all of them are: what is dirty is written for the caller, who waits for it (WB_SYNC_ALL).
    #[must_use]
    pub fn are_all(self) -> bool {
        SyncRangeFlag::ALL.iter().all(|&flag| self.has(flag))
    }

    /// Takes out the flag that is to be done next.
    pub fn take_first(&mut self) -> Option<SyncRangeFlag> {
        let first = SyncRangeFlag::ALL.into_iter().find(|&flag| self.has(flag))?;
        self.0 &= !(1 << first as u8);
        Some(first)
    }
}

impl FromIterator<SyncRangeFlag> for SyncRangeFlags {
    fn from_iter<I: IntoIterator<Item = SyncRangeFlag>>(flags: I) -> Self {
        Self(flags.into_iter().fold(0, |set, flag| set | 1 << flag as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_done_one_after_the_other() {
        use SyncRangeFlag::{WaitAfter, WaitBefore, Write};
        let mut flags: SyncRangeFlags = [WaitAfter, Write, WaitBefore].into_iter().collect();
        assert!(flags.are_all());
        let order = std::iter::from_fn(|| flags.take_first()).collect::<Vec<_>>();
        assert_eq!((order, flags), (vec![WaitBefore, Write, WaitAfter], SyncRangeFlags::default()));
        assert!(![Write, WaitAfter].into_iter().collect::<SyncRangeFlags>().are_all());
    }
}
