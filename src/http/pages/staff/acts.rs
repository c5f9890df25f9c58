//! Form actions on staff pages. Each action is performed by the API operation named in the form's path, with the fields
//! of the form as the members of its request.

use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};

use super::address_fields::{ADDRESS_MEMBER, FieldLabel, address_label};
use super::invoices::method_of;
use super::subject::{CHECKED_ACT, check_at_printer, check_of_job, check_print, trouble_mark};
use super::{FLOOR_PATH, ORDERS_PATH, TO_DO_PATH, is_path};
use crate::faults::amount_message;
use crate::form::{FormBody, PageForm};
use crate::frame::see_other;
use domain::id::Id;
use domain::order::PICKUP;
use domain::printer::{PrintSubject, PrinterCommand};
use domain::refusal::Refusal;
use domain::sign_off::Inspection;
use http::access::Caller;
use http::command_request::CommandTarget;
use http::error::ApiError;
use http::handles::handles;
use http::path_id::PathId;
use http::wire::{TICKED_WORD, typed_number};
use http_api::production::files::PHOTO_MEMBER;
use http_api::production::jobs::{self, JobHandles};
use http_api::production::orders::{self, OrderHandles};
use http_api::production::printers::{self, PrinterHandles};
use words::Language;
use words::staff::{common, labels, orders as orders_texts};

/// Name of the field that contains the page to return to.
const BACK_FIELD: &str = "back";
/// Name of the field that contains the currency of an amount.
pub(super) const CURRENCY_FIELD: &str = "currency";
/// Name of the field that contains the date shown in the form. The exact time stays unchanged unless a different date
/// is entered.
pub(super) const DAY_SHOWN_FIELD: &str = "dayShown";
/// Name of the field that restricts the action to the parts specified in fields starting with [`PART_PREFIX`].
pub(super) const SOME_PARTS_FIELD: &str = "someParts";
/// Name of the field that lists the fields of a shipment with the values at which everything leaves:
/// `part-0=2 acceptShort=true`.
pub(super) const WHOLE_FIELD: &str = "wholeOrder";
/// Name of the button with which a shipment is recorded as picked up by the customer.
pub(super) const PICKED_UP_FIELD: &str = "pickedUp";
/// Prefix of the fields for the number of parts to ship from an order line.
pub(super) const PART_PREFIX: &str = "part-";
/// Last segment of the path of a form that changes an order or a job.
const CHANGE_WORD: &str = "change";
/// Prefix of the fields that specify printers whose beds are clear, each with the mark of the print on the bed.
pub(super) const BED_PREFIX: &str = "bed-";

handles! {
    /// Dependencies of form actions on staff pages.
    pub(crate) struct ActHandles {
        printers: PrinterHandles,
        orders: OrderHandles,
        jobs: JobHandles,
    }
}

/// Label of the field for the number of good parts.
pub(super) const GOOD_LABEL: FieldLabel = common::good_parts;
/// Label of the field for the reason why parts are bad.
pub(super) const REASON_LABEL: FieldLabel = common::defect;
/// Label of the field for an amount of money.
pub(super) const AMOUNT_LABEL: FieldLabel = common::amount;
/// Label of the field for a note.
pub(super) const NOTE_LABEL: FieldLabel = common::note;
/// Label of the field for the day on which a shipment is expected to arrive.
pub(super) const DELIVERY_LABEL: FieldLabel = common::expected_delivery;
/// Label of the field for the staff's reference of a payment.
pub(super) const REFERENCE_LABEL: FieldLabel = common::reference;
/// Label of the field for the day by which an order or a job is wanted.
pub(super) const WANTED_LABEL: FieldLabel = common::due_date;
/// Label of the field for the work that was done on a printer.
pub(super) const DONE_LABEL: FieldLabel = common::work_done;
/// Label of the field for notes that customers read.
pub(super) const NOTES_LABEL: FieldLabel = common::notes_to_customer;
/// Label of the field for notes that only the staff reads.
pub(super) const STAFF_NOTES_LABEL: FieldLabel = common::internal_notes;
/// Labels of fields in the forms whose errors have a separate page, by API member.
const LABELS: [(&str, FieldLabel); 17] = [
    ("goodCount", GOOD_LABEL),
    ("reason", REASON_LABEL),
    ("amountCents", AMOUNT_LABEL),
    ("note", NOTE_LABEL),
    ("estimatedDelivery", DELIVERY_LABEL),
    ("reference", REFERENCE_LABEL),
    ("dueAt", WANTED_LABEL),
    ("done", DONE_LABEL),
    ("notes", NOTES_LABEL),
    ("internalNotes", STAFF_NOTES_LABEL),
    ("labels", labels::title),
    ("material", labels::material_field),
    ("carrier", orders_texts::carrier_field),
    ("trackingNumber", orders_texts::tracking_field),
    ("priority", orders_texts::priority),
    ("method", orders_texts::method_field),
    (PHOTO_MEMBER, common::picture_of_parts),
];

/// Returns the label for an API field in forms whose errors are shown on a separate page.
pub(crate) fn label_of(language: Language, member: &str) -> Option<String> {
    match member.strip_prefix(ADDRESS_MEMBER).and_then(|rest| rest.strip_prefix('.')) {
        Some(part) => address_label(language, part),
        None => LABELS.iter().find(|(path, _)| *path == member).map(|(_, label)| label(language)),
    }
}

/// Action of a form, from the last segment of its path.
pub(super) struct PathAct(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathAct {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let word = params.iter().flatten().find(|(name, _)| *name == "act").map(|(_, text)| text.to_owned());
        word.map(Self).ok_or_else(|| Refusal::not_found("act").into())
    }
}

/// Reads the body of an action's API operation from a form. In a form that changes something, a priority or an address
/// left empty stays as it is.
pub(super) fn act_body(sent: &PageForm, word: &str) -> FormBody {
    let (language, clock) = (sent.call.who.language, sent.call.clock());
    let body =
        if word == CHANGE_WORD { sent.change().unless_empty(&["priority", ADDRESS_MEMBER]) } else { sent.body() };
    let body = body
        .amount("amountCents", sent.text(CURRENCY_FIELD))
        .converted("method", |method| Some(method_of(language, method).into()));
    let due = sent.text("dueAt");
    let keeps_time = !due.is_empty() && due == sent.text(DAY_SHOWN_FIELD);
    let body = if keeps_time { body.without("dueAt") } else { body.day("dueAt", clock) };
    let body = if sent.text(PICKED_UP_FIELD) == TICKED_WORD { body.with("carrier", PICKUP) } else { body };
    // Where only some parts are meant and none is said, the API says that one is wanted.
    if sent.some(SOME_PARTS_FIELD).is_some() && !ships_whole_order(sent) {
        body.with("lines", parts_to_ship(sent))
    } else {
        body
    }
}

/// Returns the parts of each order line to ship, without the lines of which nothing is shipped.
fn parts_to_ship(sent: &PageForm) -> Vec<Value> {
    let parts = sent.members().filter_map(|(name, text)| Some((name.strip_prefix(PART_PREFIX)?, text)));
    let parts = parts.filter(|(_, text)| !matches!(*text, "" | "0"));
    parts.map(|(line, text)| json!({"line": typed_number(line), "quantity": typed_number(text)})).collect()
}

/// Returns whether a form for shipping is filled in so that everything leaves.
fn ships_whole_order(sent: &PageForm) -> bool {
    let mut fields = sent.text(WHOLE_FIELD).split(' ').filter_map(|field| field.split_once('=')).peekable();
    fields.peek().is_some() && fields.all(|(name, value)| sent.text(name) == value)
}

/// Redirects to the page specified in the form if it is a staff page, or otherwise to `otherwise`.
pub(super) fn back(sent: &PageForm, otherwise: String) -> Response {
    let target = sent.some(BACK_FIELD).filter(|path| is_path(path) && !path.contains(['\\', '\r', '\n']));
    see_other(&target.unwrap_or(otherwise))
}

/// Handles the forms for a printer.
pub(super) async fn at_printer(
    State(app): State<ActHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    act_on_printer(&app.printers, id, &word, &sent).await?;
    Ok(back(&sent, format!("{FLOOR_PATH}/printers/{id}")))
}

/// Performs the API operation on a printer that is named by `word`.
async fn act_on_printer(app: &PrinterHandles, id: Id, word: &str, sent: &PageForm) -> Result<(), ApiError> {
    check_at_printer(app, id, word, sent).await?;
    match word {
        "pause" => printers::pause(app, id, &sent.request()).await,
        "resume" => printers::resume(app, id, &sent.request()).await,
        "cancel" => printers::cancel(app, id, &sent.request()).await,
        "home" => printers::home(app, id, &sent.request()).await.map(drop),
        "connect" => printers::connect(app, id, &sent.request()).await.map(drop),
        "disconnect" => printers::disconnect(app, id, &sent.request()).await.map(drop),
        "bed-cleared" => printers::clear_bed(app, id, &sent.request()).await.map(drop),
        CHECKED_ACT => printers::clear_attention(app, id, Some(trouble_mark(sent)), &sent.request()).await.map(drop),
        "maintenance" => printers::set_maintenance(app, id, &sent.request()).await.map(drop),
        "back" => return_to_service(app, id, sent).await,
        "note" => printers::log_maintenance(app, id, &sent.request()).await.map(drop),
        "print" => printers::print_file(app, id, &sent.request()).await.map(drop),
        "remove" => printers::archive(app, id, &sent.call).await,
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Returns a printer to service. If the form describes the work done, the work is first added to the maintenance log.
async fn return_to_service(app: &PrinterHandles, id: Id, sent: &PageForm) -> Result<(), ApiError> {
    if sent.some("done").is_some() {
        printers::log_maintenance(app, id, &sent.request()).await?;
    }
    let ended = sent.body().with("on", false).without("note");
    printers::set_maintenance(app, id, &sent.request_of(ended)).await.map(drop)
}

/// Handles the emergency-stop form for a printer. The body is not awaited, so the CSRF token is not checked; instead,
/// the same-site check for emergency stops in the API applies.
pub(super) async fn stop(State(app): State<ActHandles>, PathId(id): PathId, who: Caller) -> Result<Response, ApiError> {
    printers::stop_now(&app.printers, id, &who).await?;
    Ok(see_other(&format!("{FLOOR_PATH}/printers/{id}")))
}

/// Handles the forms for an order.
pub(super) async fn on_order(
    State(app): State<ActHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let body = act_body(&sent, &word);
    let outcome = match word.as_str() {
        CHANGE_WORD => orders::operations::update(&app.orders, id, &sent.request_of(body)).await.map(drop),
        "confirm" => orders::operations::confirm(&app.orders, id, &sent.request_of(body)).await.map(drop),
        "cancel" => orders::operations::cancel(&app.orders, id, &sent.request_of(body)).await.map(drop),
        "mark-paid" => orders::operations::mark_paid(&app.orders, id, &sent.request_of(body)).await.map(drop),
        "refund" => orders::operations::refund(&app.orders, id, &sent.request_of(body)).await.map(drop),
        "ship" => orders::operations::ship(&app.orders, id, &sent.request_of(body)).await.map(drop),
        _ => Err(Refusal::not_found("act").into()),
    };
    let amount = sent.text("amountCents");
    outcome.map_err(|error| error.reword(|fault| amount_message(fault, amount)))?;
    Ok(back(&sent, format!("{ORDERS_PATH}/{id}")))
}

/// Handles the forms for a job.
pub(super) async fn on_job(
    State(app): State<ActHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let job = jobs::find(&app.jobs, id).await?;
    check_of_job(&job, &word, &sent)?;
    let body = act_body(&sent, &word);
    let outcome = match word.as_str() {
        CHANGE_WORD => jobs::operations::update(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "pause" => jobs::operations::pause(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "resume" => jobs::operations::resume(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "cancel" => jobs::operations::cancel(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "retry" => jobs::operations::retry(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "release" => jobs::operations::release(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "resolve" => jobs::operations::resolve(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        "sign-off" => jobs::operations::sign_off(&app.jobs, id, &sent.request_of(body)).await.map(drop),
        _ => Err(Refusal::not_found("act").into()),
    };
    outcome?;
    Ok(back(&sent, format!("{ORDERS_PATH}/{}#job-{id}", job.order_id)))
}

/// Handles the form that clears several beds at once. The parts of each bed's last print are counted as good or failed
/// according to how that print ended. If a bed cannot be cleared, for example because another print is on it by now,
/// the remaining ones are still cleared.
pub(super) async fn clear_beds(State(app): State<ActHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let bed = |name: &str| name.strip_prefix(BED_PREFIX)?.parse::<Id>().ok();
    let beds: Vec<(Id, &str)> = sent.members().filter_map(|(name, _)| Some((bed(name)?, sent.raw(name)))).collect();
    let mut refused = None;
    for (printer, meant) in beds {
        if let Err(error) = clear_bed(&app.printers, printer, meant, &sent).await {
            refused = Some(error);
        }
    }
    refused.map_or_else(|| Ok(back(&sent, TO_DO_PATH.to_owned())), Err)
}

/// Clears the bed of a printer if the print with the given mark is on it.
async fn clear_bed(app: &PrinterHandles, id: Id, meant: &str, sent: &PageForm) -> Result<(), ApiError> {
    check_print(app, id, PrintSubject::OnBed, meant).await?;
    let command = PrinterCommand::BedCleared(Inspection::default());
    sent.call.ask(&app.printers, CommandTarget::Id(id), command).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_in_the_language_of_the_page() {
        let both = |member: &str| Language::ALL.map(|language| label_of(language, member).unwrap_or_default());
        for (member, labels) in [
            ("carrier", ["Carrier", "Versanddienst"]),
            ("trackingNumber", ["Tracking number", "Sendungsnummer"]),
            ("priority", ["Priority", "Priorität"]),
            ("method", ["Payment method", "Zahlungsart"]),
            (PHOTO_MEMBER, ["Picture of the parts", "Bild der Teile"]),
            ("shippingAddress.city", ["City", "Ort"]),
            ("colour", ["", ""]),
        ] {
            assert_eq!(both(member), labels, "{member}");
        }
    }
}
