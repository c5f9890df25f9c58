//! Emails: whether they were delivered, and what can be done about those that were not.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use domain::id::Id;
use domain::mail::part::MailTopic;
use domain::mail::undelivered::{MailFailure, UndeliveredCommand};
use domain::mail::{Channel, Mail, MailState};
use domain::principal::Role;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::directory::Directory;
use kernel::environment::Environment;
use store::queries::Queries;

/// Email ID used in examples in the API description.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8095";

handles! {
    /// Dependencies of the email routes.
    pub struct EmailHandles {
        mails: Directory<Mail>,
        queries: Queries,
        environment: Arc<Environment>,
    }
}

/// Returns the email routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Emails to customers and staff, and messages to the agent gateway. One that cannot be sent is tried \
                 again for about a day, and is then on the to-do list until a user sends it again or dismisses it. \
                 Emails are kept for 30 days after the last attempt.";
    ResourceRoutes::new("Emails", about, "mail")
        .get(operator, "/api/emails", list, |op| {
            op.named("listEmails", "List emails")
                .about("Lists the emails in one state, those that were not delivered by default, the latest first.")
        })
        .post(operator, "/api/emails/{id}/send-again", send_again, |op| {
            op.named("sendEmailAgain", "Send an email again")
                .about(
                    "Queues the same email with as many attempts as at first. It keeps its idempotency key, so that an \
                     email that arrived after all does not arrive twice, unless it was rejected, or the last attempt \
                     was more than a day ago.",
                )
                .error(409, "email_sent", "The email was sent.")
                .error(409, "email_expired", "The email has expired; its link no longer works.")
        })
        .post(operator, "/api/emails/{id}/dismiss", dismiss, |op| {
            op.named("dismissEmail", "Dismiss an undelivered email")
                .about("Removes the email from the to-do list.")
                .error(409, "email_sent", "The email was sent.")
                .error(409, "email_queued", "The email is still being sent.")
        })
        .post(operator, "/api/emails/{id}/reopen", reopen, |op| {
            op.named("reopenEmail", "Reopen a dismissed email")
                .about("Puts the email back on the to-do list.")
                .error(409, "email_sent", "The email was sent.")
                .error(409, "email_queued", "The email is still being sent.")
        })
}

/// Filter for emails.
#[derive(Request, Debug)]
pub struct EmailQuery {
    /// State of the emails to return; `failed` by default.
    state: Option<MailState>,
    #[api(flatten)]
    page: PageQuery,
}

/// Email, without its text.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Email", many = "emails", example = json!({
    "id": EXAMPLE_ID, "channel": "mail", "to": ["buyer@example.org"],
    "subject": "Your order ORD-000003 has been shipped", "state": "failed", "failure": "rejected",
    "error": "550 5.1.1 no such mailbox", "tries": 1, "createdAt": "2026-11-02T10:00:00.000Z",
    "lastTriedAt": "2026-11-02T10:00:00.400Z", "nextAt": null, "canSendAgain": true,
    "orderId": "01890a5d-ac96-774b-bcce-b302099a8065", "invoiceId": null, "quoteId": null,
}))]
struct EmailView {
    /// ID of the email.
    id: Id,
    /// Channel through which the email is sent.
    channel: Channel,
    /// Email addresses of the recipients. Empty for an alert to all active admins and for the agent gateway.
    to: Vec<String>,
    /// Subject, in the recipient's language; in English for alerts, which each recipient receives in their own.
    subject: String,
    /// State of the email.
    state: MailState,
    /// Reason why the email was not delivered; null unless it is `failed` or `dismissed`.
    failure: Option<MailFailure>,
    /// Reason why the last attempt failed, as stated by the mail server or service.
    error: Option<String>,
    /// Number of attempts made.
    tries: u32,
    /// Time at which the email was created.
    created_at: Timestamp,
    /// Time of the last attempt; null before the first one, and before the first one after it was sent again.
    last_tried_at: Option<Timestamp>,
    /// Time of the next attempt; null unless the email is `queued`.
    next_at: Option<Timestamp>,
    /// `true` if the email was not delivered and can be sent again.
    can_send_again: bool,
    /// ID of the order that the email is about.
    order_id: Option<Id>,
    /// ID of the invoice that the email is about.
    invoice_id: Option<Id>,
    /// ID of the quote that the email is about.
    quote_id: Option<Id>,
}

impl EmailView {
    fn new(mail: &Mail, now: Timestamp) -> Self {
        let topic = |id_of: fn(&MailTopic) -> Option<Id>| mail.topics.iter().find_map(id_of);
        Self {
            id: mail.id,
            channel: mail.channel,
            to: mail.to.clone(),
            subject: mail.subject.clone(),
            state: mail.state,
            failure: mail.reason_to_abandon(),
            error: mail.error.clone(),
            tries: mail.tries,
            created_at: mail.created_at,
            last_tried_at: mail.last_tried_at(),
            next_at: (mail.state == MailState::Queued).then_some(mail.next_at),
            can_send_again: mail.can_be_sent_again(now),
            order_id: topic(|topic| if let MailTopic::Order(id) = topic { Some(*id) } else { None }),
            invoice_id: topic(|topic| if let MailTopic::Invoice(id) = topic { Some(*id) } else { None }),
            quote_id: topic(|topic| if let MailTopic::Quote(id) = topic { Some(*id) } else { None }),
        }
    }
}

async fn list(
    State(app): State<EmailHandles>,
    Query(query): Query<EmailQuery>,
) -> Result<ListPage<EmailView>, ApiError> {
    let page = query.page.into();
    let (some, total) = app.queries.emails(query.state.unwrap_or(MailState::Failed), page).await?;
    let now = app.environment.now();
    Ok(ListPage::new(page, some.iter().map(|mail| EmailView::new(mail, now)), total))
}

/// Sends a command about an email that was not delivered.
pub async fn act_on(
    app: &EmailHandles,
    id: Id,
    command: UndeliveredCommand,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<CommandOutcome<Box<Mail>>, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        Ok(command)
    };
    call.ask_with(&app.mails, CommandTarget::Id(id), command).await
}

fn reply(app: &EmailHandles, done: &CommandOutcome<Box<Mail>>) -> Resource<EmailView> {
    Resource::after(done, EmailView::new(&done.answer, app.environment.now()))
}

async fn send_again(
    State(app): State<EmailHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EmailView>, ApiError> {
    let done = act_on(&app, id, UndeliveredCommand::SendAgain, &call).await?;
    Ok(reply(&app, &done))
}

async fn dismiss(
    State(app): State<EmailHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EmailView>, ApiError> {
    let done = act_on(&app, id, UndeliveredCommand::Dismiss, &call).await?;
    Ok(reply(&app, &done))
}

async fn reopen(
    State(app): State<EmailHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EmailView>, ApiError> {
    let done = act_on(&app, id, UndeliveredCommand::Reopen, &call).await?;
    Ok(reply(&app, &done))
}
