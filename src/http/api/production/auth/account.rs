//! Settings for one's own account that need no password.

use api_derive::Request;
use axum::extract::State;
use serde_json::json;

use super::{SessionHandles, SignedIn};
use crate::production::users::{StaffLanguage, UserView};
use domain::access::{StaffCommand, UserAnswer, UserEdit};
use domain::id::Id;
use domain::refusal::Refusal;
use http::access::{Caller, with_access};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::reply::Plain;
use http::wire::Optional;
use words::Language;

/// Changes to the caller's own account. Omitted fields are left unchanged.
#[derive(Request, Debug)]
#[api(example = json!({"language": "de"}))]
pub struct AccountChange {
    /// Language of the pages; null for the one that the browser prefers.
    language: Optional<Option<StaffLanguage>>,
}

/// Returns the language that the caller's account is set to; `None` for the one that the browser prefers.
pub fn own_language(app: &SessionHandles, who: &Caller) -> Result<Option<Language>, ApiError> {
    let id = who.user()?;
    let user = with_access(&app.access, |access| access.user(id).cloned())?;
    Ok(user.ok_or_else(|| Refusal::not_found("user"))?.language)
}

/// Changes the caller's own account.
pub async fn change_account(
    app: &SessionHandles,
    call: &CommandRequest<AccountChange>,
) -> Result<CommandOutcome<UserAnswer>, ApiError> {
    let id = call.who.user()?;
    let AccountChange { language } = call.read_body()?;
    let language = language.present().map(|chosen| chosen.map(Into::into));
    let change = UserEdit { language, ..UserEdit::default() };
    let command = StaffCommand::Update { id, if_version: None, checked_hash: None, change, keep: call.who.session };
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), command).await
}

pub(super) async fn update(
    State(app): State<SessionHandles>,
    call: CommandRequest<AccountChange>,
) -> Result<Plain<SignedIn>, ApiError> {
    let done = change_account(&app, &call).await?;
    Ok(Plain(SignedIn { user: UserView::new(&done.answer.user) }))
}
