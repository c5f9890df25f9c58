//! HTML forms as submitted by browsers. A form is accepted only with the CSRF token of the session for which it was
//! rendered.

mod body;
mod fields;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRef as _, FromRequest, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use url::form_urlencoded;

pub(super) use body::FormBody;
use config::Config;
use domain::id::Id;
pub(super) use fields::{FieldControl, Form, member_of};
use http::AppState;
use http::command_request::CommandRequest;
use http::csrf::FormToken;
use http::error::ApiError;
use http::wire::{RequestBody, ToSchema};

/// Name of the hidden field that contains the CSRF token.
pub(super) const TOKEN_FIELD: &str = "form_token";
/// Name of the hidden field of a form that acts only once for each page on which it is shown. Its idempotency key is
/// the CSRF token, which has a different mask on every page, with the text of this field, which the script changes when
/// the form stays on the page after it was sent.
pub(super) const ONCE_FIELD: &str = "once";
/// Name of the hidden field that contains the version for which a form was rendered.
pub(super) const VERSION_FIELD: &str = "version";
/// Maximum number of fields in a form: one for each printer bed in the largest shop, plus the token.
const MAX_FIELDS: usize = 1_000;
/// Content type of a form.
const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";

/// Submitted form with its caller and fields.
pub(super) struct PageForm {
    /// Request that submitted the form, with which commands can be sent to aggregates.
    pub(super) call: CommandRequest,
    fields: BTreeMap<String, String>,
    /// Method and path of the request with the text of [`ONCE_FIELD`], if the form acts only once.
    once: Option<(Method, String, String)>,
}

impl PageForm {
    /// Creates a form from the fields of a streamed body, such as a form with a file. The CSRF token must already have
    /// been checked.
    pub(super) fn read(call: CommandRequest, fields: BTreeMap<String, String>) -> Self {
        Self { call, fields, once: None }
    }

    /// Returns the body of the API operation that the form is for. A member whose field is empty is absent.
    pub(super) fn body(&self) -> FormBody {
        FormBody::new(self.texts())
    }

    /// Returns the body of the API operation for a form that changes something, in which an empty field clears.
    pub(super) fn change(&self) -> FormBody {
        FormBody::change(self.texts())
    }

    /// Returns the request for an API operation whose members are the fields of the form ([`Self::body`]).
    pub(super) fn request<B: RequestBody>(&self) -> CommandRequest<B> {
        self.request_of(self.body())
    }

    /// Returns the request for an API operation with the given body. If the form has the field [`ONCE_FIELD`], the
    /// operation is carried out only for the first request from its page; the others get its response. Such a form must
    /// request an operation only once, because all its requests of one have the same key.
    pub(super) fn request_of<B: RequestBody>(&self, body: FormBody) -> CommandRequest<B> {
        let request = self.repeatable_request(body);
        match &self.once {
            Some((method, path, mark)) => {
                let operation = <B::Value as ToSchema>::NAME.unwrap_or_default();
                request.with_key(method, &format!("{path} {operation}"), &format!("{} {mark}", self.raw(TOKEN_FIELD)))
            }
            None => request,
        }
    }

    /// Returns the form, with requests that are conditional on its subject being unchanged since the form was rendered,
    /// if the form has the field [`VERSION_FIELD`].
    pub(super) fn at_version(mut self) -> Self {
        let tag = self.some(VERSION_FIELD).map(|version| HeaderValue::from_str(&format!("\"{version}\"")));
        if let Some(Ok(tag)) = tag {
            self.call.headers.insert(header::IF_MATCH, tag);
        }
        self
    }

    /// Returns the request for an API operation with the given body, which is carried out each time, for operations
    /// whose repetition changes nothing.
    pub(super) fn repeatable_request<B: RequestBody>(&self, body: FormBody) -> CommandRequest<B> {
        self.call.of_form(&Value::Object(body.members::<B>()))
    }

    fn texts(&self) -> BTreeMap<String, String> {
        self.members().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    /// Returns a field's trimmed text; empty if the field was not sent.
    pub(super) fn text(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", |text| text.trim())
    }

    /// Returns a field's untrimmed text, for values in which white space is significant, such as passwords.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Returns the names and text values of all fields except those of [`TOKEN_FIELD`] and [`ONCE_FIELD`].
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
        let once = fields.get(ONCE_FIELD).map(|mark| (method, path, mark.clone()));
        Ok(Self { call, fields, once })
    }
}
