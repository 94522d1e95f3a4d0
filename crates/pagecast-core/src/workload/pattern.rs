//! Describes many calls of one operation that do not follow each other in the file.

mod calls;
mod permutation;
mod places;
mod zipf;

use std::sync::Arc;

pub use self::calls::{Calls, PatternCall};
use super::asynchronous::AsyncBy;
use crate::units::{Bytes, Fraction, Nanos};

/// Calls of one size on a part of a file, in an order. It is one operation; the engine makes its calls as it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The file.
    pub path: Arc<str>,
    /// First byte of the part.
    pub offset: u64,
    /// The number of bytes of the part; `None` is up to the end of the file, or `bytes` where the file ends before.
    pub range: Option<Bytes>,
    /// The number of bytes that all calls move; `None` is `range`, or whatever there is time for.
    pub bytes: Option<Bytes>,
    /// No call begins when this time is over.
    pub time: Option<Nanos>,
    /// Bytes of one call, at least one. Calls begin at multiples of it from `offset`; the last one of the part may be shorter.
    pub call: Bytes,
    /// Where the next call begins.
    pub order: Order,
    /// The share of the calls that write, 0 to 1; the others read.
    pub write_share: f64,
    /// How many calls are under way at once, at least one.
    pub depth: u32,
    /// The interface, if several are.
    pub by: AsyncBy,
    /// Calls per second: the i-th one does not begin before i of that many seconds, from 0.
    pub rate: Option<f64>,
    /// Of its random numbers, beside the seed of the simulation.
    pub seed: u64,
}

/// The order of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Each behind the one before, from the start again at the end of the part.
    Sequential,
    /// Each before the one before, from the end.
    Backwards,
    /// Each this far behind the start of the one before; at the end from the start again, one call further.
    Strided {
        /// Bytes from start to start: a multiple of those of a call.
        stride: Bytes,
    },
    /// All places equally often; `once`: none a second time before all others.
    Uniform {
        /// As fio's random map.
        once: bool,
    },
    /// The k-th most frequent place has a share of k^-theta; which place that is, is random.
    Zipf {
        /// Its exponent, above 0.
        theta: f64,
    },
    /// Pareto's distribution as fio has it (`random_distribution=pareto:h`).
    Pareto {
        /// Its skew, 0 to 1 exclusive.
        h: f64,
    },
    /// A normal distribution around the middle of the part.
    Normal {
        /// Its standard deviation, as a share of the part.
        deviation: f64,
    },
}

impl Order {
    /// The ways to write a random order, for messages.
    pub const RANDOM: &str = "\"uniform\", \"zipf:1.1\", \"pareto:0.2\" or \"normal:10 %\"";

    /// A random order by its word and number, as in [`Order::RANDOM`].
    #[must_use]
    pub fn random(text: &str, once: bool) -> Option<Self> {
        let (word, number) = text.split_once(':').map_or((text, None), |(word, number)| (word, Some(number)));
        let number_up_to = |most: f64| {
            let number: f64 = number?.trim().parse().ok()?;
            (number > 0.0 && number <= most).then_some(number)
        };
        Some(match word.trim() {
            "uniform" if number.is_none() => Self::Uniform { once },
            "zipf" => Self::Zipf { theta: number_up_to(100.0)? },
            "pareto" => Self::Pareto { h: number_up_to(1.0).filter(|&h| h < 1.0)? },
            "normal" => {
                let Fraction(deviation) = Fraction::parse(number?).ok()?;
                Self::Normal { deviation: Some(deviation).filter(|part| (0.0..=1.0).contains(part))? }
            }
            _ => return None,
        })
    }
}

impl Pattern {
    /// The name of the operation: "read", "write", or "readwrite" of both.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.write_share {
            0.0 => "read",
            1.0 => "write",
            _ => "readwrite",
        }
    }
}
