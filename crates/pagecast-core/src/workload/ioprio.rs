//! Describes the priority of the requests of a process (`ionice`).

/// The class of a priority, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// `IOPRIO_CLASS_RT`
    RealTime,
    /// `IOPRIO_CLASS_BE`, and none.
    #[default]
    BestEffort,
    /// `IOPRIO_CLASS_IDLE`
    Idle,
}

/// A priority (`ioprio_set`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IoPriority {
    /// Its class.
    pub class: IoClass,
    /// 0, the best, to 7 within the class.
    pub level: u8,
}

impl Default for IoPriority {
    /// `IOPRIO_BE_NORM`
    fn default() -> Self {
        Self { class: IoClass::default(), level: 4 }
    }
}

impl IoPriority {
    /// Reads it as `ionice` prints it: "idle", or "realtime" or "best-effort" and a level from 0 to 7.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (class, level) = text.split_once(' ').map_or((text, None), |(class, level)| (class, Some(level)));
        let level = level.map_or(Some(4), |level| level.parse().ok().filter(|level| *level < 8))?;
        let class = match class {
            "realtime" => IoClass::RealTime,
            "best-effort" => IoClass::BestEffort,
            "idle" => IoClass::Idle,
            _ => return None,
        };
        Some(Self { class, level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_written_as_ionice_prints_it() {
        let of = |class, level| Some(IoPriority { class, level });
        assert_eq!(IoPriority::parse("idle"), of(IoClass::Idle, 4));
        assert_eq!(IoPriority::parse("realtime 0"), of(IoClass::RealTime, 0));
        assert_eq!(IoPriority::parse("best-effort"), Some(IoPriority::default()));
        assert_eq!(["", "best", "realtime 8", "idle x"].map(IoPriority::parse), [None; 4]);
    }
}
