//! Grows a vector chunk by chunk. A vector that is copied whenever it has become too small takes three times its memory then.

use std::ops::{Index, IndexMut};

/// How many elements are allocated at a time.
const CHUNK: usize = 1 << 10;

/// See the module. Elements are known by their index, which stays.
pub(crate) struct Chunks<T> {
    /// All are full, but for the last one.
    chunks: Vec<Vec<T>>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T> Chunks<T> {
    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Puts an element behind all others.
    pub(crate) fn push(&mut self, element: T) {
        match self.chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => last.push(element),
            None => {
                // The first grows by itself: thousands of hosts have a few elements each.
                let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(CHUNK) };
                chunk.push(element);
                self.chunks.push(chunk);
            }
        }
    }

    /// All elements in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.chunks[at / CHUNK][at % CHUNK]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_vector_across_the_borders_of_its_chunks() {
        let mut chunks = Chunks::default();
        assert_eq!(chunks.len(), 0);
        for element in 0..2 * CHUNK + 1 {
            chunks.push(element);
            assert_eq!(chunks.len(), element + 1);
        }
        chunks[CHUNK] = 7;
        let kept: Vec<usize> = chunks.iter().copied().collect();
        assert_eq!([kept[CHUNK - 1], kept[CHUNK], kept[2 * CHUNK]], [CHUNK - 1, 7, 2 * CHUNK]);
        assert_eq!(kept.len(), chunks.len());
        assert!((0..kept.len()).all(|at| chunks[at] == kept[at]));
    }
}
