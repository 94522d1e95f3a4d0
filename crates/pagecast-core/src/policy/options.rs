//! The options of a model as a scenario writes them.

use crate::error::ScenarioError;
use crate::scenario::ModelOptions;
use crate::scenario::nearest::hint;
use crate::units::QuantityError;

/// The options of one model.
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

    fn wrong(&self, key: &str, what: String, remedy: &str) -> ScenarioError {
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
        let number = value.text.trim().strip_suffix('%').and_then(|text| text.trim().parse::<f64>().ok());
        match number.filter(|percent| (0.0..=100.0).contains(percent)) {
            Some(percent) => Ok(Some(percent / 100.0)),
            None => Err(self.wrong(
                key,
                format!("`{}` is no percentage", value.text),
                "write for example \"40 %\", from 0 to 100",
            )),
        }
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
