//! The rules of the page lists, one by one; and any sequence of operations against lists of single pages.

mod generation_pages;
mod generation_rules;
mod pages;
mod rules;
mod sequences;
