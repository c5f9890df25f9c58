//! Lookup of the staff session cookie.

use std::sync::Arc;

use axum::http::HeaderMap;

use super::{AccessHandles, COOKIE, cookie, with_access};
use crate::dropped_cookie::DroppedCookie;
use crate::error::ApiError;
use domain::id::Id;
use domain::principal::Principal;
use platform::secrets::credentials;
use words::Language;

/// Member of staff who is signed in in a browser.
#[derive(Clone, Debug)]
pub struct SignedInStaff {
    /// Principal of the member of staff.
    pub by: Arc<Principal>,
    /// ID of the session.
    pub session: Id,
    /// Language that the account is set to; `None` for the one that the browser prefers.
    pub language: Option<Language>,
}

pub(super) fn by_cookie(app: &AccessHandles, headers: &HeaderMap) -> Result<SignedInStaff, ApiError> {
    let missing = || {
        let dropped = DroppedCookie::of(&app.config, headers).map(|dropped| format!(" ({})", dropped.message));
        ApiError::unauthorized(format!(
            "send an API key in the header X-API-Key (or as Authorization: Bearer), or sign in{}",
            dropped.unwrap_or_default()
        ))
    };
    let token = cookie(headers, COOKIE).ok_or_else(missing)?;
    let (now, auth) = (app.environment.now(), &app.config.auth);
    let (idle, life) = (auth.session_idle_timeout_hours.millis(), auth.session_max_age_days.millis());
    let hash = credentials::session_hash(token);
    let signed_in = with_access(&app.access, |access| {
        let session = access.session_by_hash(&hash, now, idle, life)?;
        Some((session.id, access.user(session.user_id)?.clone()))
    })?;
    let (session, user) = signed_in.ok_or_else(|| ApiError::unauthorized("the session has ended"))?;
    app.last_used.session(session, now);
    let by = Arc::new(Principal::User { id: user.id, email: user.email.clone(), role: user.role });
    Ok(SignedInStaff { by, session, language: user.language })
}
