//! Arguments of the commands about backups.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{CliError, GlobalOptions, backup, restore, verify};

/// Destination of a backup, or the command that verifies one.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BackupArguments {
    /// Command other than writing a backup.
    #[command(subcommand)]
    pub command: Option<BackupCommand>,
    /// File to write; it must not exist yet
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    pub file: Option<PathBuf>,
    /// Directory, or `s3://BUCKET/PATH`, to write the backup to; its file name contains the time
    #[arg(long, value_name = "PLACE")]
    pub to: Option<String>,
}

/// Commands about a backup that exists.
#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Restore a backup's database to a temporary location, start on it and read all records; changes nothing else
    Verify {
        /// Backup file, or `s3://BUCKET/PATH`
        #[arg(value_name = "FILE")]
        place: String,
    },
}

impl BackupArguments {
    /// Runs the command.
    pub async fn run(self, global: &GlobalOptions) -> Result<(), CliError> {
        match self {
            Self { command: Some(BackupCommand::Verify { place }), .. } => Box::pin(verify::run(global, &place)).await,
            Self { to: Some(to), .. } => Box::pin(backup::run_to(global, &to)).await,
            Self { file: Some(file), .. } => Box::pin(backup::run(global, &file)).await,
            _ => Err(CliError::Usage("backup: specify the file to write".to_owned())),
        }
    }
}

/// Source of the backup to restore.
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Backup file, created by `printfloor backup` or downloaded from the server; or `s3://BUCKET/PATH`; if
    /// PATH is not a file, the newest backup in it is restored
    #[arg(value_name = "FILE", required_unless_present = "from", conflicts_with = "from")]
    pub place: Option<String>,
    /// The same as FILE
    #[arg(long, value_name = "PLACE")]
    pub from: Option<String>,
}

impl RestoreArguments {
    /// Runs the command.
    pub async fn run(self, global: &GlobalOptions) -> Result<(), CliError> {
        match self.place.or(self.from) {
            Some(place) => Box::pin(restore::run(global, &place)).await,
            None => Err(CliError::Usage("restore: specify the backup file".to_owned())),
        }
    }
}
