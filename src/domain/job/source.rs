//! What a job's G-code is sliced from.

use serde::{Deserialize, Serialize};

use super::{Job, JobState};
use crate::domain::id::Id;

/// A model and how it is sliced: what the G-code of a job without a file is made from. Frozen with the job's needs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SliceSource {
    /// The uploaded model.
    pub model_file_id: Id,
    /// Name of the slicer profile, as the SKU says it.
    pub profile: String,
    /// How many parts one plate makes: as often is a mesh put on it. A project (3MF) is a whole plate and stays as it is.
    pub copies: u32,
}

impl Job {
    /// What its G-code is to be sliced from now; `None` while its material is not reserved, and once it has G-code.
    pub fn to_slice(&self) -> Option<&SliceSource> {
        let ready = self.state == JobState::Validated && self.file_id.is_none() && self.holds_all();
        self.source.as_ref().filter(|_| ready)
    }

    /// Whether there is, or will be by slicing, something to print.
    pub fn has_source(&self) -> bool {
        self.file_id.is_some() || self.source.is_some()
    }
}
