//! Follows the working set: the different pages that are used in each window of time.

use serde::Serialize;

use crate::trace::FileRequest;
use crate::units::Nanos;

/// The windows of a recording.
const WINDOWS: u64 = 100;

/// A window of time, or of requests where there are no times.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WindowRow {
    /// When it ends, from the first request, in seconds.
    pub end_s: Option<f64>,
    /// The number of requests up to its end.
    pub requests: u64,
    /// Bytes read in it.
    pub read_bytes: u64,
    /// Bytes written in it.
    pub written_bytes: u64,
    /// The different pages that are used in it: the working set.
    pub working_set_bytes: u64,
    /// The different pages that have been used up to its end.
    pub footprint_bytes: u64,
}

/// All windows.
pub struct Windows {
    times: Option<(Nanos, Nanos)>,
    requests: u64,
    rows: Vec<WindowRow>,
}

impl Windows {
    pub fn new(times: Option<(Nanos, Nanos)>, requests: u64) -> Self {
        let times = times.filter(|(first, last)| first < last);
        let windows = if requests == 0 { 0 } else { WINDOWS.min(requests) };
        Self { times, requests, rows: vec![WindowRow::default(); windows as usize] }
    }

    /// The window of a request.
    pub fn of(&self, time: Option<Nanos>, number: u64) -> u32 {
        let windows = self.rows.len() as u128;
        let (done, all) = match (self.times, time) {
            (Some((first, last)), Some(time)) => (time.0.saturating_sub(first.0), last.0 - first.0),
            _ => (number, self.requests),
        };
        (u128::from(done) * windows / u128::from(all.max(1))).min(windows.saturating_sub(1)) as u32
    }

    /// A request moves its bytes.
    pub fn moved(&mut self, window: u32, request: &FileRequest) {
        let row = &mut self.rows[window as usize];
        row.requests += 1;
        match request.is_write {
            true => row.written_bytes += request.bytes,
            false => row.read_bytes += request.bytes,
        }
    }

    /// A page of the sample is used.
    pub fn touched(&mut self, window: u32, bytes: u64, is_first: bool, is_first_in_window: bool) {
        let row = &mut self.rows[window as usize];
        row.footprint_bytes += if is_first { bytes } else { 0 };
        row.working_set_bytes += if is_first_in_window { bytes } else { 0 };
    }

    /// All rows; `scale` is the number of pages that one of the sample stands for.
    pub fn rows(self, scale: f64) -> Vec<WindowRow> {
        let windows = self.rows.len() as u128;
        let (mut requests, mut footprint) = (0, 0);
        let row = |(at, row): (usize, WindowRow)| {
            requests += row.requests;
            footprint += row.footprint_bytes;
            let end = |(first, last): (Nanos, Nanos)| {
                Nanos((u128::from(last.0 - first.0) * (at as u128 + 1) / windows) as u64).as_seconds()
            };
            WindowRow {
                end_s: self.times.map(end),
                requests,
                working_set_bytes: (row.working_set_bytes as f64 * scale) as u64,
                footprint_bytes: (footprint as f64 * scale) as u64,
                ..row
            }
        };
        self.rows.into_iter().enumerate().map(row).collect()
    }
}
