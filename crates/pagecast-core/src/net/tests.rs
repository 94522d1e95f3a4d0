//! Compares flows with segments.

mod levels;
mod reference;
