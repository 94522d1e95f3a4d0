//! The C interface from outside: its header is current, and wrong calls give codes.

mod c_programs;
mod header;
