//! The command line (decisions §13). Each command is a file of this folder; here are its arguments.
//!
//! What a command prints goes to standard output, what it says about itself to standard error. Exit codes: 0 done,
//! 1 failed, 2 wrong usage.

pub mod api;
mod check;
pub mod demo;
mod error;
mod keys;
mod office;
mod openapi;
mod password;
mod serve;
mod settings;
mod signals;
mod simulate;
mod table;
mod users;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use error::CliError;
pub use signals::Signals;

use crate::cli::demo::DemoOptions;
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::time::Timestamp;

/// The server a 3D-print shop runs on: orders, stock, printers, webhooks.
#[derive(Debug, Parser)]
#[command(name = "printfloor", version, max_term_width = 100)]
pub struct Cli {
    /// What to do; without it, the server runs.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// For every command.
    #[command(flatten)]
    pub global: Global,
    /// For the server.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What every command takes.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// File of settings; without it, printfloor.toml in the working directory, if there is one
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Folder of everything the server keeps on disk
    #[arg(long, value_name = "DIR", global = true)]
    pub data: Option<PathBuf>,
}

/// What the server takes.
#[derive(Clone, Debug, Default, Args)]
pub struct ServeArgs {
    /// Address and port to listen on, such as 0.0.0.0:8787
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server; also what printfloor alone does
    Serve(ServeArgs),
    /// Run the server with a simulated shop: printers, products, stock, and orders that keep coming
    Demo(DemoArgs),
    /// Run simulated printers alone, and print one JSON line for each
    Simulate(SimulateArgs),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Add and list members of staff
    #[command(subcommand)]
    User(UserCommand),
    /// Test the configuration and every configured service, and say how to mend what is wrong
    Check,
    /// Print the description of an API as OpenAPI 3.1
    Openapi {
        /// Which of the two
        #[arg(default_value = "production")]
        which: Description,
    },
}

/// An API that can be described.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Description {
    /// The customer's half, /api/v1
    Billing,
    /// The shop's half: /api, /webhooks, health
    Production,
}

/// Arguments of `demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// How many printers; half speak the firmware web API, half that of the print server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub printers: Option<u16>,
    /// Address and port to listen on; without it, the usual one, or a free one when that is taken
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// End by itself after this many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub end_after: Option<Duration>,
}

/// Arguments of `simulate`.
#[derive(Clone, Debug, Args)]
pub struct SimulateArgs {
    /// How many printers with the firmware web API (Moonraker)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fw_rest: u16,
    /// How many printers with a print server (OctoPrint)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub server_rest: u16,
    /// Port of the first printer, the others follow; without it, free ports
    #[arg(long, value_name = "P")]
    pub base_port: Option<u16>,
    /// How much faster than the G-code's own estimate they print
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// Decides keys, serial numbers and temperaments: the same seed gives the same printers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

/// Commands about API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it: it is shown this once
    Create(NewKey),
    /// List all keys, newest first
    List,
    /// End a key, at once
    Revoke {
        /// Identifier, as `key list` shows it
        id: Id,
    },
}

/// A key to be made.
#[derive(Clone, Debug, Args)]
pub struct NewKey {
    /// What the key is for
    #[arg(long)]
    pub name: String,
    /// What it may do
    #[arg(long)]
    pub role: AnyRole,
    /// Until when it works, such as 2030-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub expires_at: Option<Timestamp>,
    /// For a customer key: whose orders it sees and makes
    #[arg(long, value_name = "EMAIL")]
    pub customer_email: Option<String>,
}

/// Commands about members of staff.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a member of staff; asks for the password, or reads it as one line from standard input
    Create(NewUser),
    /// List all members of staff
    List,
}

/// A member of staff to be added.
#[derive(Clone, Debug, Args)]
pub struct NewUser {
    /// Their address, with which they sign in
    #[arg(long)]
    pub email: String,
    /// What they may do
    #[arg(long)]
    pub role: StaffRole,
    /// Their name; without it, what stands before the @
    #[arg(long)]
    pub name: Option<String>,
}

/// What a key may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AnyRole {
    /// Own orders and the catalogue
    Customer,
    /// The floor: orders, jobs, printers, files, stock, products
    Operator,
    /// Everything
    Admin,
}

/// What a member of staff may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StaffRole {
    /// The floor: orders, jobs, printers, files, stock, products
    Operator,
    /// Everything
    Admin,
}

impl From<AnyRole> for Role {
    fn from(role: AnyRole) -> Self {
        match role {
            AnyRole::Customer => Self::Customer,
            AnyRole::Operator => Self::Operator,
            AnyRole::Admin => Self::Admin,
        }
    }
}

impl From<StaffRole> for Role {
    fn from(role: StaffRole) -> Self {
        match role {
            StaffRole::Operator => Self::Operator,
            StaffRole::Admin => Self::Admin,
        }
    }
}

/// Runs a command to its end; says on standard error why it failed and what to do.
pub async fn run(cli: Cli) -> ExitCode {
    match run_command(cli).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("printfloor: {error}");
            if let Some(advice) = error.advice() {
                eprintln!("  {advice}");
            }
            error.exit_code()
        }
    }
}

async fn run_command(cli: Cli) -> Result<(), CliError> {
    let Cli { command, global, serve } = cli;
    if command.is_some() && serve.listen.is_some() {
        return Err(CliError::Usage("--listen belongs behind the command: printfloor serve --listen ADDR".to_owned()));
    }
    match command {
        None => serve::run(&global, serve.listen).await,
        Some(Command::Serve(args)) => serve::run(&global, args.listen).await,
        Some(Command::Demo(args)) => {
            if global.config.is_some() {
                return Err(CliError::Usage("the demo has settings of its own and takes no --config".to_owned()));
            }
            demo::run(DemoOptions {
                data: global.data,
                printers: args.printers.map(usize::from),
                listen: args.listen,
                end_after: args.end_after,
            })
            .await
        }
        Some(Command::Simulate(args)) => simulate::run(&args).await,
        Some(Command::Key(KeyCommand::Create(new))) => keys::create(&global, &new).await,
        Some(Command::Key(KeyCommand::List)) => keys::list(&global).await,
        Some(Command::Key(KeyCommand::Revoke { id })) => keys::revoke(&global, id).await,
        Some(Command::User(UserCommand::Create(new))) => users::create(&global, &new).await,
        Some(Command::User(UserCommand::List)) => users::list(&global).await,
        Some(Command::Check) => check::run(&global).await,
        Some(Command::Openapi { which }) => openapi::run(&global, which),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|span| !span.is_zero()).ok_or_else(|| "must be a number of seconds above 0".to_owned())
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0);
    speed.ok_or_else(|| "must be a number above 0".to_owned())
}

#[cfg(test)]
mod tests;
