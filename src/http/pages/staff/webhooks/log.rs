//! Delivery log of a webhook endpoint: each event sent, with the request and the response.

use maud::{Markup, html};

use super::WebhookPageHandles;
use crate::frame::time;
use crate::staff::WEBHOOKS_PATH;
use crate::staff::filled_form::{address, field, options, ways};
use crate::staff::shell::{Tone, act};
use domain::endpoint::{Delivery, DeliveryState, Endpoint};
use domain::event::{OUTBOUND, TEST};
use http::error::ApiError;
use store::queries::{DeliveryFilter, Page};

/// Number of deliveries per page.
const DELIVERIES_PER_PAGE: u64 = 20;
/// States by which the log can be filtered, with their labels.
const STATES: [(DeliveryState, &str, &str); 4] = [
    (DeliveryState::Failed, "failed", "Failed"),
    (DeliveryState::Pending, "pending", "Pending"),
    (DeliveryState::Delivered, "delivered", "Delivered"),
    (DeliveryState::Cancelled, "cancelled", "Cancelled"),
];

/// Query parameters of the delivery log. Unknown values are ignored.
#[derive(api_derive::Request, Debug, Default)]
pub(super) struct LogQuery {
    /// Only deliveries in this state, as spelled in the API.
    state: Option<String>,
    /// Only deliveries of this event.
    event: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

impl LogQuery {
    fn filter(&self) -> DeliveryFilter {
        let state = STATES.iter().find(|(_, word, _)| self.state.as_deref() == Some(*word)).map(|(state, ..)| *state);
        let is_known = |event: &&String| *event == TEST || OUTBOUND.contains(&event.as_str());
        DeliveryFilter { state, event: self.event.as_ref().filter(is_known).cloned() }
    }
}

/// Renders an endpoint's deliveries, newest first.
pub(super) async fn log(
    app: &WebhookPageHandles,
    endpoint: &Endpoint,
    query: &LogQuery,
    admin: bool,
) -> Result<Markup, ApiError> {
    let (path, from) = (format!("{WEBHOOKS_PATH}/{}", endpoint.id), u64::from(query.from));
    let page = Page { limit: DELIVERIES_PER_PAGE, offset: from };
    let (some, total) = app.endpoints.queries.deliveries(endpoint.id, &query.filter(), page).await?;
    let (state, event) = (query.state.as_deref().unwrap_or_default(), query.event.as_deref().unwrap_or_default());
    let to = |from: u64| address(&path, &[("state", state), ("event", event), ("from", &from.to_string())]);
    Ok(html! {
        h2 id="log-title" { "Deliveries" }
        (tools(&path, state, event))
        div id="log" data-fresh="" {
            @if some.is_empty() {
                p {
                    @if state.is_empty() && event.is_empty() { "No deliveries yet. Send a test event to try the endpoint." }
                    @else { "No deliveries match." }
                }
            }
            ul class="list" aria-labelledby="log-title" {
                @for one in &some { (entry(endpoint, one, admin)) }
            }
            (ways(from, total, DELIVERIES_PER_PAGE, to))
        }
        p class="soft" { "Deliveries are kept for 30 days." }
    })
}

fn tools(path: &str, state: &str, event: &str) -> Markup {
    let states: Vec<(&str, &str)> = STATES.iter().map(|(_, word, label)| (*word, *label)).collect();
    let events: Vec<(&str, &str)> = OUTBOUND.iter().copied().chain([TEST]).map(|event| (event, event)).collect();
    html! {
        form class="tools" method="get" action=(path) role="search" {
            (field("state", "Status", &html! {
                select id="state" name="state" { option value="" { "All" } (options(&states, state)) }
            }))
            (field("event", "Event", &html! {
                select id="event" name="event" { option value="" { "All" } (options(&events, event)) }
            }))
            button class="second" type="submit" { "Show" }
        }
    }
}

fn state_of(delivery: &Delivery) -> (Tone, &'static str) {
    match delivery.state {
        DeliveryState::Pending if delivery.attempts > 0 => (Tone::Attention, "Retrying"),
        DeliveryState::Pending => (Tone::Idle, "Pending"),
        DeliveryState::Delivered => (Tone::Working, "Delivered"),
        DeliveryState::Failed => (Tone::Error, "Failed"),
        DeliveryState::Cancelled => (Tone::Idle, "Cancelled"),
    }
}

fn entry(endpoint: &Endpoint, delivery: &Delivery, admin: bool) -> Markup {
    let (id, (tone, words)) = (delivery.id, state_of(delivery));
    html! {
        li class="card" id={ "delivery-" (id) } {
            h3 { (delivery.event) " " span class=(tone.class()) { (words) } }
            p class="soft" {
                (time(delivery.created_at))
                @if delivery.replay > 0 { ", resent" }
                @if delivery.attempts > 1 { ", " (delivery.attempts) " attempts" }
                @if let Some(at) = delivery.attempted_at { ", last attempt " (time(at)) }
            }
            p { (answered(delivery)) }
            details {
                summary { "Request and response" }
                (exchange(endpoint, delivery))
            }
            @if admin && delivery.state != DeliveryState::Pending {
                (act(&format!("/shop/deliveries/{id}/redeliver"), &format!("again-{id}"), "second", "Send again", None))
            }
        }
    }
}

/// Describes the outcome of the last delivery attempt in a sentence.
fn answered(delivery: &Delivery) -> Markup {
    html! {
        @match delivery.last_status {
            Some(status) => { "Response " strong { (status) } },
            None if delivery.attempts == 0 => { "Not sent yet" },
            None => { "No response" },
        }
        @if let Some(took_ms) = delivery.last_duration_ms { " after " (took_ms) " ms" }
        @if let Some(error) = &delivery.last_error { ": " span class="bad" { (error) } }
    }
}

fn exchange(endpoint: &Endpoint, delivery: &Delivery) -> Markup {
    html! {
        h4 { "Request" }
        pre class="raw" {
            "POST " (endpoint.url) "\n"
            "X-Service-Event: " (delivery.event) "\n"
            "X-Service-Delivery: " (delivery.id) "\n"
            "webhook-id: " (delivery.event_id) "\n\n"
            (pretty(&delivery.body))
        }
        h4 { "Response" }
        @match delivery.last_status {
            Some(status) => {
                pre class="raw" { "Status " (status) "\n\n" (delivery.last_excerpt.as_deref().unwrap_or("(no body)")) }
            },
            None => { p { "No response." } },
        }
    }
}

/// Pretty-prints a JSON body; returns any other body unchanged.
fn pretty(body: &str) -> String {
    let read = bounded_json::read(body.as_bytes(), bounded_json::REQUEST).ok();
    read.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_laid_out_if_they_can_be() {
        assert_eq!(pretty("{\"a\":1}"), "{\n  \"a\": 1\n}");
        assert_eq!(pretty("no json"), "no json");
    }

    #[test]
    fn words_that_mean_nothing_narrow_nothing() {
        let query =
            |state: &str, event: &str| LogQuery { state: Some(state.into()), event: Some(event.into()), from: 0 };
        assert_eq!(query("odd", "odd").filter(), DeliveryFilter::default());
        let some = query("failed", "order.paid").filter();
        assert_eq!((some.state, some.event.as_deref()), (Some(DeliveryState::Failed), Some("order.paid")));
    }
}
