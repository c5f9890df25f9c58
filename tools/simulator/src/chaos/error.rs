//! Reasons why a run has no verdict.

use std::io;

use simulator::fleet::FleetError;

use crate::client::ApiFault;

/// Reason why a run ended before its checks.
#[derive(Debug, thiserror::Error)]
pub enum ChaosError {
    /// A signal asked the program to stop.
    #[error("stopped by a signal")]
    Stopped,
    /// Failure that is fully described by the text.
    #[error("{0}")]
    Failed(String),
    /// The shop could not be set up, although no fault had occurred yet.
    #[error("the shop cannot be set up: {0}")]
    Api(#[from] ApiFault),
    /// The printers cannot be started.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// An operating system call failed.
    #[error("{doing}: {source}")]
    Io {
        /// Description of the failed operation.
        doing: String,
        /// Underlying operating system error.
        source: io::Error,
    },
}

impl ChaosError {
    /// Returns a closure for `map_err` that adds a description of the failed operation.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }
}
