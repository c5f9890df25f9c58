//! The shop's other systems, simulated with their real protocols, each with the relevant faults: unavailable, hanging,
//! wrong token.

pub mod agent;
pub mod all;
pub mod broker;
pub mod bucket;
pub mod camera;
pub mod detector;
pub mod farm_ui;
pub mod mail_service;
pub mod smart_home;
pub mod workflow;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use crate::wire::SimServer;

/// Behaviour of a system when it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseMode {
    /// Responds normally.
    #[default]
    Well,
    /// Never responds.
    Hanging,
    /// Responds to every call with the given status.
    Status(u16),
}

/// Running simulated system with the state `T`; stops when dropped.
#[derive(Debug)]
pub struct System<T> {
    shared: SharedState<T>,
    server: SimServer,
    /// Last part of the system's URL.
    path: &'static str,
}

impl<T> System<T> {
    /// Serves a system on a free loopback port; `path` is the last part of its public URL.
    async fn serve(
        state: T,
        path: &'static str,
        router: impl FnOnce(SharedState<T>) -> Router,
    ) -> std::io::Result<Self> {
        let shared = SharedState::new(state);
        let server = SimServer::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), router(shared.clone())).await?;
        Ok(Self { shared, server, path })
    }

    /// Returns the system's URL, in the form expected in the server's settings.
    pub fn url(&self) -> String {
        self.server.base_url() + self.path
    }

    /// Sets how the system responds to all subsequent calls.
    pub fn set_mood(&self, mood: ResponseMode) {
        self.shared.set_mood(mood);
    }
}

/// State shared by the handlers of one system.
#[derive(Debug)]
struct SharedState<T>(Arc<Mutex<(ResponseMode, T)>>);

impl<T> Clone for SharedState<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> SharedState<T> {
    fn new(state: T) -> Self {
        Self(Arc::new(Mutex::new((ResponseMode::Well, state))))
    }

    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).1)
    }

    fn set_mood(&self, mood: ResponseMode) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = mood;
    }

    /// Returns the response for the current mode; `None` if the system responds normally.
    async fn mood(&self) -> Option<Response> {
        let mood = self.0.lock().unwrap_or_else(PoisonError::into_inner).0;
        match mood {
            ResponseMode::Well => None,
            ResponseMode::Status(status) => {
                Some(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response())
            }
            ResponseMode::Hanging => loop {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if self.0.lock().unwrap_or_else(PoisonError::into_inner).0 != ResponseMode::Hanging {
                    return Some(StatusCode::SERVICE_UNAVAILABLE.into_response());
                }
            },
        }
    }
}

/// Returns whether the request carries the given bearer token.
fn shows(headers: &HeaderMap, token: &str) -> bool {
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    authorization.and_then(|value| value.strip_prefix("Bearer ")) == Some(token)
}
