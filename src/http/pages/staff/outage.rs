//! States of jobs and orders whose printer does not respond: that there is no answer, from which printer, and since
//! when. Their last known state is no longer current, and is shown in the title.

use maud::{Markup, html};

use super::job::job_state;
use super::orders::order_state;
use super::shell::{Tone, time_of_day};
use crate::frame::{SLOT, with_parts};
use domain::job::Job;
use domain::order::{Order, OrderStatus};
use domain::printer_status::Activity;
use domain::time::Timestamp;
use http_api::production::printers::{PrinterHandles, activity, last_answer};
use words::Language;
use words::staff::jobs;

/// Outage of the printer that a job is on.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Outage {
    /// Name of the printer.
    printer: String,
    /// Time of its last response, if it ever responded.
    last_response_at: Option<Timestamp>,
}

impl Outage {
    /// Returns the outage of the printer that a job is on; `None` if the job is on no printer, or its printer responds.
    fn of_job(shop: &PrinterHandles, job: &Job) -> Option<Self> {
        let versioned = shop.printers.resident(job.live()?.printer_id)?.read();
        let printer = versioned.state.as_ref()?;
        (activity(shop, printer) == Activity::Offline)
            .then(|| Self { printer: printer.fields.name.clone(), last_response_at: last_answer(shop, printer) })
    }

    /// Describes that the printer does not respond and, if it ever did, since when.
    fn words(&self, language: Language) -> Markup {
        match self.last_response_at {
            Some(at) => {
                let since = jobs::no_answer_since(language, &self.printer, SLOT);
                with_parts(&since, &[&time_of_day(language, at)])
            }
            None => html! { (jobs::no_answer(language, &self.printer)) },
        }
    }

    /// Returns the longest outage among the printers of an order's jobs. `order` may be a row of a list, which has no
    /// jobs: an order that prints is in memory.
    fn of_order(shop: &PrinterHandles, order: &Order) -> Option<Self> {
        if order.status != OrderStatus::Printing {
            return None;
        }
        let versioned = shop.orders.resident(order.id)?.read();
        let jobs = versioned.state.iter().flat_map(|order| order.jobs.values());
        jobs.filter_map(|job| Self::of_job(shop, job)).min_by_key(|outage| outage.last_response_at)
    }
}

/// Returns whether a job is on a printer that does not respond.
pub(super) fn is_out_of_reach(shop: &PrinterHandles, job: &Job) -> bool {
    Outage::of_job(shop, job).is_some()
}

/// Renders the state of a job. If its printer does not respond, a warning says so and states since when.
pub(super) fn live_job_state(language: Language, shop: &PrinterHandles, job: &Job) -> Markup {
    state(language, job_state(language, job), Outage::of_job(shop, job).as_ref())
}

/// Renders the status of an order. If a printer of one of its jobs does not respond, a warning says so and states since
/// when.
pub(super) fn live_order_state(language: Language, shop: &PrinterHandles, order: &Order) -> Markup {
    state(language, order_state(language, order.status), Outage::of_order(shop, order).as_ref())
}

fn state(language: Language, (tone, label): (Tone, String), outage: Option<&Outage>) -> Markup {
    let Some(outage) = outage else {
        return html! { span class=(tone.class()) { (label) } };
    };
    html! {
        span class=(tone.min(Tone::Attention).class()) title=(jobs::last_state(language, &label)) {
            span { (outage.words(language)) }
        }
    }
}

/// Returns the current state of a job as one fact among others, for views that are not updated live.
pub(super) fn job_words(language: Language, shop: &PrinterHandles, job: &Job) -> Markup {
    words(language, &job_state(language, job).1, Outage::of_job(shop, job).as_ref())
}

/// Returns the current status of an order as one fact among others, for views that are not updated live.
pub(super) fn order_words(language: Language, shop: &PrinterHandles, order: &Order) -> Markup {
    words(language, &order_state(language, order.status).1, Outage::of_order(shop, order).as_ref())
}

fn words(language: Language, label: &str, outage: Option<&Outage>) -> Markup {
    outage.map_or_else(|| html! { (label) }, |outage| outage.words(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_on_a_printer_that_does_not_respond_is_a_warning_that_names_the_printer() {
        let printing = || (Tone::Running, "Printing".to_owned());
        let of = |outage: Option<&Outage>| state(Language::English, printing(), outage).into_string();
        assert_eq!(of(None), "<span class=\"state running\">Printing</span>");
        let mut outage = Outage { printer: "Ada <3>".to_owned(), last_response_at: None };
        let begin =
            "<span class=\"state attention\" title=\"Last known state: Printing\"><span>No answer from Ada &lt;3&gt;";
        assert_eq!(of(Some(&outage)), format!("{begin}</span></span>"));
        outage.last_response_at = Some(Timestamp(1_795_884_000_000));
        assert_eq!(of(Some(&outage)), format!("{begin} since <shop-time near 1795884000000></span></span>"));
        let failed = state(Language::German, (Tone::Error, "Fehler".to_owned()), Some(&outage)).into_string();
        let begin = "<span class=\"state error\" title=\"Letzter bekannter Zustand: Fehler\">";
        let since = "Keine Antwort von Ada &lt;3&gt; seit <shop-time near 1795884000000 de>";
        assert!(failed.starts_with(begin) && failed.contains(since), "{failed}");
        let fact = |outage: Option<&Outage>| words(Language::English, "Printing", outage).into_string();
        assert_eq!(fact(None), "Printing");
        assert_eq!(fact(Some(&outage)), "No answer from Ada &lt;3&gt; since <shop-time near 1795884000000>");
    }
}
