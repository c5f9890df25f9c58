//! The program. Everything it does is in the library, so that its code is compiled once.

use std::process::ExitCode;

fn main() -> ExitCode {
    printfloor::cli::main()
}
