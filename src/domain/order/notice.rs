//! Shipment email to the customer: contents, shipping details, and whether the promised time was met.

use super::change::OrderChange;
use super::{Order, OrderLine, OrderStatus, PICKUP, SentShipment};
use crate::aggregate::DecisionContext;
use crate::mail::Mail;
use crate::mail::kind::own_page;
use crate::mail::part::{MailFact, MailItem, MailLink, MailPart, first_items};
use crate::tracking::tracking_url;

impl OrderChange<'_> {
    /// Emails the customer about a shipment that is sent with this commit, unless their email address is unknown or the
    /// selling shop notifies them.
    pub(super) fn tell_shipment(&mut self, sent: &SentShipment) {
        let told_there = self.order.sold.as_ref().is_some_and(|sold| sold.tells_customer);
        let told_here = self.cx.rules.shipment_notices && !told_there;
        let Some(address) = self.order.customer_email.clone().filter(|_| told_here) else {
            return;
        };
        let mail = notice(self.cx, address, &self.order, sent);
        self.mail(mail);
    }
}

/// Builds the email about a shipment of the given order.
fn notice(cx: &DecisionContext<'_>, to: String, order: &Order, sent: &SentShipment) -> Mail {
    let number = order.number_text();
    let picked_up = sent.shipment.carrier == PICKUP;
    let whole = order.status == OrderStatus::Shipped;
    let first = order.shipments.len() <= 1;
    let what = match (whole, first) {
        _ if replaces(order, sent) => format!("A replacement for order {number}"),
        (true, true) => format!("Order {number}"),
        (true, false) => format!("The rest of order {number}"),
        (false, _) => format!("A part of order {number}"),
    };
    let came = if picked_up { "was picked up" } else { "is on its way" };
    let follows = if whole { "" } else { "; the rest will follow" };
    let text = format!("Hello,\n\n{what} {came}{follows}:\n");
    let items = sent.lines.iter().filter_map(|one| {
        let line = order.lines.get(one.line as usize)?;
        let what = format!("{}{}", line.description, of_kit(order, line));
        Some(MailItem { quantity: one.quantity, what, amount: None })
    });
    let (items, more) = first_items(items);
    let mut parts = vec![MailPart::Items(items)];
    parts.extend(more.map(MailPart::Text));
    if !picked_up {
        let shipment = &sent.shipment;
        parts.push(MailPart::Facts(vec![
            MailFact::new("Carrier", &shipment.carrier),
            MailFact::new("Tracking number", &shipment.tracking_number),
            MailFact::new("Expected delivery", &shipment.estimated_delivery),
        ]));
        let url = tracking_url(&cx.rules.tracking_pages, &shipment.carrier, &shipment.tracking_number);
        parts.extend(url.map(|url| MailPart::Link(MailLink { label: "Track the parcel".to_owned(), url })));
    }
    parts.extend(promise_words(order, cx).map(MailPart::Text));
    let link = own_page(cx, "View the order", &format!("orders/{}", order.id));
    Mail { parts, link: Some(link), ..Mail::new(cx, vec![to], format!("{what} {came}"), text) }
}

/// Returns whether everything in the shipment replaces parts that were shipped before.
fn replaces(order: &Order, sent: &SentShipment) -> bool {
    let departed = order.departed_parts();
    sent.lines.iter().all(|one| {
        let ordered = order.lines.get(one.line as usize).map_or(0, |line| u64::from(line.quantity));
        departed.get(one.line as usize).is_some_and(|departed| *departed >= ordered + u64::from(one.quantity))
    })
}

/// Describes whether the promise was met; `None` if it is still outstanding, or if there is no promise.
fn promise_words(order: &Order, cx: &DecisionContext<'_>) -> Option<String> {
    let promise = order.promise.as_ref()?;
    let clock = &cx.rules.clock;
    let promised = clock.date_and_time(promise.promised_at);
    match promise.met_at {
        Some(met) if met <= promise.promised_at => {
            let met = clock.date_and_time(met);
            Some(format!("We promised it for {promised} and kept our promise: it was ready on {met}."))
        }
        Some(met) => {
            let met = clock.date_and_time(met);
            Some(format!("We promised it for {promised} and are sorry that it was not ready until {met}."))
        }
        None if cx.now > promise.promised_at => {
            Some(format!("We promised all of it for {promised} and are sorry that the rest is late."))
        }
        None => Some(format!("All of it is promised for {promised}.")),
    }
}

/// Returns the suffix that contains the name of a line's kit: ` (of Desk set)`.
fn of_kit(order: &Order, line: &OrderLine) -> String {
    let kit = line.kit_line.and_then(|kit| order.lines.get(kit as usize));
    kit.map(|kit| format!(" (of {})", kit.description)).unwrap_or_default()
}
