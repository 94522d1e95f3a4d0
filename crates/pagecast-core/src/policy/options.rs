//! The options of a model as a scenario writes them.

use std::collections::BTreeMap;

use crate::error::ScenarioError;
use crate::nearest::hint;
use crate::units::{Fraction, QuantityError};

/// Options of one model: key, value as text (a number or boolean is written out) and place.
pub type ModelOptions = BTreeMap<String, OptionValue>;

/// The value of an option and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// As text.
    pub text: String,
    /// "file:line" or "--set key=value", for messages.
    pub at: String,
}

/// The options of one model, for it to read.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Where the scenario comes from, for messages.
    pub origin: &'a str,
    /// The model.
    pub model: &'a str,
    /// As written.
    pub values: &'a ModelOptions,
}

impl Options<'_> {
    /// Refuses keys that are not in `known`.
    ///
    /// # Errors
    /// The first unknown key.
    pub fn only(&self, known: &[&str]) -> Result<(), ScenarioError> {
        let Some((key, value)) = self.values.iter().find(|(key, _)| !known.contains(&key.as_str())) else {
            return Ok(());
        };
        Err(ScenarioError {
            place: value.at.clone(),
            what: format!("model `{}` has no option `{key}`", self.model),
            remedy: hint(key, known.iter().copied(), "options of it"),
        })
    }

    /// An error at the place of an option.
    pub(super) fn wrong(&self, key: &str, what: String, remedy: &str) -> ScenarioError {
        let place = self.values.get(key).map_or_else(|| self.origin.to_owned(), |value| value.at.clone());
        ScenarioError {
            place,
            what: format!("model.{}.{key}: {what}", self.model),
            remedy: remedy.to_owned(),
        }
    }

    /// A size or time, if the option is there.
    ///
    /// # Errors
    /// It cannot be parsed, or does not pass `fits`.
    pub fn quantity<T: Copy>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, QuantityError>,
        fits: impl Fn(T) -> bool,
    ) -> Result<Option<T>, ScenarioError> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        let parsed = parse(&value.text).map_err(|error| self.wrong(key, error.to_string(), ""))?;
        if fits(parsed) {
            Ok(Some(parsed))
        } else {
            Err(self.wrong(key, format!("`{}` does not fit", value.text), "it must be more than zero"))
        }
    }

    /// A percentage such as "40 %", as a fraction, if the option is there.
    ///
    /// # Errors
    /// It is no percentage, or not between 0 and 100.
    pub fn percent(&self, key: &str) -> Result<Option<f64>, ScenarioError> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        match fraction(&value.text) {
            Some(fraction) => Ok(Some(fraction)),
            None => Err(self.wrong(
                key,
                format!("`{}` is no percentage", value.text),
                "write for example \"40 %\", from 0 to 100",
            )),
        }
    }

    /// Percentages of named things such as "ssd 80 %, hdd 20 %", as fractions, if the option is there.
    ///
    /// # Errors
    /// A name without its percentage, or percentages that sum to more than 100.
    pub fn shares(&self, key: &str) -> Result<Option<Vec<(&str, f64)>>, ScenarioError> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        let share = |text: &'_ str| {
            let (name, percent) = text.trim().split_once(char::is_whitespace)?;
            Some((name.len(), fraction(percent)?))
        };
        let mut shares = Vec::new();
        for text in value.text.split(',') {
            let text = text.trim();
            let Some((name, fraction)) = share(text) else {
                let what = format!("`{text}` is no name with a percentage");
                return Err(self.wrong(key, what, "write for example \"ssd 80 %, hdd 20 %\""));
            };
            shares.push((&text[..name], fraction));
        }
        let sum: f64 = shares.iter().map(|share| share.1).sum();
        if sum > 1.0 + 1e-6 {
            let what = format!("the percentages sum to {:.4}", sum * 100.0);
            return Err(self.wrong(key, what, "they cannot sum to more than 100"));
        }
        Ok(Some(shares))
    }

    /// Whole numbers with spaces between, if the option is there.
    ///
    /// # Errors
    /// A word that is none, or above 4 billion; the remedy is to write them `like` so.
    pub fn counts(&self, key: &str, like: &str) -> Result<Option<Vec<u32>>, ScenarioError> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        let count = |word: &str| {
            let wrong =
                |_| self.wrong(key, format!("`{word}` is no whole number"), &format!("write numbers {like}"));
            word.parse().map_err(wrong)
        };
        value.text.split_whitespace().map(count).collect::<Result<_, _>>().map(Some)
    }

    /// Which of some words, if the option is there.
    ///
    /// # Errors
    /// Another word.
    pub fn word(&self, key: &str, words: &[&str]) -> Result<Option<usize>, ScenarioError> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        match words.iter().position(|word| *word == value.text) {
            Some(at) => Ok(Some(at)),
            None => {
                let remedy = hint(&value.text, words.iter().copied(), "known words");
                Err(self.wrong(key, format!("`{}` is not known", value.text), &remedy))
            }
        }
    }
}

/// A percentage such as "40 %", as a fraction; nothing if it is none, or not between 0 and 100.
fn fraction(text: &str) -> Option<f64> {
    Fraction::parse(text).ok().map(|fraction| fraction.0).filter(|fraction| *fraction <= 1.0)
}
