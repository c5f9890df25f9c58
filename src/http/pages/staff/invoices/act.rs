//! Invoice form actions, performed by the API operations. A rejected form is shown again with the user's input.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::{StaffInvoiceHandles, draft, one, settle};
use crate::form::{Form, FormBody, PageForm};
use crate::frame::see_other;
use crate::staff::INVOICES_PATH;
use crate::staff::acts::PathAct;
use crate::staff::sheet::{LINE_ACTS, line_form, page_of};
use crate::staff::shell::{StaffSection, StaffViewer};
use domain::invoice::Invoice;
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::invoices::operations;
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
    let body = draft::new_body(&typed, currency);
    match operations::create(&app.invoices, None, &sent.request_of(body)).await {
        Ok(invoice) => Ok(see_other(&page_of(INVOICES_PATH, invoice.id))),
        Err(error) => {
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(new_page(&app, &viewer, &typed)))
        }
    }
}

/// Reads the body of the API operation for the action in the form's path.
fn body_of(sent: &PageForm, word: &str, typed: &Form, invoice: &Invoice) -> FormBody {
    let (language, currency) = (sent.call.who.language, &invoice.content.currency);
    let with_method = |body: FormBody| body.converted("method", |text| Some(settle::method_of(language, text).into()));
    match word {
        "change" => draft::head_body(typed.change(), typed, currency),
        "line" => {
            let line = draft::line_of(typed, currency);
            typed.change().with("lineItems", draft::lines(invoice, typed, Some(line)))
        }
        "remove-line" => typed.change().with("lineItems", draft::lines(invoice, typed, None)),
        "mark-paid" => with_method(typed.body().amount("amountCents", currency)),
        "refund" => {
            let id = typed.text("paymentId");
            let payment = invoice.ledger.payments.iter().find(|payment| payment.id.to_string() == id);
            // What goes back of a payment is in the payment's own currency.
            with_method(typed.body().amount("amountCents", payment.map_or(currency, |payment| &payment.currency)))
        }
        "pay-link" => typed.body().day("expiresAt", sent.call.clock()),
        _ => typed.body(),
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
    let sent = sent.at_version();
    let typed = Form::named(&name, &sent);
    let body = body_of(&sent, &word, &typed, state_of(&state)?);
    let outcome = match word.as_str() {
        "change" | "line" | "remove-line" => {
            operations::update(&app.invoices, id, &sent.request_of(body)).await.map(drop)
        }
        "send" => operations::send(&app.invoices, id, &sent.request_of(body)).await.map(drop),
        "void" => operations::void(&app.invoices, id, &sent.request_of(body)).await.map(drop),
        "mark-paid" => operations::mark_paid(&app.invoices, id, &sent.request_of(body)).await.map(drop),
        "refund" => operations::refund(&app.invoices, id, &sent.request_of(body)).await.map(drop),
        "store-pdf" => operations::store_pdf(&app.invoices, id, &sent.request_of(body)).await.map(drop),
        "pay-link" => operations::open_pay_link(&app.invoices, id, &sent.request_of(body)).await.map(drop),
        "revoke-link" => operations::close_pay_link(&app.invoices, id, &sent.call).await,
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
