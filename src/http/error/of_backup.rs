//! Error responses for failed backups.

use super::ApiError;
use actors::app::backups::BackupError;
use store::copy::CopyError;

/// `Retry-After` value, in seconds: a time within which an operator may fix the problem.
const MENDED_AFTER_SECONDS: u32 = 60;

impl From<BackupError> for ApiError {
    fn from(error: BackupError) -> Self {
        let code = match error {
            BackupError::UnderWay => return Self::conflict("backup_under_way", error.to_string()),
            BackupError::NoRoom => "disk_full",
            BackupError::Disk(error) | BackupError::Copy(CopyError::Disk(error)) => return error.into(),
            BackupError::Copy(CopyError::Database { why, words }) => {
                tracing::warn!(reason = words, "the database cannot be copied");
                return why.into();
            }
            BackupError::Copy(CopyError::NoProgram(_)) => "pg_dump_missing",
            BackupError::Copy(CopyError::OldProgram { .. }) => "pg_dump_too_old",
            BackupError::Copy(error) => {
                tracing::error!(reason = %error, "creating a backup failed");
                let words = "copying the database failed; see the server log";
                return Self::unavailable("backup_failed", words, MENDED_AFTER_SECONDS);
            }
        };
        Self::unavailable(code, error.to_string(), MENDED_AFTER_SECONDS)
    }
}
