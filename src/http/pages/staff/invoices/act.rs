//! Invoice form actions, performed by the API operations. A rejected form is shown again with the user's input.

use axum::extract::State;
use axum::response::Response;
use maud::html;
use serde_json::{Value, json};

use super::{StaffInvoiceHandles, draft, one, settle};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::INVOICES_PATH;
use crate::staff::acts::PathAct;
use crate::staff::form::Form;
use crate::staff::sheet::{LINE_ACTS, at_version, line_form, page_of, without_nulls};
use crate::staff::shell::{StaffSection, StaffViewer};
use domain::invoice::Invoice;
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::invoices::operations;
use words::Language;
use words::staff::invoices as texts;

/// Serves the form for a new invoice.
pub(super) async fn show_new(State(app): State<StaffInvoiceHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    Ok(new_page(&app, &viewer, &Form::default()))
}

fn new_page(app: &StaffInvoiceHandles, viewer: &StaffViewer, refused: &Form) -> Response {
    let language = viewer.language();
    let title = texts::new_invoice(language);
    let content = html! {
        p { a href=(INVOICES_PATH) { (texts::all_invoices(language)) } }
        h1 { (title) }
        p { (texts::draft_text(language)) }
        (draft::new_form(language, &app.config.orders.currency, refused))
    };
    viewer.page(StaffSection::Invoices, &title, &app.board.view(), &content)
}

/// Creates a draft invoice.
pub(super) async fn create(State(app): State<StaffInvoiceHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let typed = Form::named("new", &sent);
    let currency = typed.some("currency").unwrap_or(&app.config.orders.currency);
    let body = draft::new_said(&typed, currency);
    match operations::create(&app.invoices, None, &sent.call.with_body(&body)).await {
        Ok(invoice) => Ok(see_other(&page_of(INVOICES_PATH, invoice.id))),
        Err(error) => {
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(new_page(&app, &viewer, &typed)))
        }
    }
}

/// Returns the name of the API operation for the action in the form's path, with the JSON body built from the form.
fn operation_of<'a>(language: Language, word: &'a str, typed: &Form, invoice: &Invoice) -> (&'a str, Value) {
    let currency = &invoice.content.currency;
    match word {
        "change" => ("change", draft::request_body(typed, currency)),
        "line" => ("change", draft::lines(invoice, typed, Some(draft::line_said(typed, currency)))),
        "remove-line" => ("change", draft::lines(invoice, typed, None)),
        "mark-paid" => {
            let body = json!({
                "method": settle::method_of(language, typed.text("method")), "amountCents": typed.amount("amount", currency),
                "reference": typed.some("reference"),
            });
            (word, without_nulls(body))
        }
        "refund" => {
            let id = typed.some("payment");
            let payment = invoice.ledger.payments.iter().find(|payment| id == Some(payment.id.to_string().as_str()));
            // What goes back of a payment is in the payment's own currency.
            let currency = payment.map_or(currency, |payment| &payment.currency);
            let method = typed.some("method").map(|method| settle::method_of(language, method));
            let body = json!({
                "paymentId": id, "amountCents": typed.amount("amount", currency), "method": method,
            });
            (word, without_nulls(body))
        }
        "pay-link" => (word, without_nulls(json!({"expiresAt": typed.day("expiresAt")}))),
        other => (other, json!({})),
    }
}

/// Handles the forms for an invoice.
pub(super) async fn on_invoice(
    State(app): State<StaffInvoiceHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let (_, state) = find_existing(&app.invoices.invoices, id).await?;
    let name = if LINE_ACTS.contains(&word.as_str()) { line_form(&sent) } else { word.clone() };
    let typed = Form::named(&name, &sent);
    let (operation, body) = operation_of(viewer.language(), &word, &typed, state_of(&state)?);
    let call = at_version(sent.call, &typed);
    let outcome = match operation {
        "change" => operations::update(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "send" => operations::send(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "void" => operations::void(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "mark-paid" => operations::mark_paid(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "refund" => operations::refund(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "store-pdf" => operations::store_pdf(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "pay-link" => operations::open_pay_link(&app.invoices, id, &call.with_body(&body)).await.map(drop),
        "revoke-link" => operations::close_pay_link(&app.invoices, id, &call).await,
        _ => Err(Refusal::not_found("act").into()),
    };
    match outcome {
        Ok(()) => Ok(see_other(&page_of(INVOICES_PATH, id))),
        Err(error) => {
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(one::page(&app, &viewer, id, &typed).await?))
        }
    }
}
