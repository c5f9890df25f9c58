//! Input of a slicing run.

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// Model and slicing parameters from which the G-code of a job without a file is produced. Frozen with the job's needs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SliceSource {
    /// File of the uploaded model.
    pub model_file_id: Id,
    /// Name of the slicer profile, as set in the SKU.
    pub profile: String,
    /// Number of parts per plate: a mesh is placed on the plate that many times. A project (3MF) is a whole plate and
    /// is left unchanged.
    pub copies: u32,
}
