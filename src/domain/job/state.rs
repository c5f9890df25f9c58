//! States of a job, and the reasons why one is blocked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State of a job, as named in the HTTP API; the [module](super) documentation contains the transition table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum JobState {
    /// The job was created. The SKU's file has not been read yet, or the SKU has neither a G-code file nor a model to
    /// slice.
    #[serde(rename = "CREATED")]
    Created,
    /// Ready for the stock check: a claim on the material was requested, without a response so far. Alternatively, all
    /// material is reserved and the model is being sliced.
    #[serde(rename = "VALIDATED")]
    Validated,
    /// The stock check or the slicing failed; [`super::Job::blocked_by`] holds the reason.
    #[serde(rename = "awaiting_manual_review")]
    AwaitingManualReview,
    /// Material is reserved and G-code is available, either sliced here or uploaded; the job is waiting for a printer.
    #[serde(rename = "SLICED")]
    Sliced,
    /// A printer is claimed; upload and start are in progress or not yet verified.
    #[serde(rename = "DISPATCHING")]
    Dispatching,
    /// The printer reports that it is printing the attempt's file.
    #[serde(rename = "PRINTING")]
    Printing,
    /// The print is paused at the printer.
    #[serde(rename = "PAUSED")]
    Paused,
    /// A print of the job ran to completion.
    #[serde(rename = "COMPLETED")]
    Completed,
    /// The last print failed, or the printers rejected the job; an operator may retry or cancel.
    #[serde(rename = "FAILED")]
    Failed,
    /// The job was cancelled; no further attempt is made unless an operator retries it.
    #[serde(rename = "CANCELLED")]
    Cancelled,
}

/// Reason why a job is in `awaiting_manual_review`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Less material is available than the job needs.
    Material,
    /// The stock on hand is below the material's reorder point; an operator may release the job nevertheless.
    ReorderPoint,
    /// The slicer failed to slice the model; the material reservation is released until an operator requests a new
    /// slicing.
    Slicing,
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "CREATED",
            Self::Validated => "VALIDATED",
            Self::AwaitingManualReview => "awaiting_manual_review",
            Self::Sliced => "SLICED",
            Self::Dispatching => "DISPATCHING",
            Self::Printing => "PRINTING",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        })
    }
}
