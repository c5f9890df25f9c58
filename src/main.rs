//! The program: installs the TLS provider, starts the runtime, runs the command line and returns its exit code.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use printfloor::cli::{self, Cli};
use tokio::runtime::Runtime;

/// How long to wait at exit for threads that are still working; a blocked read of standard input would never return.
const THREAD_EXIT_TIMEOUT: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    printfloor::services::tls::install_provider();
    // Exits the process with 2 on wrong usage and with 0 after --help and --version.
    let cli = Cli::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("printfloor: the asynchronous runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(cli::run(cli));
    runtime.shutdown_timeout(THREAD_EXIT_TIMEOUT);
    code
}
