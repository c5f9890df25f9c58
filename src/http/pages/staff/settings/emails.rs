//! Undelivered emails, including dismissed ones: each can be resent, dismissed and put back, as can all on a page at
//! once.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::staff::SETTINGS_PATH;
use crate::staff::acts::{PathAct, back};
use crate::staff::sheet::{ListFilter, ListPart, list_filters};
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use crate::staff::undelivered::{DISMISS, EMAILS_PATH, REOPEN, SEND_AGAIN, back_field, email_entry};
use domain::id::Id;
use domain::mail::undelivered::UndeliveredCommand;
use domain::mail::{Mail, MailState};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::production::emails::{EmailHandles, act_on};
use words::Language;
use words::staff::{emails as texts, shell};

/// Value of the query parameter that lists the dismissed emails.
const DISMISSED: &str = "dismissed";
/// Prefix of the fields that name the emails in a form for several emails.
const EMAIL_PREFIX: &str = "email-";

handles! {
    /// Dependencies of the page of emails.
    pub(crate) struct EmailPageHandles {
        settings: SettingsPageHandles,
        emails: EmailHandles,
    }
}

/// Query parameters of the list. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct EmailListQuery {
    /// `dismissed` for the dismissed emails; anything else lists those that are on the to-do list.
    state: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Serves the list of emails.
pub(super) async fn list(
    State(app): State<EmailPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<EmailListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let word = query.state.as_deref().filter(|word| *word == DISMISSED);
    let state = if word.is_some() { MailState::Dismissed } else { MailState::Failed };
    let part = ListPart { path: EMAILS_PATH, narrowed: vec![("state", word)], from: query.from };
    let (some, total) = app.emails.queries.emails(state, part.page()).await?;
    let (now, page) = (app.settings.environment.now(), path_of(state));
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        p { (texts::introduction(language)) }
        (filters(language, state))
        div id="emails" data-fresh="" {
            @if some.is_empty() {
                p {
                    @if state == MailState::Failed { (texts::none_undelivered(language)) }
                    @else { (texts::none_dismissed(language)) }
                }
            } @else {
                @if state == MailState::Failed { (acts_on_all(language, &some, now)) }
                (table(language, &some, now, &page))
            }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Renders the table of emails, whose forms lead back to the page `back`.
fn table(language: Language, mails: &[Mail], now: Timestamp, back: &str) -> Markup {
    html! {
        div class="table list emails" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::email_column(language)) }
                        th scope="col" { (texts::reason_column(language)) }
                        th scope="col" { span class="hidden-words" { (texts::acts_column(language)) } }
                    }
                }
                tbody { @for mail in mails { (email_entry(language, mail, now, back)) } }
            }
        }
    }
}

/// Returns the path of the list of emails in a state.
fn path_of(state: MailState) -> String {
    match state {
        MailState::Dismissed => format!("{EMAILS_PATH}?state={DISMISSED}"),
        _ => EMAILS_PATH.to_owned(),
    }
}

/// Renders the links that filter the list by state.
fn filters(language: Language, current: MailState) -> Markup {
    let (undelivered, dismissed) = (texts::undelivered(language), texts::dismissed(language));
    let states = [(MailState::Failed, &undelivered), (MailState::Dismissed, &dismissed)];
    let filters = states.map(|(state, label)| ListFilter {
        label,
        path: path_of(state),
        count: None,
        is_current: state == current,
    });
    list_filters(&texts::filter_label(language), &filters)
}

/// Renders the forms that act on all emails on a page, if there are several.
fn acts_on_all(language: Language, mails: &[Mail], now: Timestamp) -> Markup {
    let sendable: Vec<&Mail> = mails.iter().filter(|mail| mail.can_be_sent_again(now)).collect();
    let all: Vec<&Mail> = mails.iter().collect();
    html! {
        @if mails.len() > 1 {
            div class="acts" {
                @if sendable.len() > 1 {
                    (act_on_several(SEND_AGAIN, &texts::send_all_again(language, sendable.len()), &sendable))
                }
                (act_on_several(DISMISS, &texts::dismiss_all(language, all.len()), &all))
            }
        }
    }
}

/// Renders the form with which the act `word` is performed on several emails.
fn act_on_several(word: &str, label: &str, mails: &[&Mail]) -> Markup {
    html! {
        form method="post" action={ (EMAILS_PATH) "/all/" (word) } data-quiet="" {
            (hidden())
            (back_field(EMAILS_PATH))
            @for mail in mails { input type="hidden" name={ (EMAIL_PREFIX) (mail.id) } value="true"; }
            button id={ (word) "-all" } class="btn" type="submit" { (label) }
        }
    }
}

/// Returns the command denoted by the last segment of a form's path.
fn command_of(word: &str) -> Result<UndeliveredCommand, ApiError> {
    match word {
        SEND_AGAIN => Ok(UndeliveredCommand::SendAgain),
        DISMISS => Ok(UndeliveredCommand::Dismiss),
        REOPEN => Ok(UndeliveredCommand::Reopen),
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Performs the act named in the last segment of the path on an email.
pub(super) async fn act_on_one(
    State(app): State<EmailPageHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    act_on(&app.emails, id, command_of(&word)?, &sent.request()).await?;
    Ok(back(&sent, EMAILS_PATH.to_owned()))
}

/// Performs the act named in the last segment of the path on several emails. If one of them rejects it, for example
/// because someone else has already resent it, the act is still performed on the others.
pub(super) async fn act_on_all(
    State(app): State<EmailPageHandles>,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    let command = command_of(&word)?;
    let ids = sent.members().filter_map(|(name, _)| name.strip_prefix(EMAIL_PREFIX)?.parse::<Id>().ok());
    let ids: Vec<Id> = ids.collect();
    let mut refused = None;
    for id in ids {
        if let Err(error) = act_on(&app.emails, id, command, &sent.request()).await {
            refused = Some(error);
        }
    }
    refused.map_or_else(|| Ok(back(&sent, EMAILS_PATH.to_owned())), Err)
}
