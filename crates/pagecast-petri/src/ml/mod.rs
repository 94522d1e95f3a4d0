//! CPN ML: the part of Standard ML, with multisets and time, that inscriptions and declarations are written in.
//!
//! Source: the CPN ML of CPN Tools 4.0. A text goes through `lexer`, `parser`, `check` and `lower`, once; what comes out is run by `machine`.

pub mod ast;
pub mod check;
pub mod code;
mod colsets;
pub mod declarations;
pub mod free;
pub mod lexer;
pub mod library;
pub mod lower;
pub mod machine;
pub mod parser;
pub mod program;
pub mod types;
