//! Moves the head of a disk that turns: seek, rotation, zones.
//!
//! Source: the seek curve of a root and a line through the track, average and full seek of a data sheet (Lee and Katz, "An analytic
//! performance model of disk arrays", SIGMETRICS 1993), continuous in the distance. Random seeks have the density 2 (1 - x), so that the root of
//! the distance has the mean 8/15, and the distance 1/3. Left out: where the platter is when the head arrives, for which stands the mean; head
//! switches and skew, which are in the rate; distances in tracks, for which stand bytes.

use crate::machine::Rotation;
use crate::units::Bytes;

/// The head and the platters of a disk. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mechanics {
    turn: f64,
    /// The seek time is `track + root * sqrt(x) + line * x`, with x the part of the disk between.
    track: f64,
    root: f64,
    line: f64,
    size: f64,
    inner: f64,
}

impl Mechanics {
    /// Those of a disk of such a size.
    #[must_use]
    pub fn new(rotation: &Rotation, size: Bytes) -> Self {
        let track = rotation.track_seek.as_seconds();
        let (average, full) =
            (rotation.average_seek.as_seconds() - track, rotation.full_seek().as_seconds() - track);
        let root = 5.0 * (average - full / 3.0);
        Self {
            turn: 60.0 / f64::from(rotation.rpm),
            track,
            root,
            line: full - root,
            size: size.0 as f64,
            inner: rotation.inner,
        }
    }

    /// True if a longer seek never takes less time.
    #[must_use]
    pub fn is_monotone(&self) -> bool {
        self.root >= 0.0 && self.line >= 0.0
    }

    /// Seconds of the head over so many bytes.
    #[must_use]
    pub fn seek(&self, distance: u64) -> f64 {
        let part = (distance as f64 / self.size).min(1.0);
        self.track + self.root * part.sqrt() + self.line * part
    }

    /// Seconds until the head is over a byte, with `choices` requests from which the disk takes the one that comes up first. A place not
    /// far ahead is reached by letting what lies between pass.
    #[must_use]
    pub fn positioning(&self, from: Option<u64>, to: u64, choices: usize, rate: f64) -> f64 {
        let wait = self.turn / (choices.max(1) as f64 + 1.0);
        let Some(from) = from else { return self.seek((self.size / 3.0) as u64) + wait };
        let moved = self.seek(from.abs_diff(to)) + wait;
        if to >= from { moved.min((to - from) as f64 / (rate * self.zone(to))) } else { moved }
    }

    /// The rate at a byte, as a part of that of the first.
    #[must_use]
    pub fn zone(&self, at: u64) -> f64 {
        1.0 - (1.0 - self.inner) * (at as f64 / self.size).min(1.0)
    }

    /// Seconds of requests one after the other, each a place and bytes, from where the head is.
    #[must_use]
    pub fn train(&self, mut head: Option<u64>, requests: &[(u64, u64)], rate: f64) -> f64 {
        let mut seconds = 0.0;
        for &(at, bytes) in requests {
            seconds += self.positioning(head, at, 1, rate) + bytes as f64 / (rate * self.zone(at));
            head = Some(at + bytes);
        }
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    const SIZE: Bytes = Bytes(500_000_000_000);

    fn mechanics(inner: f64) -> Mechanics {
        let ms = |ms: f64| Nanos::from_seconds(ms * 1e-3);
        let rotation = Rotation {
            rpm: 7200,
            track_seek: ms(1.0),
            average_seek: ms(8.5),
            full_seek: Some(ms(17.0)),
            inner,
            cache: None,
        };
        Mechanics::new(&rotation, SIZE)
    }

    #[test]
    fn the_curve_goes_through_the_three_seeks_of_a_data_sheet() {
        let disk = mechanics(1.0);
        assert!(disk.is_monotone());
        assert!((disk.seek(0) - 0.001).abs() < 1e-9 && (disk.seek(SIZE.0) - 0.017).abs() < 1e-9);
        // The mean over pairs of random places.
        let places = 400;
        let place = |at: u64| (2 * at + 1) * SIZE.0 / (2 * places);
        let pairs = (0..places).flat_map(|from| (0..places).map(move |to| (from, to)));
        let total: f64 = pairs.map(|(from, to)| disk.seek(place(from).abs_diff(place(to)))).sum();
        let mean = total / (places * places) as f64;
        assert!((mean - 0.0085).abs() < 2e-5, "{mean}");
    }

    #[test]
    fn a_longer_seek_takes_no_less_time() {
        let disk = mechanics(1.0);
        let times: Vec<f64> = (0..=100).map(|part| disk.seek(SIZE.0 / 100 * part)).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn the_next_byte_costs_nothing_and_one_behind_the_head_half_a_turn_and_a_seek() {
        let disk = mechanics(1.0);
        assert_eq!(disk.positioning(Some(4096), 4096, 1, 1e8), 0.0);
        let back = disk.positioning(Some(1 << 30), (1 << 30) - 4096, 1, 1e8);
        assert!((back - (0.001 + 0.5 / 120.0)).abs() < 2e-5, "{back}");
        assert_eq!(disk.positioning(Some(0), 100_000, 1, 1e8), 1e-3, "it lets a gap pass");
    }

    #[test]
    fn with_more_requests_to_choose_from_one_comes_up_sooner() {
        let disk = mechanics(1.0);
        let waits = [1, 3, 31].map(|choices| disk.positioning(Some(1 << 30), 0, choices, 1e8));
        assert!(waits.is_sorted_by(|more, less| more > less));
        assert!((waits[0] - waits[1] - (0.5 - 0.25) / 120.0).abs() < 1e-12);
    }

    #[test]
    fn a_train_takes_as_long_as_its_requests_one_by_one() {
        let disk = mechanics(0.5);
        let requests = [(0, 1 << 20), (1 << 20, 1 << 20), (400_000_000_000, 1 << 20), (1 << 21, 4096)];
        let mut head = Some(77);
        let mut one_by_one = 0.0;
        for request in requests {
            one_by_one += disk.train(head, &[request], 1e8);
            head = Some(request.0 + request.1);
        }
        assert!((disk.train(Some(77), &requests, 1e8) - one_by_one).abs() < 1e-12);
    }

    #[test]
    fn the_last_track_is_slower_than_the_first() {
        let disk = mechanics(0.5);
        let seconds = |at| disk.train(Some(at), &[(at, 100_000_000)], 1e8);
        assert!((seconds(0) - 1.0).abs() < 1e-9 && (seconds(SIZE.0) - 2.0).abs() < 1e-9);
    }
}
