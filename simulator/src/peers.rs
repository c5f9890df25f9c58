//! Other systems of a shop on their real wire protocols, each with the mishaps that matter: away, hanging, wrong token.

pub mod agent;
pub mod all;
pub mod broker;
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

use crate::wire::Server;

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

/// A running system; `T` is what it knows. Stops when dropped.
#[derive(Debug)]
pub struct System<T> {
    shared: Shared<T>,
    server: Server,
    /// What its address ends with.
    path: &'static str,
}

impl<T> System<T> {
    /// Serves on a free loopback port; `path` is what the address ends with that others are given.
    async fn serve(state: T, path: &'static str, router: impl FnOnce(Shared<T>) -> Router) -> std::io::Result<Self> {
        let shared = Shared::new(state);
        let server = Server::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), router(shared.clone())).await?;
        Ok(Self { shared, server, path })
    }

    /// Its address, as the server's settings take it.
    pub fn url(&self) -> String {
        self.server.base_url() + self.path
    }

    /// How it answers from now on.
    pub fn set_mood(&self, mood: Mood) {
        self.shared.set_mood(mood);
    }
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
