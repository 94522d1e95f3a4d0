//! Makes a device serve equal streams unequally.
//!
//! Each stream (a process on a disk) has a weight, drawn once from a log-normal distribution of mean 1. The draw depends on the seed and
//! the names of the disk and the process alone, so one more process or draw elsewhere changes no other weight.

use crate::random::{hash, mix, unit};

/// The weight of a stream. `variation` is the coefficient of variation of the weights.
pub(crate) fn stream_weight(seed: u64, disk: &str, process: &str, variation: f64) -> f64 {
    if variation == 0.0 {
        return 1.0;
    }
    let stream = mix(mix(mix(seed) ^ hash(disk)) ^ hash(process));
    let (first, second) = (unit(mix(stream)), unit(mix(stream ^ u64::MAX)));
    // Box-Muller; `first` is never 0.
    let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
    let variance = variation.mul_add(variation, 1.0).ln();
    variance.sqrt().mul_add(normal, -variance / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_mean_one_and_the_given_variation() {
        let weights: Vec<f64> =
            (0..20_000).map(|process| stream_weight(7, "ssd", &format!("app{process}"), 0.2)).collect();
        let mean = weights.iter().sum::<f64>() / 20_000.0;
        let variance = weights.iter().map(|weight| (weight - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.005, "mean {mean}");
        assert!((variance.sqrt() - 0.2).abs() < 0.005, "deviation {}", variance.sqrt());
    }

    #[test]
    fn a_draw_is_the_same_on_every_machine_and_in_every_version() {
        // Computed apart, in Python.
        let expected = [1.226_598_627_950_189, 1.324_150_277_136_599, 0.879_029_799_527_326];
        for (seed, expected) in [1, 2, 3].into_iter().zip(expected) {
            let weight = stream_weight(seed, "node:ssd", "app1", 0.2);
            assert!((weight - expected).abs() < 1e-12, "{weight} of seed {seed}");
        }
    }

    #[test]
    fn a_stream_keeps_its_weight_and_seeds_differ() {
        assert_eq!(stream_weight(7, "a", "b", 0.2), stream_weight(7, "a", "b", 0.2));
        assert_ne!(stream_weight(7, "a", "b", 0.2), stream_weight(8, "a", "b", 0.2));
        assert_ne!(stream_weight(7, "a", "b", 0.2), stream_weight(7, "b", "a", 0.2));
        assert_eq!(stream_weight(7, "a", "b", 0.0), 1.0);
    }
}
