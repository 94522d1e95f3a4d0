//! Numbers texts in the order in which they come.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::TraceError;

/// Texts and their numbers.
#[derive(Debug)]
pub struct Interner {
    /// What they are, for messages.
    plural: &'static str,
    numbers: FxHashMap<Arc<str>, u32>,
    /// The texts by number.
    pub texts: Vec<Arc<str>>,
    /// Those that were asked for lately, by the address of their text.
    recent: Vec<Option<(Arc<str>, u32)>>,
}

/// Most programs go from one to another of a few files.
const RECENT: usize = 64;

impl Interner {
    /// None yet.
    pub fn new(plural: &'static str) -> Self {
        Self { plural, numbers: FxHashMap::default(), texts: Vec::new(), recent: vec![None; RECENT] }
    }

    /// The number of a shared text.
    #[inline]
    pub fn number(&mut self, text: &Arc<str>) -> Result<u32, TraceError> {
        let place = (text.as_ptr().addr() >> 4) % RECENT;
        match &self.recent[place] {
            Some((recent, number)) if Arc::ptr_eq(recent, text) => Ok(*number),
            _ => {
                let number = match self.numbers.get(text) {
                    Some(&number) => number,
                    None => self.add(text.clone())?,
                };
                self.recent[place] = Some((text.clone(), number));
                Ok(number)
            }
        }
    }

    /// The number of a text, and true if it is new.
    pub fn of(&mut self, text: &str) -> Result<(u32, bool), TraceError> {
        match self.numbers.get(text) {
            Some(&number) => Ok((number, false)),
            None => Ok((self.add(text.into())?, true)),
        }
    }

    fn add(&mut self, text: Arc<str>) -> Result<u32, TraceError> {
        let number = u32::try_from(self.texts.len()).map_err(|_| TraceError::TooMany(self.plural))?;
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        Ok(number)
    }
}
