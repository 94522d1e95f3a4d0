//! Remembers what was last found for shared strings: looking at the address is quicker than hashing the text.

use std::sync::Arc;

/// The number of strings that are remembered: a power of two.
const PLACES: usize = 1024;

/// What was found for strings, by their addresses. Each has one place, which it shares with others; the last of them keeps it. The strings
/// are held, so that no other one can have their addresses.
#[derive(Debug)]
pub(crate) struct Known<T>(Vec<Option<(Arc<str>, T)>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Known<T> {
    fn place(text: &Arc<str>) -> usize {
        // Allocations begin at multiples of 16 bytes, and are 32 or more.
        let address = Arc::as_ptr(text).addr();
        (address >> 5 ^ address >> 15) % PLACES
    }

    /// What was remembered for this very string.
    pub(crate) fn get(&self, text: &Arc<str>) -> Option<T> {
        let (known, found) = self.0.get(Self::place(text))?.as_ref()?;
        Arc::ptr_eq(known, text).then_some(*found)
    }

    /// Remembers what was found for a string.
    pub(crate) fn set(&mut self, text: &Arc<str>, found: T) {
        if self.0.is_empty() {
            self.0.resize_with(PLACES, || None);
        }
        self.0[Self::place(text)] = Some((text.clone(), found));
    }

    /// Forgets all of them.
    pub(crate) fn forget(&mut self) {
        self.0 = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_known_by_its_address_until_another_takes_its_place() {
        let mut known = Known::default();
        let (text, equal): (Arc<str>, Arc<str>) = ("/data/f".into(), "/data/f".into());
        assert_eq!(known.get(&text), None);
        known.set(&text, 7);
        assert_eq!((known.get(&text), known.get(&text.clone())), (Some(7), Some(7)));
        assert_eq!(known.get(&equal), None, "the text is not looked at");
        let many: Vec<Arc<str>> = (0..9 * PLACES).map(|at| at.to_string().into()).collect();
        many.iter().zip(0..).for_each(|(text, at)| known.set(text, at));
        let left = many.iter().zip(0..).filter_map(|(text, at)| Some((known.get(text)?, at)));
        let left: Vec<(u32, u32)> = left.collect();
        assert!((PLACES / 2..=PLACES).contains(&left.len()), "{}", left.len());
        assert!(left.iter().all(|(found, at)| found == at));
    }
}
