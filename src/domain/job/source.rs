//! Whether a job has, or will have, something to print.

use super::{Job, JobState};
use crate::domain::slice_source::SliceSource;

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
