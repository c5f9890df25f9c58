//! The binary: chooses the TLS provider, starts the runtime, runs the command line, and turns its end into an exit code.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use printfloor::cli::{self, Cli};
use tokio::runtime::Runtime;

/// How long threads that still work are waited for at the end; a read of standard input never ends by itself.
const LEFTOVERS: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    printfloor::services::tls::install_provider();
    // Ends the process with 2 on wrong usage, with 0 after --help and --version.
    let cli = Cli::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("printfloor: the runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(cli::run(cli));
    runtime.shutdown_timeout(LEFTOVERS);
    code
}
