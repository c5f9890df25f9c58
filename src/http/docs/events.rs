//! Page that lists all events, each with a description of when it is sent, its fields and an example. It is generated
//! from the event structs.

use std::fmt::Write as _;

use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use crate::openapi::catalogue::{Entry, all};
use crate::openapi::shape::Shape;

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
    table{border-collapse:collapse;width:100%}th,td{border:1px solid #bbb;padding:.3rem .6rem;text-align:left}\
    pre{background:#f4f4f4;padding:1rem;overflow:auto}h3{margin-top:2.5rem}";

const INTRODUCTION: &str = "<p>An event indicates that something happened in the shop. Programs can read all events \
                            with <code>GET /api/events</code> or follow them with <code>GET /api/events/stream</code>. \
                            Some events can also be sent to a program: register its URL with <code>POST \
                            /api/webhooks/endpoints</code> and specify the events.</p>\
                            <p>The payload is a JSON object with <code>id</code> (the same on every attempt), \
                            <code>event</code> (the name below), <code>timestamp</code> (RFC 3339, UTC) and \
                            <code>data</code>, whose fields are listed below. Amounts of money are in minor units of \
                            the currency, and identifiers are UUIDs. New fields may be added; ignore those that you do \
                            not recognise.</p>\
                            <p>Each request is signed: <code>X-Service-Signature</code> is <code>sha256=</code> and \
                            the HMAC-SHA256 of the raw body in hexadecimal, keyed with the endpoint's secret; \
                            <code>webhook-signature</code> follows Standard Webhooks. Respond with any 2xx status. \
                            Otherwise, the request is retried after the delays in the setting \
                            <code>webhooks.retry_schedule_seconds</code>.</p>";

/// Returns the page as HTML.
pub fn page() -> String {
    let all = all();
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Events</title><style>{STYLE}</style></head>\
         <body><main><h1>Events</h1>{INTRODUCTION}"
    );
    let (sent, unsent): (Vec<&Entry>, Vec<&Entry>) = all.iter().partition(|entry| entry.sent_as.is_some());
    let _ = write!(html, "<h2>Events sent to endpoints</h2>{}", sections(&sent, true));
    let _ = write!(html, "<h2>Events returned only by <code>/api/events</code></h2>{}", sections(&unsent, false));
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
        "<h3 \
         id=\"{name}\">{name}</h3><p>{}</p><table><tr><th>Field</th><th>Type</th><th>Description</th></tr>{rows}</table>\
         <pre>{}</pre>",
        words(entry.kind.when),
        escaped(&example)
    )
}

/// Describes the type of a field in plain text, such as `string (uuid) or null`.
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
