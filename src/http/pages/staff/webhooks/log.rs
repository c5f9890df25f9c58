//! Delivery log of a webhook endpoint: each event sent, with the request and the response.

use maud::{Markup, html};

use super::WebhookPageHandles;
use crate::frame::{SLOT, in_english, time, with_parts};
use crate::staff::WEBHOOKS_PATH;
use crate::staff::filled_form::{address, field, options, ways};
use crate::staff::shell::{Tone, act};
use domain::endpoint::{Delivery, DeliveryState, Endpoint};
use domain::event::{OUTBOUND, TEST};
use http::error::ApiError;
use store::queries::{DeliveryFilter, Page};
use words::Language;
use words::staff::webhooks as texts;

/// Number of deliveries per page.
const DELIVERIES_PER_PAGE: u64 = 20;
/// Label in the language of the page.
type DeliveryStateLabel = fn(Language) -> String;

/// States by which the log can be filtered, with their labels.
const STATES: [(DeliveryState, &str, DeliveryStateLabel); 4] = [
    (DeliveryState::Failed, "failed", texts::failed),
    (DeliveryState::Pending, "pending", texts::delivery_pending),
    (DeliveryState::Delivered, "delivered", texts::delivered),
    (DeliveryState::Cancelled, "cancelled", texts::cancelled),
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
    language: Language,
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
        h2 id="log-title" { (texts::deliveries(language)) }
        (tools(language, &path, state, event))
        div id="log" data-fresh="" {
            @if some.is_empty() {
                p {
                    @if state.is_empty() && event.is_empty() { (texts::no_deliveries(language)) }
                    @else { (texts::none_match(language)) " " a href=(path) { (texts::show_all(language)) } }
                }
            }
            ul class="list" aria-labelledby="log-title" {
                @for one in &some { (entry(language, endpoint, one, admin)) }
            }
            (ways(language, from, total, DELIVERIES_PER_PAGE, to))
        }
        p class="soft" { (texts::kept_days(language)) }
    })
}

fn tools(language: Language, path: &str, state: &str, event: &str) -> Markup {
    let labels = STATES.map(|(_, word, label)| (word, label(language)));
    let states: Vec<(&str, &str)> = labels.iter().map(|(word, label)| (*word, label.as_str())).collect();
    let events: Vec<(&str, &str)> = OUTBOUND.iter().copied().chain([TEST]).map(|event| (event, event)).collect();
    html! {
        form class="tools" method="get" action=(path) role="search" {
            (field("state", &texts::status_field(language), &html! {
                select id="state" name="state" { option value="" { (texts::all(language)) } (options(&states, state)) }
            }))
            (field("event", &texts::event_field(language), &html! {
                select id="event" name="event" { option value="" { (texts::all(language)) } (options(&events, event)) }
            }))
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

fn state_of(language: Language, delivery: &Delivery) -> (Tone, String) {
    match delivery.state {
        DeliveryState::Pending if delivery.attempts > 0 => (Tone::Attention, texts::retrying(language)),
        DeliveryState::Pending => (Tone::Idle, texts::delivery_pending(language)),
        DeliveryState::Delivered => (Tone::Working, texts::delivered(language)),
        DeliveryState::Failed => (Tone::Error, texts::failed(language)),
        DeliveryState::Cancelled => (Tone::Idle, texts::cancelled(language)),
    }
}

fn entry(language: Language, endpoint: &Endpoint, delivery: &Delivery, admin: bool) -> Markup {
    let (id, (tone, words)) = (delivery.id, state_of(language, delivery));
    html! {
        li class="card" id={ "delivery-" (id) } {
            h3 { (delivery.event) " " span class=(tone.class()) { (words) } }
            p class="soft" {
                (time(language, delivery.created_at))
                @if delivery.replay > 0 { ", " (texts::resent(language)) }
                @if delivery.attempts > 1 { ", " (texts::attempts(language, delivery.attempts)) }
                @if let Some(at) = delivery.attempted_at {
                    ", " (with_parts(&texts::last_attempted(language, SLOT), &[&time(language, at)]))
                }
            }
            p { (answered(language, delivery)) }
            details {
                summary { (texts::exchange(language)) }
                (exchange(language, endpoint, delivery))
            }
            @if admin && delivery.state != DeliveryState::Pending {
                @let path = format!("/shop/deliveries/{id}/redeliver");
                (act(&path, &format!("again-{id}"), "second", &texts::send_again(language), None))
            }
        }
    }
}

/// Describes the outcome of the last delivery attempt in a sentence.
fn answered(language: Language, delivery: &Delivery) -> Markup {
    let answer = match delivery.last_status {
        Some(status) => with_parts(&texts::response_status(language, SLOT), &[&html! { strong { (status) } }]),
        None if delivery.attempts == 0 => html! { (texts::not_sent(language)) },
        None => html! { (texts::no_response(language)) },
    };
    let duration = delivery.last_duration_ms.map(|duration_ms| duration_ms.to_string());
    html! {
        @match &duration {
            Some(duration) => { (with_parts(&texts::after_duration(language, SLOT, duration), &[&answer])) },
            None => { (answer) },
        }
        @if let Some(error) = &delivery.last_error { ": " span class="bad" { (in_english(language, error)) } }
    }
}

fn exchange(language: Language, endpoint: &Endpoint, delivery: &Delivery) -> Markup {
    let no_body = texts::no_body(language);
    html! {
        h4 { (texts::request(language)) }
        pre class="raw" {
            "POST " (endpoint.url) "\n"
            "X-Service-Event: " (delivery.event) "\n"
            "X-Service-Delivery: " (delivery.id) "\n"
            "webhook-id: " (delivery.event_id) "\n\n"
            (pretty(&delivery.body))
        }
        h4 { (texts::response(language)) }
        @match delivery.last_status {
            Some(status) => {
                pre class="raw" {
                    (texts::status_line(language, &status.to_string())) "\n\n"
                    (delivery.last_excerpt.as_deref().unwrap_or(&no_body))
                }
            },
            None => { p { (texts::no_response_sentence(language)) } },
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
