//! `[files]`: storage of uploaded files, and limits on the space that customers may use.

use std::path::PathBuf;

use serde::Deserialize;

use crate::values::Days;
use domain::customer_space::SpaceLimits;

/// `[files]`: storage of uploaded files, and limits on the space that customers may use.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesConfig {
    /// Directory of uploaded files; empty: see [`crate::Config::files_dir`].
    pub dir: PathBuf,
    /// Most bytes of customers' models, their G-code and photos that the shop has not answered yet; 0: no bound.
    pub unclaimed_max_bytes: u64,
    /// Time after which such unanswered uploads are deleted; 0: never.
    pub unclaimed_days: Days,
    /// Disk space in bytes that customers' uploads must leave free; 0: none.
    pub reserved_bytes: u64,
}

impl FilesConfig {
    /// Returns the limits on what customers may store.
    pub const fn space(&self) -> SpaceLimits {
        SpaceLimits { unclaimed_max_bytes: self.unclaimed_max_bytes, reserved_bytes: self.reserved_bytes }
    }
}
