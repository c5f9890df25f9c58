//! The `printfloor` program. All of its code is in the library, so that it is compiled only once.

use std::process::ExitCode;

fn main() -> ExitCode {
    printfloor::cli::main()
}
