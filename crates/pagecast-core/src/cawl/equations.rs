//! Computes Equations 2 to 4: writes past the page cache, and through it to the device.

use super::parameters::{ParameterError, check_costs, check_rates, check_size};

/// Bytes of a page of the page cache.
const PAGE: u64 = 4096;

/// Equation 2: a write past the page cache (O_DIRECT).
///
/// `sc_sw + c_sk [if it does not follow the write before] + s / bw_dev`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectCost {
    /// Rate at which the device writes.
    pub bw_dev: f64,
    /// Cost of a system call that writes synchronously.
    pub sc_sw: f64,
    /// Cost of a seek.
    pub c_sk: f64,
}

impl DirectCost {
    /// Refuses impossible values.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    pub fn check(&self) -> Result<(), ParameterError> {
        check_rates(&[("bw_dev", self.bw_dev)])?;
        check_costs(&[("sc_sw", self.sc_sw), ("c_sk", self.c_sk)])
    }

    /// Returns the seconds of a write of so many bytes; `seeks` if it does not begin where the one before ended.
    #[must_use]
    pub fn cost(&self, bytes: u64, seeks: bool) -> f64 {
        call_and_seek(self.sc_sw, self.c_sk, seeks) + bytes as f64 / self.bw_dev
    }
}

/// The unit in which the device writes; if a write does not fill its last one, a block is read, changed and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A block of the device, `bs`: the paper.
    #[default]
    Block,
    /// A page of 4096 bytes; a block of it is read and written all the same: the released program.
    Page,
}

impl Unit {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["block", "page"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Block, Self::Page];
}

/// Equations 3 and 4: a write through the page cache that returns when the device has its bytes (O_SYNC).
///
/// `sc_sw + c_sk [if it does not follow the write before] + s / bw_ramdisk + (s - s mod bs) / bw_dev + partial(s)`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncCost {
    /// Rate of copying into the page cache while nothing is written back.
    pub bw_ramdisk: f64,
    /// Rate at which the device writes.
    pub bw_dev: f64,
    /// Rate at which the device reads.
    pub bw_rdev: f64,
    /// Bytes of a block of the device.
    pub bs: u64,
    /// Cost of a system call that writes synchronously.
    pub sc_sw: f64,
    /// Cost of a seek.
    pub c_sk: f64,
    /// The unit in which a write is counted.
    pub unit: Unit,
}

impl SyncCost {
    /// Refuses impossible values.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    pub fn check(&self) -> Result<(), ParameterError> {
        let Self { bw_ramdisk, bw_dev, bw_rdev, .. } = *self;
        check_rates(&[("bw_ramdisk", bw_ramdisk), ("bw_dev", bw_dev), ("bw_rdev", bw_rdev)])?;
        check_costs(&[("sc_sw", self.sc_sw), ("c_sk", self.c_sk)])?;
        check_size("bs", self.bs)
    }

    /// Equation 3, `bs / bw_rdev + bs / bw_dev` if the bytes do not fill their last block: it is read, changed and written back.
    #[must_use]
    pub fn partial(&self, bytes: u64) -> f64 {
        if self.rest(bytes) == 0 {
            return 0.0;
        }
        self.bs as f64 / self.bw_rdev + self.bs as f64 / self.bw_dev
    }

    /// Equation 4: seconds of a write of so many bytes; `seeks` if it does not begin where the one before ended.
    #[must_use]
    pub fn cost(&self, bytes: u64, seeks: bool) -> f64 {
        let whole = bytes - self.rest(bytes);
        self.copying(bytes)
            + call_and_seek(self.sc_sw, self.c_sk, seeks)
            + whole as f64 / self.bw_dev
            + self.partial(bytes)
    }

    /// The part of a write's seconds in which its bytes are copied into the page cache.
    pub(crate) fn copying(&self, bytes: u64) -> f64 {
        bytes as f64 / self.bw_ramdisk
    }

    fn rest(&self, bytes: u64) -> u64 {
        match self.unit {
            Unit::Block => bytes % self.bs,
            Unit::Page => bytes % PAGE,
        }
    }
}

fn call_and_seek(call: f64, seek: f64, seeks: bool) -> f64 {
    if seeks { call + seek } else { call }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIRECT: DirectCost = DirectCost { bw_dev: 100e6, sc_sw: 2e-4, c_sk: 5e-3 };
    const SYNC: SyncCost = SyncCost {
        bw_ramdisk: 1e9,
        bw_dev: 100e6,
        bw_rdev: 200e6,
        bs: 512,
        sc_sw: 2e-4,
        c_sk: 5e-3,
        unit: Unit::Block,
    };

    fn microseconds(seconds: f64) -> f64 {
        (seconds * 1e12).round() / 1e6
    }

    #[test]
    fn a_direct_write_pays_its_call_and_the_device() {
        // 200 us and 1 MB at 100 MB/s, 10 ms; a seek on top.
        assert_eq!(microseconds(DIRECT.cost(1_000_000, false)), 10_200.0);
        assert_eq!(microseconds(DIRECT.cost(1_000_000, true)), 15_200.0);
        assert_eq!(microseconds(DIRECT.cost(0, false)), 200.0);
    }

    #[test]
    fn a_synchronous_write_of_whole_blocks_pays_copy_and_device() {
        // 200 us, 1024 B at 1 GB/s: 1.024 us, at 100 MB/s: 10.24 us.
        assert_eq!(microseconds(SYNC.cost(1024, false)), 211.264);
        assert_eq!(microseconds(SYNC.cost(1024, true)), 5_211.264);
    }

    #[test]
    fn the_last_block_of_a_synchronous_write_is_read_and_written_if_it_is_not_filled() {
        // A block is read in 2.56 us and written in 5.12 us.
        assert_eq!(microseconds(SYNC.partial(1000)), 7.68);
        // 200 us, 1.0 us of copying, one whole block in 5.12 us, and the other.
        assert_eq!(microseconds(SYNC.cost(1000, false)), 213.8);
        assert_eq!(SYNC.partial(1024), 0.0);
    }

    #[test]
    fn the_released_program_counts_in_pages() {
        let released = SyncCost { unit: Unit::Page, ..SYNC };
        // 1024 B are no whole page: none of it is written as a whole.
        assert_eq!(microseconds(released.cost(1024, false)), 200.0 + 1.024 + 7.68);
        assert_eq!(released.cost(8192, false), SYNC.cost(8192, false));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let wrong = |change: fn(&mut SyncCost)| {
            let mut cost = SYNC;
            change(&mut cost);
            cost.check().unwrap_err().to_string()
        };
        assert_eq!(SYNC.check(), Ok(()));
        assert_eq!(
            wrong(|cost| cost.bw_rdev = 0.0),
            "bw_rdev=0: must be more than zero bytes per second, and finite"
        );
        assert_eq!(wrong(|cost| cost.c_sk = -1.0), "c_sk=-1: must be zero seconds or more, and finite");
        assert_eq!(
            wrong(|cost| cost.sc_sw = f64::NAN),
            "sc_sw=NaN: must be zero seconds or more, and finite"
        );
        assert_eq!(wrong(|cost| cost.bs = 0), "bs=0: must be at least one byte");
        let infinite = DirectCost { bw_dev: f64::INFINITY, ..DIRECT };
        assert_eq!(infinite.check().unwrap_err().name, "bw_dev");
    }

    proptest! {
        #[test]
        fn more_bytes_never_cost_less_than_copying_them(bytes in 0u64..1 << 32, seeks: bool) {
            prop_assert!(SYNC.cost(bytes, seeks) >= bytes as f64 / SYNC.bw_ramdisk);
            prop_assert!(SYNC.cost(bytes, seeks) <= SYNC.cost(bytes + SYNC.bs, seeks));
            prop_assert!(DIRECT.cost(bytes, seeks) <= SYNC.cost(bytes.next_multiple_of(512), seeks));
        }
    }
}
