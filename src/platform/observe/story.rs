//! Log messages about the shop: one line for each event that is relevant to readers of the log. Each event is committed
//! once, so nothing is logged twice, however often the work that led to it is retried.

use serde_json::Value;

use domain::event::Event;

/// Severity of a log line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// Information that requires no action.
    Info,
    /// Warning that an operator should look into.
    Warn,
}

/// Returns the log line for an event; `None` if the event is not logged.
pub fn line(event: &Event) -> Option<(Severity, String)> {
    let text = |name: &str| match &event.data[name] {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".to_owned(),
        other => other.to_string(),
    };
    let line = match event.event.as_str() {
        "printer.online" => {
            return Some((Severity::Info, format!("printer {} is back online", text("name"))));
        }
        "printer.offline" => format!("printer {} is offline: {}", text("name"), text("error")),
        "printer.firmware_error" => format!("printer {} has a firmware error: {}", text("name"), text("error")),
        "printer.emergency_stopped" => {
            format!("printer {} was emergency-stopped by {}", text("name"), event.actor)
        }
        "endpoint.disabled" => format!("webhook endpoint {} was disabled: {}", text("url"), text("reason")),
        "inventory.low" => format!(
            "low stock of {}: {} {unit} available, reorder point {} {unit}",
            text("name"),
            text("available"),
            text("reorderPoint"),
            unit = text("unit"),
        ),
        "inventory.discrepancy" => {
            format!("stock discrepancy of {}: {} {} on hand", text("name"), text("quantity"), text("unit"))
        }
        "job.failed" => format!("job {} failed: {}", text("jobId"), text("error")),
        "job.unverified" => {
            format!("job {} is unverified and may still be printing: {}", text("jobId"), text("error"))
        }
        "order.flagged" => format!("order {} needs review, {}: {}", text("number"), text("flag"), text("message")),
        "order.late" => format!("order {} is late: {}", text("number"), text("message")),
        "payment.unmatched" => format!("payment event {} matches no order", text("eventId")),
        "payment.given_up" => format!("payment event {} matched no order after all retries", text("eventId")),
        _ => return None,
    };
    Some((Severity::Warn, line))
}

/// Writes an event's log line, if any.
pub fn tell(event: &Event) {
    match line(event) {
        Some((Severity::Info, line)) => tracing::info!(event = event.event, subject = %event.subject_id, "{line}"),
        Some((Severity::Warn, line)) => tracing::warn!(event = event.event, subject = %event.subject_id, "{line}"),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use domain::id::Id;
    use domain::time::Timestamp;

    fn event(name: &str, data: Value) -> Event {
        Event {
            id: Id::ONLY,
            event: name.to_owned(),
            timestamp: Timestamp(0),
            subject_kind: "printer".to_owned(),
            subject_id: Id::ONLY,
            order_id: None,
            actor: "system".to_owned(),
            data,
        }
    }

    #[test]
    fn lines_have_names_and_numbers() {
        let low = json!({"name": "PLA red", "available": 992.64, "reorderPoint": 995, "unit": "g"});
        let actual = line(&event("inventory.low", low));
        assert_eq!(
            actual,
            Some((Severity::Warn, "low stock of PLA red: 992.64 g available, reorder point 995 g".to_owned()))
        );
        let back = line(&event("printer.online", json!({"name": "Left"})));
        assert_eq!(back, Some((Severity::Info, "printer Left is back online".to_owned())));
        assert_eq!(line(&event("order.created", json!({}))), None);
        let failed = line(&event("job.failed", json!({"jobId": "j", "error": null})));
        assert_eq!(failed, Some((Severity::Warn, "job j failed: unknown".to_owned())));
    }
}
