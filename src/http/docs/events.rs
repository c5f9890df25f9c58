//! Page that lists all events with the moment at which each is sent, its members and an example. It is generated from
//! the structs of the events.

use std::fmt::Write as _;

use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use crate::openapi::catalogue::{Entry, all};
use crate::openapi::shape::Shape;

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
    table{border-collapse:collapse;width:100%}th,td{border:1px solid #bbb;padding:.3rem .6rem;text-align:left}\
    pre{background:#f4f4f4;padding:1rem;overflow:auto}h3{margin-top:2.5rem}";

const INTRODUCTION: &str = "<p>An event says that something happened in the shop. Programs read all of them with \
    <code>GET /api/events</code>, or follow them with <code>GET /api/events/stream</code>. Some of them can also be sent to \
    a program: register its address with <code>POST /api/webhooks/endpoints</code> and name the events.</p>\
    <p>What is sent is a JSON object with <code>id</code> (the same on every attempt), <code>event</code> (the name below), \
    <code>timestamp</code> (RFC 3339, UTC) and <code>data</code>, whose members are listed below. Money is in minor units of \
    the currency, identifiers are UUIDs. New members may be added: ignore those that you do not know.</p>\
    <p>Each request is signed: <code>X-Service-Signature</code> is <code>sha256=</code> and the HMAC-SHA256 of the raw body \
    in hexadecimal digits, keyed with the secret of the endpoint; <code>webhook-signature</code> follows Standard Webhooks. \
    Answer with any 2xx status. Otherwise it is sent again after the waits of the setting \
    <code>webhooks.retry_schedule_seconds</code>.</p>";

/// Returns the page as HTML.
pub fn page() -> String {
    let all = all();
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Events</title><style>{STYLE}</style></head>\
         <body><main><h1>Events</h1>{INTRODUCTION}"
    );
    let (sent, unsent): (Vec<&Entry>, Vec<&Entry>) = all.iter().partition(|entry| entry.sent_as.is_some());
    let _ = write!(html, "<h2>Events that endpoints are sent</h2>{}", sections(&sent, true));
    let _ = write!(html, "<h2>Events that only <code>/api/events</code> shows</h2>{}", sections(&unsent, false));
    html + "</main></body></html>\n"
}

fn sections(entries: &[&Entry], sent: bool) -> String {
    entries.iter().map(|entry| section(entry, sent)).collect()
}

fn section(entry: &Entry, sent: bool) -> String {
    let name = escaped(entry.kind.name);
    let mut rows = String::new();
    for member in &entry.members {
        let (kind, about) = (escaped(&kind(member.schema.clone())), words(member.description));
        let _ = write!(rows, "<tr><td><code>{}</code></td><td>{kind}</td><td>{about}</td></tr>", member.name);
    }
    let example = if sent { entry.envelope() } else { entry.example.clone() };
    let example = serde_json::to_string_pretty(&example).unwrap_or_default();
    format!(
        "<h3 id=\"{name}\">{name}</h3><p>{}</p><table><tr><th>Member</th><th>Type</th><th>What it is</th></tr>{rows}</table>\
         <pre>{}</pre>",
        words(entry.kind.when),
        escaped(&example)
    )
}

/// Describes the type of a member in plain text: `string (uuid) or null`.
fn kind(schema: Shape) -> String {
    let schema = serde_json::to_value(RefOr::<Schema>::from(schema)).unwrap_or_default();
    kind_of(&schema)
}

fn kind_of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let all = match (&schema["type"], &schema["oneOf"]) {
        (Value::String(kind), _) => vec![kind.clone()],
        (Value::Array(kinds), _) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        (_, Value::Array(choices)) => choices.iter().map(kind_of).collect(),
        _ => vec!["any".to_owned()],
    };
    let format = schema["format"].as_str().filter(|format| *format != "int64");
    let words_of_kinds = all.into_iter().map(|kind| match format {
        Some(format) if kind == "string" => format!("string ({format})"),
        _ => kind,
    });
    words_of_kinds.collect::<Vec<_>>().join(" or ")
}

/// Formats a description as HTML; text in backticks becomes code.
fn words(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part) })
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_tells_of_every_event() {
        let page = page();
        for entry in all() {
            assert!(page.contains(&format!("<h3 id=\"{0}\">{0}</h3>", entry.kind.name)), "{}", entry.kind.name);
        }
        assert!(page.contains("<td><code>trackingNumber</code></td>"), "{page}");
        assert!(page.contains("string (uuid) or null") && page.contains("OrderStatus"), "{page}");
        assert!(!page.contains("<script") && !page.contains("://") || page.contains("https://example.org"), "{page}");
        assert_eq!(words("`a<b` & c"), "<code>a&lt;b</code> &amp; c");
    }
}
