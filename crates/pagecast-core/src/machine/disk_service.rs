//! Describes how long a disk takes for requests, how many of them a cloud lets pass, and the link before it.

use crate::keys::{RATE, SIZE, TIME, keys, whole};
use crate::units::{Bytes, BytesPerSecond, Nanos};

keys! {
    /// The times of requests, by the part of all requests that take no longer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Quantiles: "quantiles" {
        /// Half of the requests take no longer, and none takes less
        #[key(TIME, required)]
        pub p50: Nanos,
        /// 90 percent of them take no longer
        ///
        /// Between two of these keys the tail is exponential; none takes longer than the last says. Each is at least as long as the one before.
        #[key(TIME, absent = "between its neighbours")]
        pub p90: Option<Nanos>,
        /// 99 percent of them take no longer
        #[key(TIME, absent = "between its neighbours")]
        pub p99: Option<Nanos>,
        /// 99.9 percent of them take no longer
        #[key(TIME, absent = "between its neighbours")]
        pub p99_9: Option<Nanos>,
        /// 99.99 percent of them take no longer
        #[key(TIME, absent = "between its neighbours")]
        pub p99_99: Option<Nanos>,
        /// 99.999 percent of them take no longer
        #[key(TIME, absent = "as the last one given")]
        pub p99_999: Option<Nanos>,
    }
}

impl Quantiles {
    /// The points that are given: the part of all requests that take longer, and the time.
    pub fn points(&self) -> impl Iterator<Item = (f64, Nanos)> {
        let beyond = [
            (0.1, self.p90),
            (0.01, self.p99),
            (1e-3, self.p99_9),
            (1e-4, self.p99_99),
            (1e-5, self.p99_999),
        ];
        [(0.5, Some(self.p50))].into_iter().chain(beyond).filter_map(|(part, time)| Some((part, time?)))
    }
}

keys! {
    /// The requests that a cloud lets pass to a volume in a second.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Iops: "iops" {
        /// Requests in a second, always
        #[key(whole(1, 1_000_000_000), required)]
        pub baseline: u32,
        /// Requests in a second while there are credits
        ///
        /// Not less than `baseline`.
        #[key(whole(1, 1_000_000_000), absent = "`baseline`")]
        pub burst: Option<u32>,
        /// Requests that it may pass beyond `baseline`
        ///
        /// It has all of them at first, and earns them back at `baseline`.
        #[key(whole(0, u32::MAX), default = 0)]
        pub credits: u32,
        /// A longer request counts as several of this size
        #[key(SIZE, default = Bytes(256 << 10))]
        pub unit: Bytes,
    }
}

keys! {
    /// The link between a host and a disk elsewhere.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct San: "san" {
        /// Bytes in a second, reads and writes together
        #[key(RATE, required)]
        pub rate: BytesPerSecond,
        /// Time of a request to the disk and of its answer back
        #[key(TIME, default = Nanos::ZERO)]
        pub round_trip: Nanos,
    }
}
