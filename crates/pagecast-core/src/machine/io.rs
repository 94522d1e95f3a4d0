//! Describes limits of the I/O of cgroups: lines of `io.max`, and of `io.cost.model` and `io.cost.qos`.

use crate::keys::{RATE, TIME, keys, number, whole};
use crate::units::{BytesPerSecond, Nanos};

keys! {
    /// The limits of a cgroup on a disk.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct IoMax: "io_max" {
        /// Bytes that its processes read in a second
        #[key(RATE, absent = "any number")]
        pub rbps: Option<BytesPerSecond>,
        /// Bytes that they write in a second, write-back of pages that they made dirty included
        #[key(RATE, absent = "any number")]
        pub wbps: Option<BytesPerSecond>,
        /// Requests that read in a second
        #[key(whole(1, u32::MAX), absent = "any number")]
        pub riops: Option<u32>,
        /// Requests that write in a second
        #[key(whole(1, u32::MAX), absent = "any number")]
        pub wiops: Option<u32>,
    }
}

keys! {
    /// The model of the cost of requests to a disk, and how they are held back by it. The defaults are the kernel's for SSDs (`autop`).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct IoCost: "iocost" {
        /// Bytes in a second of long reads
        #[key(RATE, default = BytesPerSecond(488_636_629.0))]
        pub rbps: BytesPerSecond,
        /// Reads of 4 KiB in a second, in order
        #[key(whole(1, u32::MAX), default = 8932)]
        pub rseqiops: u32,
        /// Reads of 4 KiB in a second, at random
        #[key(whole(1, u32::MAX), default = 8518)]
        pub rrandiops: u32,
        /// Bytes in a second of long writes
        #[key(RATE, default = BytesPerSecond(427_891_549.0))]
        pub wbps: BytesPerSecond,
        /// Writes of 4 KiB in a second, in order
        #[key(whole(1, u32::MAX), default = 28_755)]
        pub wseqiops: u32,
        /// Writes of 4 KiB in a second, at random
        #[key(whole(1, u32::MAX), default = 21_940)]
        pub wrandiops: u32,
        /// Percent of reads that are to take no longer than `rlat`
        ///
        /// With 0 latencies of reads are not looked at.
        #[key(number(0.0, 100.0), default = 0.0)]
        pub rpct: f64,
        /// Latency of reads
        ///
        /// A period of the controller is twice the longer latency or more.
        #[key(TIME, default = Nanos(25_000_000))]
        pub rlat: Nanos,
        /// Percent of writes that are to take no longer than `wlat`
        #[key(number(0.0, 100.0), default = 0.0)]
        pub wpct: f64,
        /// Latency of writes
        #[key(TIME, default = Nanos(25_000_000))]
        pub wlat: Nanos,
        /// Least speed of its virtual time, percent
        #[key(number(1.0, 10_000.0), default = 1.0)]
        pub min: f64,
        /// Most speed of its virtual time, percent
        ///
        /// Not less than `min`.
        #[key(number(1.0, 10_000.0), default = 10_000.0)]
        pub max: f64,
    }
}
