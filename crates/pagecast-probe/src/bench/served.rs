//! Finds out whether the bytes of a measurement came from memory or the device, or are there.

use pagecast_core::units::Bytes;

use crate::counters::DeviceCounters;
use crate::io::Direction;
use crate::residency::Residency;

/// The facts known after a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub direction: Direction,
    pub is_direct: bool,
    /// The bytes moved.
    pub bytes: Bytes,
    /// What the kernel read from devices for this process meanwhile (/proc/self/io).
    pub own_read: Option<Bytes>,
    /// What the whole device did meanwhile, for everybody.
    pub device: Option<DeviceCounters>,
    /// What is in the page cache of the parts right after.
    pub after: Residency,
}

/// How much of what was moved the device served; the rest was memory. Nothing where the kernel does not say.
///
/// Of a read, what the kernel has fetched for this process; read-ahead may have fetched more than was asked for. Of a buffered write,
/// what is neither dirty nor under write-back when the last call has returned: that has been written. Of a direct write, or where
/// dirty pages are not known of (mincore), what the device has written meanwhile, though it may have been for somebody else.
pub(super) fn by_device(facts: &Facts) -> Option<Bytes> {
    let device = match (facts.direction, facts.after.state) {
        (Direction::Read, _) => facts.own_read.or(facts.device.map(|device| device.read)),
        (Direction::Write, Some(state)) if !facts.is_direct => {
            Some(facts.bytes.saturating_sub(state.dirty + state.writeback))
        }
        (Direction::Write, _) => facts.device.map(|device| device.written),
    };
    device.map(|device| device.min(facts.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency::State;

    fn facts(direction: Direction) -> Facts {
        let device = DeviceCounters { read: Bytes(500), written: Bytes(300) };
        Facts {
            direction,
            is_direct: false,
            bytes: Bytes(1000),
            own_read: Some(Bytes(100)),
            device: Some(device),
            after: Residency { cached: Bytes(1000), state: None },
        }
    }

    #[test]
    fn a_read_is_served_by_the_device_as_far_as_the_kernel_fetched_for_us() {
        assert_eq!(by_device(&facts(Direction::Read)), Some(Bytes(100)));
        let ahead = Facts { own_read: Some(Bytes(1200)), ..facts(Direction::Read) };
        assert_eq!(by_device(&ahead), Some(Bytes(1000)), "more was read ahead than asked for");
        let hidden = Facts { own_read: None, ..facts(Direction::Read) };
        assert_eq!(by_device(&hidden), Some(Bytes(500)));
    }

    #[test]
    fn a_buffered_write_is_in_memory_as_long_as_it_is_dirty_or_on_the_way() {
        let state = State { dirty: Bytes(600), writeback: Bytes(150), ..State::default() };
        let after = Residency { cached: Bytes(1000), state: Some(state) };
        let write = Facts { after, ..facts(Direction::Write) };
        assert_eq!(by_device(&write), Some(Bytes(250)));
        let more = Facts { bytes: Bytes(700), ..write };
        assert_eq!(by_device(&more), Some(Bytes::ZERO));
    }

    #[test]
    fn a_direct_write_is_what_the_device_wrote() {
        let after = Residency { cached: Bytes::ZERO, state: Some(State::default()) };
        let direct = Facts { is_direct: true, after, ..facts(Direction::Write) };
        assert_eq!(by_device(&direct), Some(Bytes(300)));
        assert_eq!(
            by_device(&facts(Direction::Write)),
            Some(Bytes(300)),
            "mincore knows nothing of dirty pages"
        );
        assert_eq!(by_device(&Facts { device: None, ..direct }), None);
    }
}
