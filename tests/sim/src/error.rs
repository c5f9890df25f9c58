//! Errors that end a run.

use std::io;
use std::mem::discriminant;

use actors::app::ShopStartError;
use platform::http::BuildError;

/// Reason that a seed failed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The world has no folder, or no runtime.
    #[error("the world could not be made: {0}")]
    World(#[from] io::Error),
    /// The server did not start.
    #[error("the server did not start: {0}")]
    Start(#[from] ShopStartError),
    /// The clients of printers, which connect to nothing, could not be made.
    #[error("the clients of printers could not be made: {0}")]
    Clients(#[from] BuildError),
    /// A request of the story cannot be written.
    #[error("not a request: {0}")]
    Request(#[from] axum::http::Error),
    /// A response has no whole body.
    #[error("the body of a response ended early: {0}")]
    Body(#[from] axum::Error),
    /// A response is no JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The server answered otherwise than the story needs.
    #[error("{request}: expected {expected}, but got {status}: {body}")]
    Answer {
        /// Method and path of the request.
        request: String,
        /// Status that the story needs.
        expected: u16,
        /// Status of the response.
        status: u16,
        /// Body of the response.
        body: String,
    },
    /// Something did not happen in time.
    #[error("{what} did not happen within {seconds} s; last state: {last}")]
    Late {
        /// Event that was awaited.
        what: String,
        /// Virtual time that it had.
        seconds: u64,
        /// Last state of what it was awaited of.
        last: String,
    },
    /// The command line names something that does not exist.
    #[error("{0}")]
    Argument(String),
    /// Something that must always hold does not.
    #[error("broken: {0}")]
    Broken(String),
}

impl SimError {
    /// Returns whether another run failed in the same way, so that a shorter story is one of the same fault.
    pub fn is_like(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }
}
