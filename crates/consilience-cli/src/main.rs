//! The command line.

#[allow(dead_code, unused_imports)]
mod io;

fn main() {}
