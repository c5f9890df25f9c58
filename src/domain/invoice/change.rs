//! Collector for the changes that a decision makes to an invoice: the next state, documents, events and emails.

use super::{Invoice, InvoiceAnswer, InvoiceRow};
use crate::aggregate::{Decision, DecisionContext};
use crate::attention_flag::AttentionFlag;
use crate::event::Event;
use crate::event::data::EventData;
use crate::event::data::invoice::{InvoiceData, InvoiceFlaggedData};
use crate::mail::Mail;
use crate::mail::alert::{AlertKind, flag_name};
use crate::mail::part::MailTopic;
use words::staff::alerts as texts;

/// Documents issued by a change, with the events about the change.
pub(super) type SettlementChanges = (Vec<InvoiceRow>, Vec<Event>);

/// Changes that one command makes to an invoice.
pub(super) struct InvoiceChange<'a> {
    pub(super) cx: &'a DecisionContext<'a>,
    /// State of the invoice after the commit.
    pub(super) invoice: Invoice,
    rows: Vec<InvoiceRow>,
    events: Vec<Event>,
    mails: Vec<Mail>,
}

impl<'a> InvoiceChange<'a> {
    /// Starts a change from the current state of the invoice.
    pub(super) fn of(cx: &'a DecisionContext<'a>, invoice: Invoice) -> Self {
        Self { cx, invoice, rows: Vec::new(), events: Vec::new(), mails: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, row: InvoiceRow) {
        self.rows.push(row);
    }

    /// Adds issued documents and events.
    pub(super) fn settled(&mut self, (rows, events): SettlementChanges) {
        self.rows.extend(rows);
        self.events.extend(events);
    }

    /// Publishes an event about the invoice in its current state.
    pub(super) fn tell<D: EventData>(&mut self, name: &str, data: impl FnOnce(InvoiceData) -> D) {
        let invoice = &self.invoice;
        let data = data(invoice.data());
        self.events.push(Event::new(self.cx, name, ("invoice", invoice.id), invoice.order_id, &data));
    }

    /// Flags a problem that needs an operator's attention: on the invoice, as an event, and in an email to the
    /// operators. Does nothing if the same flag is already set, so that each problem causes only one email.
    pub(super) fn flag(&mut self, flag: &str, words: &str) {
        debug_assert!(AttentionFlag::parse(flag).is_some(), "{flag} has no name for people");
        if self.invoice.flags.iter().any(|one| one == flag) {
            return;
        }
        self.invoice.flags.push(flag.to_owned());
        let (flag_word, message) = (flag.to_owned(), words.to_owned());
        self.tell("invoice.flagged", |invoice| InvoiceFlaggedData { invoice, flag: flag_word, message });
        // Its number is known to the store alone.
        let name = &self.invoice.content.buyer.name;
        let alert = Mail::alert(self.cx, AlertKind::of_flag(flag), |language| {
            let subject = texts::invoice_flag_subject(language, name, &flag_name(language, flag));
            (subject, texts::invoice_flag(language, &self.invoice.id.to_string(), name, words))
        });
        self.mails.extend(alert);
    }

    /// Completes the decision with the invoice as the response; leaves the invoice unchanged if it does not differ from
    /// `before`.
    pub(super) fn done(mut self, before: Option<&Invoice>) -> Decision<Invoice, InvoiceAnswer> {
        if before == Some(&self.invoice) && self.rows.is_empty() && self.events.is_empty() {
            return Decision::unchanged(InvoiceAnswer { invoice: Box::new(self.invoice) });
        }
        if before.is_some() {
            self.invoice.revision += i64::from(self.cx.by.is_person());
            self.invoice.updated_at = self.cx.now;
        }
        let answer = InvoiceAnswer { invoice: Box::new(self.invoice.clone()) };
        self.mails.extend(self.invoice.notices(self.cx, before));
        let topics = [Some(MailTopic::Invoice(self.invoice.id)), self.invoice.order_id.map(MailTopic::Order)];
        let mails = self.mails.into_iter().map(|mail| topics.into_iter().flatten().fold(mail, Mail::about));
        let mails: Vec<Mail> = mails.collect();
        Decision::to(self.invoice, answer).rows(self.rows).events(self.events).created(mails)
    }
}
