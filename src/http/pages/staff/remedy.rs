//! Late orders on the staff pages: why an order is late, which act would get it ready on time, and a link or button for
//! that act.

use maud::{Markup, html};

use super::card_print::{job_path_of, printer_path};
use super::order::order_path;
use super::shell::hidden;
use super::stock::slot_form_path;
use crate::frame::{SLOT, time, with_parts};
use crate::times::{message_in, translated_message};
use domain::forecast::{Forecast, last_job};
use domain::order::Order;
use domain::remedy::{MAX_PRIORITY, OrderRecovery, Remedy, RemedyAct};
use http_api::production::jobs::JobHandles;
use http_api::production::printers::PrinterHandles;
use words::Language;
use words::staff::{timing as texts, to_do};

/// Renders what the last job of an order waits for, or why it failed, according to a forecast; `None` if it is printing
/// or finished.
pub(super) fn delay_reason(language: Language, app: &JobHandles, forecast: &Forecast, order: &Order) -> Option<Markup> {
    let job = last_job(order, forecast)?;
    let error = job.error.as_ref().map(|error| message_in(language, error));
    let waiting = app.dispatcher.waiting(language, job, &forecast.jobs).map(|waiting| waiting.sentence());
    let reason = waiting.map(|words| translated_message(language, &words)).or(error)?;
    Some(html! { a href=(job_path_of(order.id, job.id)) { (job.number_text()) } ": " (reason) })
}

/// Renders the act that would get an order ready on time, or states that none does and the earliest time, in one or two
/// sentences.
pub(super) fn recovery_words(language: Language, recovery: &OrderRecovery) -> Markup {
    let stated_at = html! { @if let Some(at) = recovery.stated_at() { (time(language, at)) } };
    with_parts(&recovery.words(language, SLOT), &[&stated_at])
}

/// Renders a link or button for the act that is suggested for an order; renders nothing if there is none. `back` is the
/// page to which a button returns. The accessible name includes the order's number, because a page may list several
/// orders.
pub(super) fn remedy_act(
    language: Language,
    shop: &PrinterHandles,
    order: &Order,
    recovery: &OrderRecovery,
    back: &str,
) -> Markup {
    let Some(remedy) = recovery.suggestion() else { return html! {} };
    let number = order.number_text();
    match remedy.act {
        RemedyAct::RaisePriority => html! {
            form method="post" action=(order_path(order.id, "change")) data-quiet="" {
                (hidden())
                input type="hidden" name="priority" value=(MAX_PRIORITY);
                input type="hidden" name="back" value=(back);
                button id={ "raise-" (order.id) } class="btn" type="submit"
                    aria-label=(texts::change_priority_of(language, &number)) { (texts::change_priority(language)) }
            }
        },
        RemedyAct::SignOff | RemedyAct::Retry => {
            let path = remedy.jobs.first().map(|job| job_path_of(order.id, job.id));
            link(path, &texts::view_job_of(language, &number), &to_do::view_job(language))
        }
        RemedyAct::Resume | RemedyAct::ClearBed | RemedyAct::ReturnToService => {
            let path = remedy.printer.as_ref().map(|printer| printer_path(printer.id));
            link(path, &texts::open_printer_for(language, &number), &texts::open_printer(language))
        }
        RemedyAct::Load => {
            let name = texts::load_spool_for(language, &number);
            link(load_path(shop, remedy), &name, &to_do::load_spool(language))
        }
    }
}

/// Renders a link to an act; `name` is its accessible name, which contains its words. Renders nothing without a path.
fn link(path: Option<String>, name: &str, words: &str) -> Markup {
    html! { @if let Some(path) = path { a class="btn" href=(path) aria-label=(name) { (words) } } }
}

/// Returns the path of the form for loading the first spool; `None` if its printer no longer exists.
fn load_path(shop: &PrinterHandles, remedy: &Remedy) -> Option<String> {
    let printer = shop.printers.resident(remedy.printer.as_ref()?.id)?.read();
    Some(slot_form_path(printer.state.as_ref()?, remedy.materials.first()?.id))
}
