//! Holds the calibrated parameters of the model CAWL on a host.
//!
//! The names are those of its paper. Left out: parameters that the model takes from the rest of the machine.

use crate::keys::{RATE, SIZE, TIME, keys};
use crate::units::{Bytes, BytesPerSecond, Nanos};

keys! {
    /// The parameters of CAWL, as far as they are known.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CawlParameters: "cawl" {
        /// Copying in memory, to the buffer of a stream
        ///
        /// For `LibraryCost` of `pagecast.cawl`.
        #[key(RATE)]
        pub bw_mem: Option<BytesPerSecond>,
        /// Writing into the page cache while nothing is written back
        #[key(RATE)]
        pub bw_ramdisk: Option<BytesPerSecond>,
        /// The same while dirty pages are written back
        #[key(RATE)]
        pub bw_reduced: Option<BytesPerSecond>,
        /// Writing to the device
        #[key(RATE)]
        pub bw_dev: Option<BytesPerSecond>,
        /// Reading from the device
        #[key(RATE)]
        pub bw_rdev: Option<BytesPerSecond>,
        /// A block of the device
        #[key(SIZE)]
        pub bs: Option<Bytes>,
        /// The buffer of a stream of the C library
        ///
        /// For `LibraryCost`.
        #[key(SIZE)]
        pub bf: Option<Bytes>,
        /// A buffered system call
        #[key(TIME)]
        pub sc_w: Option<Nanos>,
        /// A synchronous system call
        #[key(TIME)]
        pub sc_sw: Option<Nanos>,
        /// A seek
        #[key(TIME)]
        pub c_sk: Option<Nanos>,
        /// Dirty bytes at which writing back begins
        #[key(SIZE)]
        pub limit_bg: Option<Bytes>,
        /// Dirty bytes that are never exceeded
        #[key(SIZE)]
        pub limit_hard: Option<Bytes>,
        /// Age from which on dirty pages are written back
        #[key(TIME)]
        pub dirty_expire: Option<Nanos>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::{MACHINE, PROCESS, read};

    fn parameters(set: &[&str]) -> Result<CawlParameters, String> {
        let read = read(&format!("{MACHINE}\n{PROCESS}"), set);
        read.map(|scenario| scenario.machine.hosts[0].cawl).map_err(|error| error.to_string())
    }

    #[test]
    fn a_machine_knows_the_parameters_that_it_names() {
        assert_eq!(parameters(&[]), Ok(CawlParameters::default()));
        let some = parameters(&["machine.cawl.bw_dev='400 MB/s'", "machine.cawl.sc_sw='90 us'"]);
        let (bw_dev, sc_sw) = (Some(BytesPerSecond(4e8)), Some(Nanos(90_000)));
        assert_eq!(some, Ok(CawlParameters { bw_dev, sc_sw, ..CawlParameters::default() }));
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        let wrong = parameters(&["machine.cawl.bw_disk='400 MB/s'"]).unwrap_err();
        assert!(wrong.contains("unknown key `bw_disk` in [machine.cawl]"), "{wrong}");
        let wrong = parameters(&["machine.cawl.bs='0 B'"]).unwrap_err();
        assert!(wrong.contains("`bs` is zero"), "{wrong}");
    }
}
