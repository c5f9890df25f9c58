//! The command line: its commands and their arguments. Each command is implemented in a file in this directory.
//!
//! Results go to standard output, messages and errors to standard error. Exit codes: 0 success, 1 failure, 2 incorrect
//! usage.

mod api;
mod api_client;
mod audit;
mod backup;
mod backup_arguments;
mod bucket;
mod check;
mod config;
mod error;
mod handover;
mod keys;
mod manual;
mod openapi;
mod output;
mod password;
mod progress;
mod recount;
mod restore;
mod serve;
mod settings;
mod table;
mod temporary;
mod tools;
mod transfer;
mod users;
mod verify;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::aot::Shell;
use rustix::fs::Mode;
use tokio::runtime::Runtime;

pub use error::CliError;

use crate::cli::audit::AuditCommand;
use crate::cli::backup_arguments::{BackupArguments, RestoreArguments};
use crate::cli::tools::Tool;
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::time::Timestamp;
use crate::process_settings;

/// Server for 3D-print shops: orders, stock, printers, webhooks.
#[derive(Debug, Parser)]
#[command(name = "printfloor", version, max_term_width = 100)]
pub struct Cli {
    /// Command to run; `None` runs the server.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// Options for all commands.
    #[command(flatten)]
    pub global: GlobalOptions,
    /// Server options.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Options for all commands.
#[derive(Clone, Debug, Default, Args)]
pub struct GlobalOptions {
    /// Read settings from this file instead of printfloor.toml in the working directory
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    #[expect(clippy::doc_markdown, reason = "it is shown as the help of the command line")]
    /// Data directory of the server [default: the server.data_dir setting, or "data" if unset]
    #[arg(long, value_name = "DIR", global = true)]
    pub data: Option<PathBuf>,
}

/// Server options.
#[derive(Clone, Debug, Default, Args)]
pub struct ServeArgs {
    /// IP address and port to listen on, for example 0.0.0.0:8787; the port or the address may be omitted
    /// [default: the server.listen setting]
    #[arg(long, value_name = "ADDR", value_parser = crate::config::listen::parse)]
    pub listen: Option<SocketAddr>,
}

/// Subcommand; `serve` if none is given.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Run the server (same as running printfloor without a command)
    Serve {
        /// Command-line options that override settings.
        #[command(flatten)]
        args: ServeArgs,
        /// Exit as soon as standard input closes, for example because the parent process ended
        #[arg(long, hide = true)]
        end_with_stdin: bool,
    },
    /// Run the server with a simulated shop: printers, products, stock and a stream of new orders
    Demo(ToolArguments),
    /// Run simulated printers and, optionally, a payment processor, without a server; print one line of JSON for each
    Simulate(ToolArguments),
    /// Create, list, and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Create and list staff accounts, and set passwords
    #[command(subcommand)]
    User(UserCommand),
    /// Print every setting with its description and the source of its value
    Config(ConfigArgs),
    /// Test the settings and all configured services, and suggest fixes
    Check,
    /// Hand over to the standby server and stop the running one; fails if no standby is ready
    Handover,
    /// Write a complete, verified backup of the shop to a file; works while the server is running
    Backup(BackupArguments),
    /// Restore a backup into an empty data directory and an empty database
    Restore(RestoreArguments),
    /// Verify the audit log or print its head
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Recount the stored totals and print those that are wrong; works while the server is running
    Recount {
        /// Correct them; requires that no server is running
        #[arg(long)]
        correct: bool,
    },
    /// Copy the shop to an empty database, from SQLite to PostgreSQL or back; requires that no server is running
    Transfer {
        /// Database to read: a data directory, an SQLite file (*.db), or an address such as `postgres://user@host/name`
        #[arg(long, value_name = "DATABASE")]
        from: String,
        /// Empty database to write to, in the same format
        #[arg(long, value_name = "DATABASE")]
        to: String,
    },
    /// Print the OpenAPI 3.1 document for an API
    Openapi {
        /// API to describe
        #[arg(default_value = "production")]
        which: Description,
    },
    /// Print the completion script for a shell
    Completions {
        /// Shell to generate the script for
        shell: Shell,
    },
    /// Print the manual page; to read it, run `printfloor man | man -l -`
    Man,
}

/// API whose OpenAPI document can be printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Description {
    /// The shop's own API: /api, /webhooks and health checks
    Production,
    /// The API for the shop's customers: /api/v1
    Billing,
}

/// Arguments that a command passes to the tool it starts.
#[derive(Clone, Debug, Default, Args)]
#[command(disable_help_flag = true)]
pub struct ToolArguments {
    /// Options for the program that this command starts; --help lists them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Options that select the settings printed by `printfloor config`.
#[derive(Clone, Copy, Debug, Args)]
pub struct ConfigArgs {
    /// Print only the settings that you have set, one per line
    #[arg(long, conflicts_with = "defaults")]
    pub set: bool,
    /// Print the default settings
    #[arg(long)]
    pub defaults: bool,
}

/// Commands that manage API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key and print it; it cannot be shown again
    Create(NewKey),
    /// List all keys, newest first
    List,
    /// Revoke a key; requests that use it are rejected immediately
    Revoke {
        /// ID of the key, as shown by `key list`
        #[arg(value_parser = key_id)]
        id: Id,
    },
}

/// Arguments for `key create`.
#[derive(Clone, Debug, Args)]
pub struct NewKey {
    /// Descriptive name, such as the name of the program that uses the key
    #[arg(long)]
    pub name: String,
    /// Role of the key, which determines its permissions
    #[arg(long)]
    pub role: AnyRole,
    /// Time at which the key expires, for example 2030-01-31T12:00:00Z, or 2030-01-31 for the start of that day in UTC
    /// [default: never]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub expires_at: Option<Timestamp>,
    /// For the customer role: email address of the customer whose orders the key can read and for whom it can place
    /// orders
    #[arg(long, value_name = "EMAIL")]
    pub customer_email: Option<String>,
    /// Create a new shop if the data directory doesn't contain one
    #[arg(long)]
    pub new: bool,
}

/// Commands that manage staff accounts.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create an account; prompts for the password, or reads it from one line of standard input
    Create(NewUserArguments),
    /// List all accounts
    List,
    /// Set a new password for an account and end its sessions; prompts for the password, or reads it from one line of
    /// standard input
    Passwd {
        /// Email address of the account
        #[arg(long)]
        email: String,
    },
}

/// Arguments for `user create`.
#[derive(Clone, Debug, Args)]
pub struct NewUserArguments {
    /// Email address to sign in with
    #[arg(long)]
    pub email: String,
    /// Role of the account, which determines its permissions
    #[arg(long)]
    pub role: RoleArgument,
    /// Name of the staff member; defaults to the part of the email address before the @
    #[arg(long)]
    pub name: Option<String>,
    /// Create a new shop if the data directory doesn't contain one
    #[arg(long)]
    pub new: bool,
}

/// Role of an API key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AnyRole {
    /// The customer's own orders, and the catalogue
    Customer,
    /// Daily work: orders, jobs, printers, files, stock and products
    Operator,
    /// Everything, including accounts, API keys and webhooks
    Admin,
}

/// Role of a staff member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RoleArgument {
    /// Daily work: orders, jobs, printers, files, stock and products
    Operator,
    /// Everything, including accounts, API keys and webhooks
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

impl From<RoleArgument> for Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::Operator => Self::Operator,
            RoleArgument::Admin => Self::Admin,
        }
    }
}

/// Maximum time to wait at exit for threads that are still working; a blocked read from standard input would never
/// return.
const THREAD_EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs the whole program: installs the TLS provider, parses the command line, and runs the command on its own runtime.
///
/// This function is not `async`: the body of an `async fn` is compiled in the crate that first polls it. That would be
/// the binary, and the code of all tasks would be compiled a second time.
pub fn main() -> ExitCode {
    // Whatever this process makes is for its user alone, wherever it is: databases, uploads, mails, secrets.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    process_settings::apply();
    platform::tls::install_provider();
    // Exits the process with 2 on wrong usage and with 0 after --help and --version.
    let cli = Cli::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::note(&format!("printfloor: the asynchronous runtime cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(run(cli));
    runtime.shutdown_timeout(THREAD_EXIT_TIMEOUT);
    code
}

/// Runs a command to completion. On failure, prints the reason and any advice to standard error.
async fn run(cli: Cli) -> ExitCode {
    // On the heap: what a server holds while it runs is larger than a stack frame should be.
    match Box::pin(run_command(cli)).await {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("printfloor: {error}"));
            if let Some(advice) = error.advice() {
                output::note(&format!("  {advice}"));
            }
            error.exit_code()
        }
    }
}

async fn run_command(cli: Cli) -> Result<(), CliError> {
    let Cli { command, global, serve } = cli;
    if command.is_some() && serve.listen.is_some() {
        return Err(CliError::Usage("--listen must come after the command: printfloor serve --listen ADDR".to_owned()));
    }
    match command {
        None => Box::pin(serve::run(&global, serve.listen, None)).await,
        Some(CliCommand::Serve { args, end_with_stdin }) => {
            let started = end_with_stdin.then(serve::end_with_stdin);
            Box::pin(serve::run(&global, args.listen, started)).await
        }
        Some(CliCommand::Demo(args)) => {
            if global.config.is_some() {
                return Err(CliError::Usage("the demo uses its own settings; omit --config".to_owned()));
            }
            let data = global.data.map(|data| ["--data".into(), data.into_os_string()]);
            tools::run(Tool::Demo, data.into_iter().flatten().chain(args.arguments))
        }
        Some(CliCommand::Simulate(args)) => tools::run(Tool::Simulator, args.arguments),
        Some(CliCommand::Key(KeyCommand::Create(new))) => Box::pin(keys::create(&global, &new)).await,
        Some(CliCommand::Key(KeyCommand::List)) => Box::pin(keys::list(&global)).await,
        Some(CliCommand::Key(KeyCommand::Revoke { id })) => Box::pin(keys::revoke(&global, id)).await,
        Some(CliCommand::User(UserCommand::Create(new))) => Box::pin(users::create(&global, &new)).await,
        Some(CliCommand::User(UserCommand::List)) => Box::pin(users::list(&global)).await,
        Some(CliCommand::User(UserCommand::Passwd { email })) => Box::pin(users::passwd(&global, &email)).await,
        Some(CliCommand::Config(args)) => config::run(&global, args),
        Some(CliCommand::Check) => check::run(&global).await,
        Some(CliCommand::Handover) => Box::pin(handover::run(&global)).await,
        Some(CliCommand::Backup(args)) => args.run(&global).await,
        Some(CliCommand::Restore(args)) => args.run(&global).await,
        Some(CliCommand::Audit(command)) => Box::pin(command.run(&global)).await,
        Some(CliCommand::Recount { correct }) => Box::pin(recount::run(&global, correct)).await,
        Some(CliCommand::Transfer { from, to }) => Box::pin(transfer::run(&global, &from, &to)).await,
        Some(CliCommand::Openapi { which }) => openapi::run(&global, which),
        Some(CliCommand::Completions { shell }) => manual::completions(shell),
        Some(CliCommand::Man) => manual::man(),
    }
}

/// Parses a time or a date; a date means 00:00 UTC on that day.
fn time(text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == "2030-01-31".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole.parse().map_err(|_| "must be a time such as 2030-01-31T12:00:00Z or a date such as 2030-01-31".to_owned())
}

fn key_id(text: &str) -> Result<Id, String> {
    text.parse().map_err(|_| "is not an ID; `printfloor key list` shows the IDs".to_owned())
}

#[cfg(test)]
mod tests;
