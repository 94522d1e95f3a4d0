//! Says where in a net a run has failed.

use super::Simulator;
use crate::error::{Error, Where};
use crate::ml::machine::Fault;

impl Simulator {
    pub(super) fn failed(&self, transition: usize, fault: &Fault) -> Error {
        let at = &self.model.flat.transitions[transition].at;
        let page = &self.model.net.pages[at.page];
        let element = format!("transition `{}`", page.transitions[at.node].name);
        self.failed_at(Where::element(&self.model.net.name, &page.name, element), fault)
    }

    pub(super) fn failed_at_place(&self, place: usize, fault: &Fault) -> Error {
        let at = &self.model.flat.places[place];
        let page = &self.model.net.pages[at.page];
        let element = format!("place `{}`", page.places[at.node].name);
        self.failed_at(Where::element(&self.model.net.name, &page.name, element), fault)
    }

    pub(crate) fn failed_in_monitor(&self, name: &str, fault: &Fault) -> Error {
        self.failed_at(Where::monitor(&self.model.net.name, name), fault)
    }

    pub(super) fn failed_at(&self, place: Where, fault: &Fault) -> Error {
        let time = self.model.program.time_shown(self.state.now);
        Error::Run { place, time, message: fault.message.clone() }
    }

    pub(super) fn endless(&self, limit: u64, transition: usize) -> Error {
        let at = &self.model.flat.transitions[transition].at;
        let page = &self.model.net.pages[at.page];
        let element = format!("transition `{}`", page.transitions[at.node].name);
        Error::Run {
            place: Where::element(&self.model.net.name, &page.name, element),
            time: self.model.program.time_shown(self.state.now),
            message: format!(
                "{limit} occurrences without any time between them; this loop never lets time go on"
            ),
        }
    }
}
