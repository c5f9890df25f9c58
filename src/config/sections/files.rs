//! `[files]`: storage for uploaded files, and limits on the space that customers can use.

use std::path::PathBuf;

use serde::Deserialize;

use crate::values::Days;
use domain::customer_space::SpaceLimits;

/// `[files]`: storage for uploaded files, and limits on the space that customers can use.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesConfig {
    /// Directory for uploaded files, or the address of a place in a bucket; if empty, see
    /// [`crate::Config::files_dir`].
    pub dir: PathBuf,
    /// Maximum total size, in bytes, of local copies of files in a bucket. Files in use may exceed it.
    pub cache_max_bytes: u64,
    /// Directory for rendered documents; if empty, see [`crate::Config::documents_dir`].
    pub documents_dir: PathBuf,
    /// Maximum total size, in bytes, of models, their G-code and photos in customer requests that the shop has not
    /// processed yet; 0 for no limit.
    pub unclaimed_max_bytes: u64,
    /// Time after which uploads are deleted if the shop has not processed the request they belong to; 0 for never.
    pub unclaimed_days: Days,
    /// Disk space, in bytes, that must remain free after a customer's upload; 0 for no minimum.
    pub reserved_bytes: u64,
}

impl FilesConfig {
    /// Returns the limits on customer storage.
    pub const fn space(&self) -> SpaceLimits {
        SpaceLimits { unclaimed_max_bytes: self.unclaimed_max_bytes, reserved_bytes: self.reserved_bytes }
    }
}
