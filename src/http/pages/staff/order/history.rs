//! History of an order, newest entry first.

use maud::{Markup, html};

use crate::frame::time;
use crate::staff::orders::StaffOrderHandles;
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::order::Order;

/// Renders the events of an order and its jobs, with their actors.
pub(super) fn history(app: &StaffOrderHandles, order: &Order, steps: &[NumberedEvent]) -> Markup {
    let number = |job: Id| order.jobs.get(&job).map(|job| job.number_text());
    html! {
        section class="panel pad" aria-labelledby="happened" {
            h2 id="happened" { "What happened" }
            ol class="timeline" {
                @for NumberedEvent { event, .. } in steps.iter().rev() {
                    li class=[entry_class(&event.event)] {
                        (event.event.replace(['.', '_'], " "))
                        @if let Some(number) = number(event.subject_id) { " " a href={ "#job-" (event.subject_id) } { (number) } }
                        div class="faint small" { (time(event.timestamp)) ", " (app.log.who(&event.actor)) }
                    }
                }
            }
        }
    }
}

/// Returns the CSS class for an event that is good or bad; `None` for all other events.
fn entry_class(event: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| event.contains(word));
    if has(&["failed", "late", "rejected", "mismatch"]) {
        Some("warn")
    } else if has(&["paid", "completed", "ready", "shipped"]) {
        Some("ok")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_well_and_what_did_not_look_different() {
        let classes =
            ["order.payment_failed", "order.paid", "job.completed", "order.late", "job.dispatched"].map(entry_class);
        assert_eq!(classes, [Some("warn"), Some("ok"), Some("ok"), Some("warn"), None]);
    }
}
