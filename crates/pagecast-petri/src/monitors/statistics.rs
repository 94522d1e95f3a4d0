//! Counts, means and deviations of the values that a monitor has seen.

/// The values of a monitor: each weighs the same, or as long as it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// True if a value weighs as long as it lasts.
    pub is_timed: bool,
    /// How many values.
    pub count: u64,
    /// Their sum, each once.
    pub sum: f64,
    /// The least one.
    pub min: f64,
    /// The largest one.
    pub max: f64,
    /// The first one.
    pub first: f64,
    /// The last one.
    pub last: f64,
    /// Sums of the weights, of weights by values, and of weights by squares.
    weight: f64,
    weighted: f64,
    squares: f64,
    /// When the last one was seen.
    since: f64,
}

impl Statistics {
    /// No values.
    pub fn new(is_timed: bool) -> Self {
        Self {
            is_timed,
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            first: f64::NAN,
            last: f64::NAN,
            weight: 0.0,
            weighted: 0.0,
            squares: 0.0,
            since: 0.0,
        }
    }

    /// Adds a value that is seen at a time.
    pub fn add(&mut self, value: f64, now: f64) {
        self.until(now);
        if self.count == 0 {
            self.first = value;
        }
        if !self.is_timed {
            self.weigh(value, 1.0);
        }
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.last = value;
        self.since = now;
    }

    /// Lets the last value last until a time.
    pub fn until(&mut self, now: f64) {
        if self.is_timed && self.count > 0 {
            self.weigh(self.last, now - self.since);
            self.since = now;
        }
    }

    fn weigh(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        self.weighted += weight * value;
        self.squares += weight * value * value;
    }

    /// The mean; of values that have not lasted the last one, and not a number without any.
    pub fn mean(&self) -> f64 {
        if self.weight > 0.0 { self.weighted / self.weight } else { self.last }
    }

    /// The standard deviation: that of a sample for values that weigh the same. None with fewer than two of them.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean();
        let squares = (self.squares - self.weighted * mean).max(0.0);
        if self.is_timed {
            (self.weight > 0.0).then(|| (squares / self.weight).sqrt())
        } else {
            (self.count > 1).then(|| (squares / (self.count - 1) as f64).sqrt())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_time_weigh_the_same() {
        let mut all = Statistics::new(false);
        [2.0, 4.0, 4.0, 6.0].into_iter().for_each(|value| all.add(value, 0.0));
        assert_eq!((all.count, all.sum, all.mean(), all.min, all.max), (4, 16.0, 4.0, 2.0, 6.0));
        assert!((all.deviation().unwrap() - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn values_with_time_weigh_as_long_as_they_last() {
        let mut all = Statistics::new(true);
        all.add(1.0, 0.0);
        all.add(5.0, 30.0);
        all.until(40.0);
        all.until(40.0);
        assert_eq!((all.mean(), all.first, all.last), (2.0, 1.0, 5.0));
        assert!((all.deviation().unwrap() - 3.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn without_values_there_is_no_mean() {
        assert!(Statistics::new(true).mean().is_nan());
        assert_eq!(Statistics::new(false).deviation(), None);
    }
}
