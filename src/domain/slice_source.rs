//! Input of a slicing run.

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// Model and slicing parameters used to produce the G-code for a job without a file. Frozen together with the job's
/// needs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SliceSource {
    /// File of the uploaded model.
    pub model_file_id: Id,
    /// Name of the slicer profile, as set in the SKU.
    pub profile: String,
    /// Number of parts per plate. A mesh is placed on the plate that many times, whereas a project (3MF) is a whole
    /// plate and is left unchanged.
    pub copies: u32,
}
