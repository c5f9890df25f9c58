//! Subject of a printer's card: the current print or the print on the bed, with its order, or otherwise the printer's
//! condition; and the matching picture.

use maud::{Markup, html};

use super::board::{BoardHandles, NEXT_MARK};
use super::card::{attention_words, file_words, job_number};
use super::card_picture::{camera, view_picture};
use super::floor_group::FloorGroup;
use super::shell::{Tone, since};
use super::{FLOOR_PATH, ORDERS_PATH};
use crate::design::{Icon, icon};
use crate::frame::{SLOT, with_parts};
use crate::times::{message_in, translated_message};
use domain::id::Id;
use domain::order::Order;
use domain::printer::{AttemptPhase, Attention, Printer};
use domain::printer_status::{Activity, Status};
use domain::time::Timestamp;
use http_api::production::printers::activity;
use words::Language;
use words::staff::{cards, orders};

/// Print of a job as described on cards and in rows.
pub(super) struct PrintedJob {
    /// Product and number of parts on the plate: `Cable clip ×12`.
    pub(super) parts: String,
    /// Number of parts on the plate.
    pub(super) plate_parts: u32,
    /// Order number.
    pub(super) order: String,
    /// Name or email address of the customer.
    pub(super) customer: String,
    /// File that the job prints.
    pub(super) file: Option<Id>,
    /// Time by which the order must be ready; only until it is.
    pub(super) deadline: Option<Timestamp>,
}

impl PrintedJob {
    /// Returns the print of a job, as described by its order in memory; `None` if the order is not in memory.
    pub(super) fn find(language: Language, app: &BoardHandles, order: Id, job: Id) -> Option<Self> {
        let versioned = app.orders.resident(order)?.read();
        let order = versioned.state.as_ref()?;
        let job = order.jobs.get(&job)?;
        let parts = plate(&job.sku_name, job.plate_parts);
        let (order_number, customer) = (order.number_text(), customer(language, order));
        let (file, deadline) = (job.file_id, order.deadline());
        Some(Self { parts, plate_parts: job.plate_parts, order: order_number, customer, file, deadline })
    }

    /// Returns the order's number and customer.
    fn order_line(&self) -> String {
        format!("{} · {}", self.order, self.customer)
    }

    /// Returns a printer's last print, whose parts are still on the bed.
    pub(super) fn on_bed(language: Language, app: &BoardHandles, printer: &Printer) -> Option<Self> {
        let last = printer.last_print.filter(|_| printer.bed_not_cleared)?;
        Self::find(language, app, last.order, last.job)
    }
}

/// Returns the product on a plate, with the number of parts if there is more than one.
pub(super) fn plate(name: &str, parts: u32) -> String {
    if parts > 1 { format!("{name} ×{parts}") } else { name.to_owned() }
}

/// Returns the name or the email address of an order's customer.
fn customer(language: Language, order: &Order) -> String {
    let buyer = order.buyer.as_ref().map(|buyer| buyer.name.trim()).filter(|name| !name.is_empty());
    let customer = buyer.or(order.customer_email.as_deref());
    customer.map_or_else(|| orders::no_customer(language), str::to_owned)
}

/// Returns the path of a job on its order's page.
pub(super) fn job_path_of(order: Id, job: Id) -> String {
    format!("{ORDERS_PATH}/{order}#job-{job}")
}

/// Returns whether a print has ended whose parts may still be on the bed.
fn is_over(app: &BoardHandles, printer: &Printer) -> bool {
    printer.bed_not_cleared && !matches!(activity(&app.shop, printer), Activity::Printing | Activity::Paused)
}

/// Renders the picture on a card: the camera image or, failing that, the file preview or an icon.
pub(super) fn view(language: Language, app: &BoardHandles, printer: &Printer, tone: Tone) -> Markup {
    let in_hand = printer.in_hand.as_ref().map(|in_hand| in_hand.file_id);
    let file = in_hand.or_else(|| PrintedJob::on_bed(language, app, printer)?.file);
    let shape = match tone {
        Tone::Error => Icon::CircleAlert,
        Tone::Attention => Icon::TriangleAlert,
        Tone::Running | Tone::Working | Tone::Idle => Icon::Printer,
    };
    html! {
        div class="view" {
            @match file {
                Some(file) => { (view_picture(file)) },
                None => { (icon(shape)) },
            }
            (camera(language, printer))
        }
    }
}

/// Renders the subject of a card: the print, or the printer's condition. A problem is followed by its reasons and by
/// the jobs held up by it.
pub(super) fn about(
    language: Language,
    app: &BoardHandles,
    printer: &Printer,
    group: FloorGroup,
    status: Option<&Status>,
) -> Markup {
    let (is_over, file) = (is_over(app, printer), file_words(printer, status));
    // The condition names its first reason.
    let is_named = printer.in_hand.is_none() && file.is_none() && !is_over && group == FloorGroup::NeedsYou;
    html! {
        div class="about" {
            @if let Some(in_hand) = &printer.in_hand {
                @let job = PrintedJob::find(language, app, in_hand.order, in_hand.job);
                @let parts = job.as_ref().map_or_else(|| job_number(in_hand), |job| &*job.parts);
                div class="what" title={ (parts) ", " (job_number(in_hand)) } { (parts) }
                div class="small muted line" title=[job.as_ref().map(PrintedJob::order_line)] {
                    a href=(job_path_of(in_hand.order, in_hand.job)) { (order_of(language, job.as_ref())) }
                }
            } @else if let Some(file) = &file {
                div class="what" title=(file) { (file) }
                div class="small muted line" { (cards::manual_print(language)) }
            } @else if is_over {
                (on_bed(language, app, printer))
            } @else {
                (condition(language, printer, group))
            }
            (troubles(language, printer, is_over, is_named))
            // While it prints, there is more room in the footer.
            @if group != FloorGroup::Printing { (NEXT_MARK) }
        }
    }
}

/// Returns the order of a print, as the text of the link to it.
fn order_of(language: Language, job: Option<&PrintedJob>) -> String {
    job.map_or_else(|| cards::view_job(language), PrintedJob::order_line)
}

/// Renders the print on the bed, and the time since it ended.
fn on_bed(language: Language, app: &BoardHandles, printer: &Printer) -> Markup {
    let job = PrintedJob::on_bed(language, app, printer);
    let print = job.as_ref().map_or_else(|| cards::last_print(language), |job| job.parts.clone());
    let end = if printer.print_failed { cards::print_failed_of } else { cards::print_on_bed };
    html! {
        div class="what" title=(print) { (end(language, &print)) }
        div class="small muted line" title=[job.as_ref().map(PrintedJob::order_line)] {
            @if let Some(at) = printer.bed_since { (since(language, at)) }
            @if let Some(last) = printer.last_print {
                " · " a href=(job_path_of(last.order, last.job)) { (order_of(language, job.as_ref())) }
            }
        }
    }
}

/// Renders the condition of a printer that is not printing.
fn condition(language: Language, printer: &Printer, group: FloorGroup) -> Markup {
    let with_time = |sentence: &str, at: Timestamp| with_parts(sentence, &[&since(language, at)]);
    let condition = match group {
        FloorGroup::Ready => with_time(&cards::idle(language, SLOT), printer.idle_since),
        FloorGroup::Printing => html! { (cards::print_starting(language)) },
        FloorGroup::NeedsYou => {
            let attention = printer.attention().first().copied();
            let words =
                attention.map_or_else(|| cards::state_attention(language), |one| attention_words(language, one));
            html! { (words) }
        }
        FloorGroup::Offline if printer.maintenance.is_some() => html! { (cards::maintenance(language)) },
        FloorGroup::Offline if printer.disconnected => html! { (cards::disconnected_manually(language)) },
        FloorGroup::Offline => match printer.last_seen_at {
            Some(at) => with_time(&cards::no_response_since(language, SLOT), at),
            None => html! { (cards::no_response(language)) },
        },
    };
    html! { div class="what" { (condition) } }
}

/// Renders the reasons a printer needs an operator, except for those already shown on the card: the first one if
/// `is_named`, and those about the bed if `is_over`.
fn troubles(language: Language, printer: &Printer, is_over: bool, is_named: bool) -> Markup {
    let mut attention: Vec<Attention> = printer.attention().into_iter().skip(usize::from(is_named)).collect();
    attention.retain(|one| match one {
        Attention::BedNotCleared | Attention::PrintFailed => !is_over,
        Attention::Maintenance | Attention::Unreachable => false,
        _ => true,
    });
    let unverified = printer.in_hand.as_ref().and_then(|in_hand| match &in_hand.phase {
        AttemptPhase::Unverified { reason } => Some(reason),
        _ => None,
    });
    html! {
        @if !attention.is_empty() {
            ul class="troubles small" { @for one in &attention { li { (attention_words(language, *one)) } } }
        }
        @if let Some(words) = printer.attention_words(language) { p class="bad small" { (translated_message(language, &words)) } }
        @if let Some(reason) = unverified { p class="bad small" { (message_in(language, reason)) } }
        @if let Some(note) = printer.maintenance.as_ref().filter(|note| !note.is_empty()) { p class="small muted" { (note) } }
    }
}

/// Returns the path of a printer's page.
pub(super) fn printer_path(printer: Id) -> String {
    format!("{FLOOR_PATH}/printers/{printer}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plate_says_how_many_parts_are_on_it_if_there_are_several() {
        assert_eq!([0, 1, 12].map(|parts| plate("Cable clip", parts)), ["Cable clip", "Cable clip", "Cable clip ×12"]);
    }
}
