//! `[files]`: where uploaded files are kept, and how much room customers may take.

use std::path::PathBuf;

use serde::Deserialize;

use crate::config::values::Days;
use crate::domain::customer_space::SpaceLimits;

/// `[files]`: where uploaded files are kept, and how much room customers may take.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Directory of uploaded files; empty: see [`crate::config::Config::files_dir`].
    pub dir: PathBuf,
    /// Most bytes of customers' models, their G-code and photos that the shop has not answered yet; 0: no bound.
    pub unclaimed_max_bytes: u64,
    /// How long they are kept; 0: as long as nobody deletes them.
    pub unclaimed_days: Days,
    /// Bytes of the disk that customers' uploads leave free; 0: none.
    pub reserved_bytes: u64,
}

impl Files {
    /// Returns the bounds of what customers may store.
    pub const fn space(&self) -> SpaceLimits {
        SpaceLimits { unclaimed_max_bytes: self.unclaimed_max_bytes, reserved_bytes: self.reserved_bytes }
    }
}
