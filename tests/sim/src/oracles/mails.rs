//! Oracles of emails: each email is delivered once, as soon as the mail service works, or was rejected permanently and
//! states the reason; and everything that calls for an email has one. `loose_ends` demands that a waiting email states
//! its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use serde_json::Value;

use super::demand;
use super::invoices::{StoredInvoices, is_paid_for};
use crate::clerk::InvoiceEnd;
use crate::day::Ending;
use crate::error::SimError;
use crate::faults::{FaultKind, FaultPlan};
use crate::loose_ends::mails;
use crate::outside::REJECTION;
use crate::people::People;
use crate::world::World;
use services::mail::Message;
use store::memory::Tables;

/// Prefix of the keys of emails that report several alerts.
const GATHERED: &str = "alerts-";
/// Empty line that separates the alerts of an email.
const GAP: &str = "\n\n";
/// Text after the number of alerts that an email does not list.
const UNLISTED: &str = " more not listed here";
/// Faults after which an alert may be reported again, because the server has lost the record of reporting it.
const FORGETFUL: [FaultKind; 6] = [
    FaultKind::Crash,
    FaultKind::CommitRefused,
    FaultKind::CommitLost,
    FaultKind::Superseded,
    FaultKind::Outage,
    FaultKind::MailLost,
];

/// Emails that the mail service has delivered, or that it has rejected, with an index, because a day has hundreds of
/// them and each alert is looked for in all.
struct MailIndex<'a> {
    /// Emails by the keys under which they were accepted or rejected.
    by_key: BTreeMap<&'a str, Vec<&'a Message>>,
    /// Emails with one alert each, by their subjects.
    single: BTreeMap<&'a str, Vec<&'a Message>>,
    /// Texts of emails with several alerts from each line on that follows an empty one, by these lines: the reports of
    /// an alert begin with its subject.
    reports: BTreeMap<&'a str, Vec<&'a str>>,
    /// Number of alerts that emails mention without listing them: if there are very many, an email lists the first ones
    /// and states how many more there are.
    unlisted: usize,
}

impl<'a> MailIndex<'a> {
    fn new(all: &'a [Message]) -> Self {
        let (mut by_key, mut single, mut reports): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) =
            <_>::default();
        for one in all {
            by_key.entry(one.id.as_str()).or_default().push(one);
            if !one.id.starts_with(GATHERED) {
                single.entry(one.subject.as_str()).or_default().push(one);
                continue;
            }
            for rest in paragraphs(&one.text) {
                reports.entry(rest.lines().next().unwrap_or_default()).or_default().push(rest);
            }
        }
        Self { by_key, single, reports, unlisted: all.iter().map(unlisted_in).sum() }
    }

    /// Returns the emails under the key of one that is on the disk.
    fn of(&self, mail: &Value) -> &[&'a Message] {
        self.by_key.get(mail["id"].as_str().unwrap_or_default()).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the number of times that the emails report an alert with these words.
    fn reports_of(&self, subject: &str, text: &str) -> usize {
        let is_whole = |one: &&&Message| one.text.strip_prefix(text).is_some_and(|rest| rest.starts_with(GAP));
        let single = self.single.get(subject).into_iter().flatten().filter(is_whole).count();
        let gathered = self.reports.get(subject).into_iter().flatten();
        single + gathered.filter(|rest| begins_with_report(rest, subject, text)).count()
    }
}

/// Returns whether a text begins with the report of an alert with these words, behind which another one may follow.
fn begins_with_report(rest: &str, subject: &str, text: &str) -> bool {
    let words = rest.strip_prefix(subject).and_then(|rest| rest.strip_prefix('\n'));
    words.and_then(|rest| rest.strip_prefix(text)).is_some_and(|rest| rest.starts_with(GAP))
}

/// Returns a text from its beginning, and from each line on that follows an empty one.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let lines = once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    lines.filter(move |at| *at == 0 || text[..*at].ends_with(GAP)).map(move |at| &text[at..])
}

/// Demands that every email on the disk was delivered exactly once, or rejected permanently, and no others were; and
/// that each paid order has its receipt, and each problem its alert.
pub fn arrive(
    world: &World,
    plan: &FaultPlan,
    people: &People,
    ending: &Ending,
    invoices: &StoredInvoices,
) -> Result<(), SimError> {
    let tables = world.disk.tables();
    let mails = mails(&tables)?;
    let (deliveries, rejections) = (world.post_office.deliveries(), world.post_office.rejections());
    let (delivered, rejected) = (MailIndex::new(&deliveries), MailIndex::new(&rejections));
    for mail in &mails {
        match mail["state"].as_str() {
            Some("sent") => is_delivered(mail, &delivered, &rejected)?,
            Some("failed") => is_given_up(mail, &delivered, &rejected)?,
            _ => return Err(SimError::Broken(format!("a mail was not sent: {mail}"))),
        }
    }
    let of_disk: BTreeSet<&str> = mails.iter().filter_map(|mail| mail["id"].as_str()).collect();
    for delivery in &deliveries {
        let is_explained = of_disk.contains(delivery.id.as_str()) || delivery.id.starts_with(GATHERED);
        demand(is_explained, || format!("nobody wrote the mail {}: {}", delivery.id, delivery.subject))?;
    }
    // A server that the owner restarts forgets as much as one that crashes.
    let is_exact = !world.house_rules.were_changed() && !plan.kinds().any(|kind| FORGETFUL.contains(&kind));
    alerts_are_reported(&mails, &delivered, is_exact)?;
    problems_have_alerts(&tables, &mails)?;
    receipts_are_sent(&mails, ending, invoices)?;
    for own in &people.clerk.invoices {
        // The invoice itself, and a receipt.
        let expected = if own.plan.end == InvoiceEnd::Voided { 1 } else { 2 };
        let count = mails.iter().filter(|mail| mail["attached"]["invoice"] == own.id.as_str()).count();
        demand(count == expected, || {
            format!("{count} mails about the invoice {}, which is {:?}", own.id, own.plan.end)
        })?;
    }
    Ok(())
}

/// Demands that an email shown as sent was delivered once, with its own words, and not rejected. An alert may have come
/// with others.
fn is_delivered(mail: &Value, delivered: &MailIndex<'_>, rejected: &MailIndex<'_>) -> Result<(), SimError> {
    if !mail["alert"].is_null() {
        return Ok(());
    }
    demand(rejected.of(mail).is_empty(), || format!("a mail was rejected, and is shown as sent: {mail}"))?;
    let own = delivered.of(mail);
    demand(own.len() == 1, || format!("a mail was delivered {} times: {mail}", own.len()))?;
    let text = mail["text"].as_str().unwrap_or_default().trim_end();
    let is_same = |one: &&Message| mail["subject"] == one.subject.as_str() && one.text.starts_with(text);
    demand(own.iter().all(is_same), || format!("a mail was delivered with other words: {mail}"))
}

/// Demands that an email that was given up was rejected permanently and not delivered, and states the reason.
fn is_given_up(mail: &Value, delivered: &MailIndex<'_>, rejected: &MailIndex<'_>) -> Result<(), SimError> {
    let states_reason = mail["error"].as_str().is_some_and(|error| error.contains(REJECTION));
    let is_explained = states_reason && mail["failure"] == "rejected";
    demand(is_explained, || format!("a mail is given up without the reason of its rejection: {mail}"))?;
    let is_rejected = if mail["alert"].is_null() {
        !rejected.of(mail).is_empty() && delivered.of(mail).is_empty()
    } else {
        let (subject, text) = words_of(mail);
        rejected.unlisted + rejected.reports_of(&subject, &text) > 0
    };
    demand(is_rejected, || format!("a mail is given up that was not rejected: {mail}"))
}

/// Demands that each alert that is not given up was reported, by a separate email or with others; exactly once, if
/// `is_exact`.
fn alerts_are_reported(mails: &[Value], delivered: &MailIndex<'_>, is_exact: bool) -> Result<(), SimError> {
    // By their words, which several alerts may share.
    let mut alerts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for alert in mails.iter().filter(|mail| !mail["alert"].is_null() && mail["state"] == "sent") {
        *alerts.entry(words_of(alert)).or_default() += 1;
    }
    let mut unlisted = delivered.unlisted;
    for ((subject, text), count) in &alerts {
        let reports = delivered.reports_of(subject, text);
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
fn receipts_are_sent(mails: &[Value], ending: &Ending, invoices: &StoredInvoices) -> Result<(), SimError> {
    let attached = mails.iter().filter_map(|mail| mail["attached"]["invoice"].as_str());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    attached.for_each(|invoice| *counts.entry(invoice).or_default() += 1);
    for (order, _) in &ending.orders {
        let ids = invoices.of(&order["id"]).iter().filter_map(|invoice| invoice["id"].as_str());
        let count: usize = ids.filter_map(|id| counts.get(id)).sum();
        let least = usize::from(is_paid_for(order));
        demand((least..=1).contains(&count), || format!("{count} receipts: {order}"))?;
    }
    Ok(())
}
