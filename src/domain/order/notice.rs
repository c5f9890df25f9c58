//! What a customer reads when a shipment leaves: what is in it, how it travels, and whether the promise was kept.

use std::fmt::Write as _;

use super::change::OrderChange;
use super::{Line, Order, OrderStatus, PICKUP, SentShipment};
use crate::domain::mail::Mail;
use crate::domain::mail::alert::one_line;
use crate::domain::time::Timestamp;

/// Most lines that a mail names; further ones are only counted.
const MAX_TOLD_LINES: usize = 100;

impl OrderChange<'_> {
    /// Tells the customer of a shipment that leaves with this commit, unless no address of theirs is known or the shop
    /// tells them by other means.
    pub(super) fn tell_shipment(&mut self, sent: &SentShipment) {
        let Some(address) = self.order.customer_email.clone().filter(|_| self.cx.rules.shipment_notices) else {
            return;
        };
        let (subject, text) = notice(&self.order, sent, self.cx.now);
        self.mail(Mail::new(self.cx, vec![address], subject, text));
    }
}

/// Subject and text of the mail about a shipment of this order.
fn notice(order: &Order, sent: &SentShipment, now: Timestamp) -> (String, String) {
    let number = order.number_text();
    let picked_up = sent.shipment.carrier == PICKUP;
    let whole = order.status == OrderStatus::Shipped;
    let first = order.shipments.len() <= 1;
    let what = match (whole, first) {
        (true, true) => format!("Order {number}"),
        (true, false) => format!("The rest of order {number}"),
        (false, _) => format!("A part of order {number}"),
    };
    let came = if picked_up { "was picked up" } else { "is on its way" };
    let subject = format!("{what} {came}");
    let mut text = format!("Hello,\n\n{what} {came}");
    text.push_str(if whole { ":\n\n" } else { "; what is missing follows:\n\n" });
    let told = sent.lines.iter().take(MAX_TOLD_LINES);
    for (line, quantity) in told.filter_map(|one| Some((order.lines.get(one.line as usize)?, one.quantity))) {
        let _ = writeln!(text, "{quantity} x {}{}", one_line(&line.description), of_kit(order, line));
    }
    let untold = sent.lines.len().saturating_sub(MAX_TOLD_LINES);
    if untold > 0 {
        let _ = writeln!(text, "and {untold} lines more");
    }
    if !picked_up {
        let shipment = &sent.shipment;
        let (carrier, tracking) = (one_line(&shipment.carrier), one_line(&shipment.tracking_number));
        let _ = write!(text, "\nCarrier: {carrier}\nTracking number: {tracking}\n");
        let _ = writeln!(text, "Expected delivery: {}", shipment.estimated_delivery);
    }
    if let Some(words) = promise_words(order, now) {
        let _ = writeln!(text, "\n{words}");
    }
    (subject, text)
}

/// Whether what was promised was kept; nothing while it may still be, or where nothing was promised.
fn promise_words(order: &Order, now: Timestamp) -> Option<String> {
    let promise = order.promise.as_ref()?;
    let promised = shown(promise.promised_at);
    match promise.met_at {
        Some(met) if met <= promise.promised_at => {
            Some(format!("We promised it for {promised}, and kept that: it was ready at {}.", shown(met)))
        }
        Some(met) => {
            Some(format!("We promised it for {promised}, and are sorry: it was ready only at {}.", shown(met)))
        }
        None if now > promise.promised_at => {
            Some(format!("We promised all of it for {promised}, and are sorry: we are late with the rest."))
        }
        None => Some(format!("All of it is promised for {promised}.")),
    }
}

/// A moment to the minute: `2026-11-30 18:05 UTC`.
fn shown(at: Timestamp) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => text,
    }
}

/// To which kit a line belongs: ` (of Desk set)`.
fn of_kit(order: &Order, line: &Line) -> String {
    let kit = line.kit_line.and_then(|kit| order.lines.get(kit as usize));
    kit.map(|kit| format!(" (of {})", one_line(&kit.description))).unwrap_or_default()
}
