//! HTML forms as submitted by browsers. A form is accepted only with the CSRF token of the session for which it was
//! rendered.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRef as _, FromRequest, Request};
use axum::http::{Method, StatusCode, header};
use serde_json::Value;
use url::form_urlencoded;

use config::Config;
use domain::id::Id;
use http::AppState;
use http::command_request::CommandRequest;
use http::csrf::FormToken;
use http::error::ApiError;

/// Name of the hidden field that contains the CSRF token.
pub(super) const TOKEN_FIELD: &str = "form_token";
/// Name of the hidden field of a form that acts only once for each page on which it is shown. Its idempotency key is
/// the CSRF token, which has a different mask on every page.
pub(super) const ONCE_FIELD: &str = "once";
/// Maximum number of fields in a form: one for each printer bed in the largest shop, plus the token.
const MAX_FIELDS: usize = 1_000;
/// Content type of a form.
const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";

/// Submitted form with its caller and fields.
pub(super) struct PageForm {
    /// Request that submitted the form, with which commands can be sent to aggregates.
    pub(super) call: CommandRequest,
    fields: BTreeMap<String, String>,
    /// Method and path of the request, if the form acts only once.
    once: Option<(Method, String)>,
}

impl PageForm {
    /// Creates a form from the fields of a streamed body, such as a form with a file. The CSRF token must already have
    /// been checked.
    pub(super) fn read(call: CommandRequest, fields: BTreeMap<String, String>) -> Self {
        Self { call, fields, once: None }
    }

    /// Returns the request with the given JSON body, as [`CommandRequest::of_form`] does. If the form has the field
    /// [`ONCE_FIELD`], a command is carried out only for the first request from its page; the others get its response.
    pub(super) fn command_once<B>(&self, json: &Value) -> CommandRequest<B> {
        let request = self.call.of_form(json);
        match &self.once {
            Some((method, path)) => request.with_key(method, path, self.raw(TOKEN_FIELD)),
            None => request,
        }
    }

    /// Returns a field's trimmed text; empty if the field was not sent.
    pub(super) fn text(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", |text| text.trim())
    }

    /// Returns a field's untrimmed text, for values in which white space is significant, such as passwords.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Returns the names and texts of all fields except those of [`TOKEN_FIELD`] and [`ONCE_FIELD`].
    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.fields.iter().map(|(name, text)| (name.as_str(), text.trim()));
        all.filter(|(name, _)| ![TOKEN_FIELD, ONCE_FIELD].contains(name))
    }

    /// Returns a field's text; `None` if empty.
    pub(super) fn some(&self, name: &str) -> Option<String> {
        Some(self.text(name).to_owned()).filter(|text| !text.is_empty())
    }
}

/// Rejects a form without a valid CSRF token for the given session.
pub(super) fn check_token(config: &Config, session: Id, presented: &str) -> Result<(), ApiError> {
    if FormToken::of(&config.auth.session_secret, session).fits(presented) {
        return Ok(());
    }
    let words = "the form is outdated; reload the page and submit it again";
    Err(ApiError::forbidden("form_outdated", words))
}

impl FromRequest<AppState> for PageForm {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        let config = Arc::<Config>::from_ref(app);
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let call = CommandRequest::<()>::from_request(request, app).await?;
        let media = call.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        if !media.eq_ignore_ascii_case(MEDIA_TYPE) {
            let words = "the body must be sent by the form on the page";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", words));
        }
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(&call.body).take(MAX_FIELDS) {
            fields.entry(name.into_owned()).or_insert_with(|| value.into_owned());
        }
        if let Some(session) = call.who.session {
            let token = fields.get(TOKEN_FIELD).map_or("", String::as_str);
            check_token(&config, session, token)?;
        }
        let once = fields.contains_key(ONCE_FIELD).then_some((method, path));
        Ok(Self { call, fields, once })
    }
}
