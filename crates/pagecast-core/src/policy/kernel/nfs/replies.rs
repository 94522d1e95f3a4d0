//! Keeps how long replies were on the network and at the server, to divide a wait as the replies that came meanwhile.

use crate::result::{Part, Parts};
use crate::units::Nanos;

/// So many sums are kept; then every other one is dropped.
const MOST: usize = 1024;

/// The times of all replies of a mount so far, by the instant of each.
#[derive(Debug)]
pub struct Replies(Vec<Sum>);

/// The times of all replies up to an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    at: Nanos,
    network: Nanos,
    server: Nanos,
}

impl Replies {
    /// No reply.
    pub fn new() -> Self {
        Self(vec![Sum::default()])
    }

    /// A reply has come that was so long on the network and at the server.
    pub fn add(&mut self, now: Nanos, network: Nanos, server: Nanos) {
        if self.0.len() >= MOST {
            let mut number = 0;
            self.0.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        let last = self.last();
        self.0.push(Sum { at: now, network: last.network + network, server: last.server + server });
    }

    /// Divides a wait that ends now as the times of the replies since it began.
    pub fn divide(&self, now: Nanos, wait: Nanos) -> Parts {
        let begun = now.saturating_sub(wait);
        let before = self.0.partition_point(|sum| sum.at <= begun).min(self.0.len() - 1).saturating_sub(1);
        let (first, last) = (self.0[before], self.last());
        let (network, server) = (last.network - first.network, last.server - first.server);
        let all = u128::from(network.0) + u128::from(server.0);
        let of_server = u128::from(wait.0) * u128::from(server.0);
        let of_server = Nanos(of_server.checked_div(all).unwrap_or(0) as u64);
        let mut parts = Parts::of(Part::Server, of_server);
        parts.add(Part::Network, wait - of_server);
        parts
    }

    fn last(&self) -> Sum {
        *self.0.last().expect("there is one from the beginning")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_server(replies: &Replies, now: u64, wait: u64) -> u64 {
        replies.divide(Nanos(now), Nanos(wait)).get(Part::Server).0
    }

    #[test]
    fn a_wait_is_divided_as_the_replies_meanwhile() {
        let mut replies = Replies::new();
        assert_eq!(of_server(&replies, 10, 10), 0);
        for (at, network, server) in [(10, 9, 1), (20, 2, 6), (30, 0, 2)] {
            replies.add(Nanos(at), Nanos(network), Nanos(server));
        }
        assert_eq!(of_server(&replies, 30, 10), 10, "the last one alone");
        assert_eq!(of_server(&replies, 30, 20), 16, "the last two");
        assert_eq!(of_server(&replies, 30, 1000), 450, "all");
        assert_eq!(of_server(&replies, 40, 1), 1, "none came: as the last one");
    }

    #[test]
    fn sums_of_long_ago_are_kept_more_and_more_thinly() {
        let mut replies = Replies::new();
        (1..=100_000).for_each(|at| replies.add(Nanos(at), Nanos(3), Nanos(1)));
        assert!(replies.0.len() <= MOST);
        assert_eq!(of_server(&replies, 100_000, 80_000), 20_000);
    }
}
