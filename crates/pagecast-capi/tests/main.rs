//! The C interface from outside: its header is current, and wrong calls give codes.

mod header;
