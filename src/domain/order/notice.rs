//! Shipment email to the customer: contents, shipping details, and whether the promised time was met.

use super::change::OrderChange;
use super::{Order, OrderLine, OrderStatus, PICKUP, SentShipment};
use crate::aggregate::DecisionContext;
use crate::mail::Mail;
use crate::mail::kind::own_page;
use crate::mail::part::{MailFact, MailItem, MailLink, MailPart, first_items};
use crate::notation;
use crate::tracking::tracking_url;
use words::mails::{ShipmentContent, ShipmentWay};
use words::{Language, mails};

impl OrderChange<'_> {
    /// Emails the customer about a shipment sent with this commit, unless their email address is unknown or the selling
    /// shop notifies them.
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
    let language = order.language();
    let picked_up = sent.shipment.carrier == PICKUP;
    let whole = order.status == OrderStatus::Shipped;
    let content = match (whole, order.shipments.len() <= 1) {
        _ if replaces(order, sent) => ShipmentContent::Replacement,
        (true, true) => ShipmentContent::Whole,
        (true, false) => ShipmentContent::Rest,
        (false, _) => ShipmentContent::Part,
    };
    let way = if picked_up { ShipmentWay::Pickup } else { ShipmentWay::Parcel };
    let sentence = mails::shipment_sentence(language, content, way, &order.number_text());
    let text = if whole {
        mails::shipment_text(language, &sentence)
    } else {
        mails::partial_shipment_text(language, &sentence)
    };
    let items = sent.lines.iter().filter_map(|one| {
        let line = order.lines.get(one.line as usize)?;
        let what = item_of(language, order, line);
        Some(MailItem { quantity: one.quantity, what, amount: None })
    });
    let (items, more) = first_items(language, items);
    let mut parts = vec![MailPart::Items(items)];
    parts.extend(more.map(MailPart::Text));
    if !picked_up {
        let shipment = &sent.shipment;
        parts.push(MailPart::Facts(vec![
            MailFact::new(&mails::carrier(language), &shipment.carrier),
            MailFact::new(&mails::tracking_number(language), &shipment.tracking_number),
            MailFact::new(
                &mails::expected_delivery(language),
                notation::typed_date(language, &shipment.estimated_delivery),
            ),
        ]));
        let url = tracking_url(&cx.rules.tracking_pages, &shipment.carrier, &shipment.tracking_number);
        parts.extend(url.map(|url| MailPart::Link(MailLink { label: mails::tracking_link(language), url })));
    }
    parts.extend(promise_words(language, order, cx).map(MailPart::Text));
    let link = own_page(cx, &mails::order_link(language), &format!("orders/{}", order.id));
    Mail { language, parts, link: Some(link), ..Mail::new(cx, vec![to], sentence, format!("{text}\n")) }
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
fn promise_words(language: Language, order: &Order, cx: &DecisionContext<'_>) -> Option<String> {
    let promise = order.promise.as_ref()?;
    let in_words = |at| notation::date_and_time(language, &cx.rules.clock, at);
    let promised = in_words(promise.promised_at);
    Some(match promise.met_at {
        Some(met) if met <= promise.promised_at => mails::promise_met(language, &promised, &in_words(met)),
        Some(met) => mails::promise_broken(language, &promised, &in_words(met)),
        None if cx.now > promise.promised_at => mails::promise_overdue(language, &promised),
        None => mails::promise_open(language, &promised),
    })
}

/// Describes a line, with its kit if it belongs to one: `Shelf (of Desk set)`.
fn item_of(language: Language, order: &Order, line: &OrderLine) -> String {
    let kit = line.kit_line.and_then(|kit| order.lines.get(kit as usize));
    match kit {
        Some(kit) => mails::item_of_kit(language, &line.description, &kit.description),
        None => line.description.clone(),
    }
}
