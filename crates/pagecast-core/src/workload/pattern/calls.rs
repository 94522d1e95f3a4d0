//! Makes the calls of a pattern one by one, without a table of them.

use super::places::Places;
use super::{Order, Pattern};
use crate::random::{Draws, mix, of_process};
use crate::units::{Bytes, Nanos};

/// A call of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternCall {
    /// First byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: Bytes,
    /// True if they are written, false if they are read.
    pub is_write: bool,
}

/// The calls of a pattern, from the first to the last.
#[derive(Clone, Debug)]
pub struct Calls {
    places: Places,
    /// Of the draws that decide which of them write.
    seed: u64,
    write_share: f64,
    first: u64,
    range: u64,
    call: u64,
    /// Nanoseconds from call to call.
    interval: f64,
    /// The number of calls so far, and the bytes that those to come move, if there is an end of them.
    made: u64,
    left: Option<u64>,
}

impl Calls {
    /// Those of a pattern on a file of this size. `seed` is beside that of the pattern.
    #[must_use]
    pub fn new(pattern: &Pattern, size: Bytes, seed: u64) -> Self {
        let range = pattern.range_within(size).0;
        let call = pattern.call.0.max(1);
        let endless = pattern.bytes.is_none() && pattern.time.is_some();
        let bytes = pattern.bytes.map_or(range, |bytes| bytes.0);
        // Nowhere to go.
        let bytes = if range == 0 { 0 } else { bytes };
        let seed = mix(seed ^ mix(pattern.seed));
        Self {
            places: Places::new(pattern.order, range.div_ceil(call), call, mix(seed)),
            seed,
            write_share: pattern.write_share,
            first: pattern.offset,
            range,
            call,
            interval: pattern.rate.map_or(0.0, |rate| 1e9 / rate),
            made: 0,
            left: (!endless || range == 0).then_some(bytes),
        }
    }

    /// Those of an operation of a process, by the number of the operation in it: the same in every run with this seed.
    #[must_use]
    pub fn of_process(pattern: &Pattern, size: Bytes, seed: u64, process: &str, operation: u32) -> Self {
        Self::new(pattern, size, mix(of_process(seed, process) ^ u64::from(operation)))
    }

    /// How many there were so far.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// True if there is no call any more.
    #[must_use]
    pub fn are_over(&self) -> bool {
        self.left == Some(0)
    }

    /// The time from the start of the pattern at which the next call may begin.
    #[must_use]
    pub fn due(&self) -> Nanos {
        if self.interval == 0.0 { Nanos::ZERO } else { Nanos((self.made as f64 * self.interval) as u64) }
    }

    fn writes(&self) -> bool {
        match self.write_share {
            0.0 => false,
            1.0 => true,
            share => Draws::of(self.seed, self.made).next_unit() <= share,
        }
    }
}

impl Iterator for Calls {
    type Item = PatternCall;

    fn next(&mut self) -> Option<PatternCall> {
        if self.are_over() {
            return None;
        }
        let within = self.places.place(self.made) * self.call;
        let bytes = self.call.min(self.range - within);
        let bytes = self.left.map_or(bytes, |left| bytes.min(left));
        let call = PatternCall { offset: self.first + within, bytes: Bytes(bytes), is_write: self.writes() };
        self.made += 1;
        self.left = self.left.map(|left| left - bytes);
        Some(call)
    }
}

impl Pattern {
    /// The bytes of its part in a file of this size.
    #[must_use]
    pub fn range_within(&self, size: Bytes) -> Bytes {
        let rest = size.saturating_sub(Bytes(self.offset));
        let range = self.range.unwrap_or(if rest == Bytes::ZERO { self.bytes.unwrap_or(rest) } else { rest });
        Bytes(range.0.min(u64::MAX - self.offset))
    }

    /// How many calls it makes in a file of this size; one that ends with its time alone as many as it may begin until then or, if nothing
    /// limits its rate, as many as its part has.
    #[must_use]
    pub fn most_calls(&self, size: Bytes) -> u64 {
        match (self.bytes, self.time, self.rate) {
            (None, Some(time), Some(rate)) => (time.as_seconds() * rate) as u64,
            (None, Some(_), None) => self.range_within(size).0.div_ceil(self.call.0.max(1)),
            _ => u64::MAX,
        }
    }

    /// True if another seed gives other calls.
    #[must_use]
    pub fn is_random(&self) -> bool {
        let has_order = matches!(self.order, Order::Sequential | Order::Backwards | Order::Strided { .. });
        !has_order || (self.write_share > 0.0 && self.write_share < 1.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::workload::AsyncBy;

    fn pattern(order: Order) -> Pattern {
        Pattern {
            path: "/f".into(),
            offset: 0,
            range: None,
            bytes: None,
            time: None,
            call: Bytes(10),
            order,
            write_share: 0.0,
            depth: 1,
            by: AsyncBy::default(),
            rate: None,
            seed: 0,
        }
    }

    fn calls(pattern: &Pattern, size: u64) -> Vec<(u64, u64)> {
        Calls::new(pattern, Bytes(size), 7).map(|call| (call.offset, call.bytes.0)).collect()
    }

    #[test]
    fn a_sequence_goes_to_the_end_and_begins_again() {
        let once = pattern(Order::Sequential);
        assert_eq!(calls(&once, 35), [(0, 10), (10, 10), (20, 10), (30, 5)]);
        let more = Pattern { bytes: Some(Bytes(52)), offset: 5, range: Some(Bytes(20)), ..once };
        assert_eq!(calls(&more, 35), [(5, 10), (15, 10), (5, 10), (15, 10), (5, 10), (15, 2)]);
    }

    #[test]
    fn backwards_is_the_other_way_round() {
        assert_eq!(calls(&pattern(Order::Backwards), 35), [(30, 5), (20, 10), (10, 10), (0, 10)]);
    }

    #[test]
    fn strides_come_back_one_call_further() {
        let strided = pattern(Order::Strided { stride: Bytes(30) });
        let offsets = |size| calls(&strided, size).into_iter().map(|(offset, _)| offset).collect::<Vec<_>>();
        assert_eq!(offsets(80), [0, 30, 60, 10, 40, 70, 20, 50]);
        assert_eq!(offsets(20), [0, 10], "a stride beyond the end");
        let twice = Pattern { bytes: Some(Bytes(80)), ..strided };
        assert_eq!(
            calls(&twice, 40).iter().map(|call| call.0).collect::<Vec<_>>(),
            [0, 30, 10, 20, 0, 30, 10, 20]
        );
    }

    #[test]
    fn a_file_that_is_made_has_the_bytes_that_are_written() {
        let write =
            Pattern { bytes: Some(Bytes(30)), write_share: 1.0, ..pattern(Order::Uniform { once: true }) };
        let mut offsets = calls(&write, 0);
        offsets.sort_unstable();
        assert_eq!(offsets, [(0, 10), (10, 10), (20, 10)]);
        assert_eq!(calls(&pattern(Order::Sequential), 0), [], "there is nothing to read");
    }

    #[test]
    fn a_share_of_the_calls_writes() {
        let mixed = Pattern {
            bytes: Some(Bytes(1_000_000)),
            write_share: 0.3,
            ..pattern(Order::Uniform { once: false })
        };
        let of = |share: f64| {
            let calls = Calls::new(&Pattern { write_share: share, ..mixed.clone() }, Bytes(1000), 7);
            calls.filter(|call| call.is_write).count()
        };
        assert_eq!([of(0.0), of(1.0)], [0, 100_000]);
        // Five deviations of a binomial distribution: 145 each.
        assert!(of(0.3).abs_diff(30_000) < 725, "{}", of(0.3));
    }

    #[test]
    fn calls_come_at_their_rate() {
        let paced = Pattern { rate: Some(3.0), ..pattern(Order::Sequential) };
        let mut calls = Calls::new(&paced, Bytes(100), 0);
        let due: Vec<u64> = std::iter::from_fn(|| {
            let due = calls.due();
            calls.next().map(|_| due.0)
        })
        .take(4)
        .collect();
        assert_eq!(due, [0, 333_333_333, 666_666_666, 1_000_000_000]);
    }

    #[test]
    fn equal_seeds_give_equal_calls_and_others_do_not() {
        let zipf = Pattern { bytes: Some(Bytes(10_000)), ..pattern(Order::Zipf { theta: 1.1 }) };
        assert_eq!(calls(&zipf, 100_000), calls(&zipf, 100_000));
        assert_ne!(calls(&zipf, 100_000), calls(&Pattern { seed: 1, ..zipf.clone() }, 100_000));
        assert!(zipf.is_random() && !pattern(Order::Sequential).is_random());
    }

    #[test]
    fn a_permutation_visits_every_place_once_before_it_begins_another() {
        for size in [10, 25, 990, 1001, 12_345] {
            let once = Pattern { bytes: Some(Bytes(2 * size)), ..pattern(Order::Uniform { once: true }) };
            let all = calls(&once, size);
            let (one, other) = all.split_at(all.len() / 2);
            for lap in [one, other] {
                let places: BTreeMap<u64, u64> = lap.iter().copied().collect();
                assert_eq!((places.len() as u64, places.values().sum::<u64>()), (size.div_ceil(10), size));
            }
            assert!(size < 100 || one != other, "each lap has an order of its own");
        }
    }
}
