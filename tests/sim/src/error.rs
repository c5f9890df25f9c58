//! Errors that end a run.

use std::io;
use std::mem::discriminant;

use actors::app::ShopStartError;
use platform::http::BuildError;

/// Reason why a seed failed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The world's folder or runtime could not be created.
    #[error("the world could not be made: {0}")]
    World(#[from] io::Error),
    /// The server did not start.
    #[error("the server did not start: {0}")]
    Start(#[from] ShopStartError),
    /// The printer clients, which connect to nothing, could not be created.
    #[error("the clients of printers could not be made: {0}")]
    Clients(#[from] BuildError),
    /// A request in the story is invalid.
    #[error("not a request: {0}")]
    Request(#[from] axum::http::Error),
    /// A response has no complete body.
    #[error("the body of a response ended early: {0}")]
    Body(#[from] axum::Error),
    /// A response is not valid JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The server's response differs from the one that the story needs.
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
        /// Awaited event.
        what: String,
        /// Virtual time after which the wait was abandoned, in seconds.
        seconds: u64,
        /// Last state of the awaited resource.
        last: String,
    },
    /// The command line names something that does not exist.
    #[error("{0}")]
    Argument(String),
    /// An invariant is violated.
    #[error("broken: {0}")]
    Broken(String),
}

impl SimError {
    /// Returns whether another run failed in the same way, so that a shorter story is one of the same fault.
    pub fn is_like(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }
}
