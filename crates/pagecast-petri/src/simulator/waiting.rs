//! Keeps the tokens that are not ready yet, in the order in which they become ready.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::value::{Stamp, Value};

/// A token that is not ready yet.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// When it is ready.
    pub stamp: Stamp,
    /// Among equal stamps, small numbers go first.
    number: u64,
    /// Its place.
    pub place: u32,
    /// How many equal ones.
    pub count: u64,
    /// Its colour.
    pub value: Value,
}

/// The tokens that are not ready yet. Most come in the order of their stamps; only the others need a heap.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    in_order: VecDeque<Waiting>,
    others: BinaryHeap<Reverse<Waiting>>,
    pushed: u64,
}

impl Queue {
    /// Adds a token.
    pub fn push(&mut self, stamp: Stamp, place: u32, count: u64, value: Value) {
        self.pushed += 1;
        let token = Waiting { stamp, number: self.pushed, place, count, value };
        if self.in_order.back().is_none_or(|last| last.stamp <= stamp) {
            self.in_order.push_back(token);
        } else {
            self.others.push(Reverse(token));
        }
    }

    /// When the next token is ready.
    pub fn next(&self) -> Option<Stamp> {
        self.first().map(|token| token.stamp)
    }

    /// Takes the next token, if it is ready at a time.
    pub fn pop(&mut self, now: Stamp) -> Option<Waiting> {
        let first = self.first().filter(|token| token.stamp <= now)?.number;
        match self.in_order.front() {
            Some(token) if token.number == first => self.in_order.pop_front(),
            _ => self.others.pop().map(|token| token.0),
        }
    }

    fn first(&self) -> Option<&Waiting> {
        let other = self.others.peek().map(|token| &token.0);
        match (self.in_order.front(), other) {
            (Some(token), Some(other)) => Some(token.min(other)),
            (token, other) => token.or(other),
        }
    }

    /// Takes all tokens of a place.
    pub fn clear(&mut self, place: u32) {
        self.in_order.retain(|token| token.place != place);
        self.others.retain(|token| token.0.place != place);
    }

    /// All tokens.
    pub fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.in_order.iter().chain(self.others.iter().map(|token| &token.0))
    }

    /// True without tokens.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        (self.stamp, self.number) == (other.stamp, other.number)
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.stamp, self.number).cmp(&(other.stamp, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_by_stamp_and_then_as_they_came() {
        let mut queue = Queue::default();
        let stamps = [5, 7, 3, 7, 5, 9, 3, 8, 5];
        for (number, stamp) in (0..).zip(stamps) {
            queue.push(Stamp(stamp), number % 2, 1, Value::Int(i64::from(number)));
        }
        queue.clear(1);
        assert_eq!(queue.iter().count(), 5);
        assert_eq!(queue.next(), Some(Stamp(3)));
        let mut gone = Vec::new();
        while let Some(token) = queue.pop(Stamp(5)) {
            gone.push((token.stamp.0, token.value));
        }
        let wanted = [(3, 2), (3, 6), (5, 0), (5, 4), (5, 8)];
        assert_eq!(gone, wanted.map(|(stamp, value)| (stamp, Value::Int(value))));
        assert!(queue.is_empty());
    }
}
