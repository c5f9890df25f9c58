//! History of an order, newest entry first.

use maud::{Markup, html};

use crate::frame::time;
use crate::staff::names::ActorNames;
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::order::Order;

/// Renders what happened to an order and its jobs, and who did it.
pub(super) fn history(order: &Order, steps: &[NumberedEvent], names: &ActorNames) -> Markup {
    let number = |job: Id| order.jobs.get(&job).map(|job| job.number_text());
    html! {
        section class="panel pad" aria-labelledby="happened" {
            h2 id="happened" { "History" }
            ol class="timeline" {
                @for NumberedEvent { event, .. } in steps.iter().rev() {
                    li class=[entry_class(&event.event)] {
                        (event.event.replace(['.', '_'], " "))
                        @if let Some(number) = number(event.subject_id) { " " a href={ "#job-" (event.subject_id) } { (number) } }
                        div class="faint small" { (time(event.timestamp)) ", " (names.name(&event.actor).text) }
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
