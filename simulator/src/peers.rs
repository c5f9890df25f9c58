//! Other systems of a shop on their real wire protocols, each with the mishaps that matter: away, hanging, wrong token.

pub mod broker;
pub mod camera;
pub mod detector;
pub mod farm_ui;
pub mod smart_home;
pub mod workflow;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

/// How a system answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// As it should.
    #[default]
    Well,
    /// Never.
    Hanging,
    /// Every call with this status.
    Status(u16),
}

/// What the handlers of one system share.
#[derive(Debug)]
struct Shared<T>(Arc<Mutex<(Mood, T)>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Shared<T> {
    fn new(state: T) -> Self {
        Self(Arc::new(Mutex::new((Mood::Well, state))))
    }

    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).1)
    }

    fn set_mood(&self, mood: Mood) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = mood;
    }

    /// The answer of its mood, if that is not to be well.
    async fn mood(&self) -> Option<Response> {
        let mood = self.0.lock().unwrap_or_else(PoisonError::into_inner).0;
        match mood {
            Mood::Well => None,
            Mood::Status(status) => {
                Some(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response())
            }
            Mood::Hanging => loop {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if self.0.lock().unwrap_or_else(PoisonError::into_inner).0 != Mood::Hanging {
                    return Some(StatusCode::SERVICE_UNAVAILABLE.into_response());
                }
            },
        }
    }
}

/// Whether the request shows this bearer token.
fn shows(headers: &HeaderMap, token: &str) -> bool {
    let shown = headers.get("authorization").and_then(|value| value.to_str().ok());
    shown.and_then(|shown| shown.strip_prefix("Bearer ")) == Some(token)
}
