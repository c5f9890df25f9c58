//! Operations on quotes, which the API's handlers and the staff's pages call. Quotes from models are drafted by
//! `quote_model` in `models`.

use super::requests::{Declining, QuoteChange, QuoteRequest};
use super::{QuoteHandles, home_of, lines, must_exist};
use crate::production::customers::language_of;
use crate::production::orders::site::Site;
use domain::custom_request::CustomRequestStatus;
use domain::id::Id;
use domain::mail::alert::one_line;
use domain::quote::{DraftLine, DraftQuote, Quote, QuoteCommand};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_existing, find_present, state_of};
use http::error::ApiError;
use http::wire::{EmptyBody, OptionalBody};

/// Outcome of a command to a quote, with the quote after it.
pub type QuoteOutcome = CommandOutcome<Box<Quote>>;

/// Drafts a quote. `site` is the site to which it belongs if the request does not name another one.
pub async fn create(
    app: &QuoteHandles,
    site: Option<Site>,
    call: &CommandRequest<QuoteRequest>,
) -> Result<QuoteOutcome, ApiError> {
    let command = async {
        let request = call.read_body()?;
        let lines = lines::resolve(app, &request.lines, &[], request.currency.as_deref()).await?;
        let mut draft = request.draft(lines);
        must_exist(app, draft.custom_request_id).await?;
        draft.site = draft.site.or(site.map(|site| site.0));
        if draft.shipping_address.is_none() {
            draft.shipping_address = home_of(app, draft.customer_email.as_deref()).await?;
        }
        Ok(QuoteCommand::Create(Box::new(draft)))
    };
    Box::pin(call.ask_with(&app.quotes, CommandTarget::New, command)).await
}

/// Drafts a quote for a custom request, at its estimated price.
pub async fn answer_request(
    app: &QuoteHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<QuoteOutcome, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        let (_, state) = find_existing(&app.custom_requests, id).await?;
        let request = state_of(&state)?;
        if request.status == CustomRequestStatus::Closed {
            return Err(ApiError::conflict("custom_request_closed", "the custom request is closed"));
        }
        let wishes = &request.wishes;
        let line = DraftLine {
            description: one_line(&format!("Custom piece: {}, {}", wishes.product_type, wishes.subject_type)),
            quantity: 1,
            unit_price_cents: Some(request.estimate.total_cents),
            sku_id: None,
            printed: true,
            model: None,
        };
        let draft = DraftQuote {
            site: Some(request.site.clone()),
            customer_email: Some(request.customer_email.clone()),
            custom_request_id: Some(id),
            lines: vec![line],
            currency: Some(request.estimate.currency.clone()),
            shipping_address: home_of(app, Some(&request.customer_email)).await?,
            ..DraftQuote::default()
        };
        Ok(QuoteCommand::Create(Box::new(draft)))
    };
    call.ask_with(&app.quotes, CommandTarget::New, command).await
}

/// Changes a draft.
pub async fn update(app: &QuoteHandles, id: Id, call: &CommandRequest<QuoteChange>) -> Result<QuoteOutcome, ApiError> {
    let change = call.read_body()?;
    let (_, before) = find_present(&app.quotes, id).await?;
    let lines = match change.lines() {
        Some(wished) => Some(lines::resolve(app, wished, &before.lines, Some(&before.currency)).await?),
        None => None,
    };
    let patch = change.patch(lines);
    must_exist(app, patch.custom_request_id.flatten()).await?;
    let command = QuoteCommand::Update { if_version: call.if_match(), patch: Box::new(patch) };
    call.ask(&app.quotes, CommandTarget::Id(id), command).await
}

/// Deletes a draft.
pub async fn remove(app: &QuoteHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    call.ask(&app.quotes, CommandTarget::Id(id), QuoteCommand::Archive).await.map(drop)
}

/// Sends a draft to the customer, in the customer's language.
pub async fn send(
    app: &QuoteHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<QuoteOutcome, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        let state = app.quotes.read(id).await?;
        let email = state.as_ref().and_then(|state| state.state.as_ref()?.customer_email.as_deref());
        Ok(QuoteCommand::Send(language_of(&app.queries, &app.customers, email).await?))
    };
    call.ask_with(&app.quotes, CommandTarget::Id(id), command).await
}

/// Withdraws a quote, or records that the customer declined it.
pub async fn decline(
    app: &QuoteHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<Declining>>,
) -> Result<QuoteOutcome, ApiError> {
    let command = async { call.read_body().map(Declining::command) };
    call.ask_with(&app.quotes, CommandTarget::Id(id), command).await
}
