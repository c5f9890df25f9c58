//! What G-code is sliced from.

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;

/// A model and how it is sliced: what the G-code of a job without a file is made from. Frozen with the job's needs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SliceSource {
    /// The uploaded model.
    pub model_file_id: Id,
    /// Name of the slicer profile, as the SKU says it.
    pub profile: String,
    /// How many parts one plate makes: as often is a mesh put on it. A project (3MF) is a whole plate and stays as it
    /// is.
    pub copies: u32,
}
