//! `[backup]`: backups that the server makes by itself.

use serde::Deserialize;

use crate::values::Hours;

/// `[backup]`: backups that the server makes by itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupConfig {
    /// Interval between two backups; 0 for none.
    pub every_hours: Hours,
    /// Directory, or `s3://` address, in which they are stored.
    pub to: String,
    /// Number of backups that are retained there; 0 for all.
    pub keep: u32,
}
