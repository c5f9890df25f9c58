//! Oracles of emails: each is delivered once, as soon as the mail service works, and whatever requires an email has
//! one. `loose_ends` checks that a waiting email states its reason.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use super::invoices::{invoices_of, is_paid_for};
use crate::clerk::InvoiceEnd;
use crate::day::Ending;
use crate::error::SimError;
use crate::faults::{FaultKind, FaultPlan};
use crate::loose_ends::mails;
use crate::people::People;
use crate::world::World;
use services::mail::Message;
use store::memory::Tables;

/// Prefix of the keys of emails that report several alerts.
const GATHERED: &str = "alerts-";
/// Empty line that separates the alerts of an email.
const GAP: &str = "\n\n";
/// Text after the number of alerts that an email does not list.
const UNLISTED: &str = " more are not listed here";
/// Faults after which an alert may be reported again, because the server has lost the record of reporting it.
const FORGETFUL: [FaultKind; 6] = [
    FaultKind::Crash,
    FaultKind::CommitRefused,
    FaultKind::CommitLost,
    FaultKind::Superseded,
    FaultKind::Outage,
    FaultKind::MailLost,
];

/// Checks that exactly the emails on the disk were delivered, each once, and that each paid order has its receipt and
/// each problem its alert.
pub fn arrive(world: &World, plan: &FaultPlan, people: &People, ending: &Ending) -> Result<(), SimError> {
    let tables = world.disk.tables();
    let mails = mails(&tables)?;
    let deliveries = world.post_office.deliveries();
    // No fault refuses an email for ever.
    let stuck = mails.iter().find(|mail| mail["state"] != "sent");
    demand(stuck.is_none(), || format!("a mail was not sent: {}", stuck.cloned().unwrap_or_default()))?;
    for mail in mails.iter().filter(|mail| mail["alert"].is_null()) {
        is_delivered(mail, &deliveries)?;
    }
    for delivery in &deliveries {
        let is_of_disk = mails.iter().any(|mail| mail["id"] == delivery.id.as_str());
        let is_gathered = delivery.id.starts_with(GATHERED);
        demand(is_of_disk || is_gathered, || format!("nobody wrote the mail {}: {}", delivery.id, delivery.subject))?;
    }
    // A server that the owner restarts forgets as much as one that crashes.
    let is_exact = !world.house_rules.were_changed() && !plan.kinds().any(|kind| FORGETFUL.contains(&kind));
    alerts_are_reported(&mails, &deliveries, is_exact)?;
    problems_have_alerts(&tables, &mails)?;
    receipts_are_sent(&tables, &mails, ending)?;
    for own in &people.clerk.invoices {
        // The invoice itself, and a receipt.
        let expected = if own.end == InvoiceEnd::Voided { 1 } else { 2 };
        let count = mails.iter().filter(|mail| mail["attached"]["invoice"] == own.id.as_str()).count();
        demand(count == expected, || format!("{count} mails about the invoice {}, which is {:?}", own.id, own.end))?;
    }
    Ok(())
}

/// Checks that an email was delivered once, with its own text.
fn is_delivered(mail: &Value, deliveries: &[Message]) -> Result<(), SimError> {
    let own: Vec<&Message> = deliveries.iter().filter(|one| mail["id"] == one.id.as_str()).collect();
    demand(own.len() == 1, || format!("a mail was delivered {} times: {mail}", own.len()))?;
    let text = mail["text"].as_str().unwrap_or_default().trim_end();
    let is_same = |one: &&Message| mail["subject"] == one.subject.as_str() && one.text.starts_with(text);
    demand(own.iter().all(is_same), || format!("a mail was delivered with other words: {mail}"))
}

/// Checks that each alert was reported, in an email of its own or together with others; exactly once if `is_exact`.
fn alerts_are_reported(mails: &[Value], deliveries: &[Message], is_exact: bool) -> Result<(), SimError> {
    // By their words, which several alerts may share.
    let mut alerts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for alert in mails.iter().filter(|mail| !mail["alert"].is_null()) {
        *alerts.entry(words_of(alert)).or_default() += 1;
    }
    // Of very many, an email lists the first ones and says how many more there are.
    let mut unlisted: usize = deliveries.iter().map(unlisted_in).sum();
    for ((subject, text), count) in &alerts {
        let reports: usize = deliveries.iter().map(|one| reports_in(one, subject, text)).sum();
        let missing = count.saturating_sub(reports);
        let is_right = missing <= unlisted && (reports <= *count || !is_exact);
        demand(is_right, || format!("{count} alerts \"{subject}\" were reported {reports} times: {text}"))?;
        unlisted -= missing;
    }
    Ok(())
}

/// Returns the number of alerts that a delivered email mentions without listing them.
fn unlisted_in(delivery: &Message) -> usize {
    let Some((before, _)) = delivery.text.split_once(UNLISTED) else { return 0 };
    before.rsplit(char::is_whitespace).next().and_then(|count| count.parse().ok()).unwrap_or_default()
}

/// Returns the subject and the text of an email on the disk.
fn words_of(mail: &Value) -> (String, String) {
    let text = |member: &str| mail[member].as_str().unwrap_or_default().trim_end().to_owned();
    (text("subject"), text("text"))
}

/// Returns how many times a delivered email reports an alert with this subject and text.
fn reports_in(delivery: &Message, subject: &str, text: &str) -> usize {
    if !delivery.id.starts_with(GATHERED) {
        let is_whole = delivery.text.strip_prefix(text).is_some_and(|rest| rest.starts_with(GAP));
        return usize::from(delivery.subject == subject && is_whole);
    }
    let (all, report) = (format!("{GAP}{}", delivery.text), format!("{GAP}{subject}\n{text}"));
    all.match_indices(&report).filter(|(at, _)| all[at + report.len()..].starts_with(GAP)).count()
}

/// Checks that the disk has an alert for each event that requires one.
fn problems_have_alerts(tables: &Tables, mails: &[Value]) -> Result<(), SimError> {
    let calls: [(&str, &[&str]); 3] =
        [("job.failed", &["job_failed"]), ("order.flagged", &["money_due", "order"]), ("order.late", &["order_late"])];
    let count = |kinds: &[&str]| mails.iter().filter(|mail| kinds.iter().any(|kind| mail["alert"] == *kind)).count();
    let events = |name: &str| {
        // Failed jobs have alerts of their own.
        let all = tables.events_after(0).map(|numbered| numbered.event);
        all.filter(|event| event.event == name && event.data["flag"] != "job_failed").count()
    };
    for (name, kinds) in calls {
        let (expected, actual) = (events(name), count(kinds));
        demand(actual >= expected, || format!("{expected} times {name}, and {actual} alerts about it"))?;
    }
    Ok(())
}

/// Checks that each order that is paid at the end has one receipt, and that others have at most one.
fn receipts_are_sent(tables: &Tables, mails: &[Value], ending: &Ending) -> Result<(), SimError> {
    for (order, _) in &ending.orders {
        let invoices = invoices_of(tables, &order["id"])?;
        let is_receipt = |mail: &&Value| invoices.iter().any(|invoice| mail["attached"]["invoice"] == invoice["id"]);
        let count = mails.iter().filter(is_receipt).count();
        let least = usize::from(is_paid_for(order));
        demand((least..=1).contains(&count), || format!("{count} receipts: {order}"))?;
    }
    Ok(())
}
