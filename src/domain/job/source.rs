//! Printable source of a job: G-code, or a model to be sliced.

use super::{Job, JobState};
use crate::slice_source::SliceSource;

impl Job {
    /// Returns the model to slice now; `None` if the job's material is not reserved, or if the job already has G-code.
    pub fn to_slice(&self) -> Option<&SliceSource> {
        let ready = self.state == JobState::Validated && self.file_id.is_none() && self.holds_all();
        self.source.as_ref().filter(|_| ready)
    }

    /// Returns whether the job has G-code, or will have it after slicing.
    pub fn has_source(&self) -> bool {
        self.file_id.is_some() || self.source.is_some()
    }
}
