//! The quote as an aggregate: dispatch of its commands, and the effects required by its state.

use std::convert::Infallible;

use super::{QUOTE_DECLINED, QUOTE_EXPIRED, Quote, QuoteCommand, QuoteLine, QuoteSlicingOutcome, QuoteStatus};
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult, NewAggregate};
use crate::audit::AuditedAct;
use crate::event::Event;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::mail::kind::{self, QuoteSent};
use crate::mail::part::{MailFact, MailItem, MailTopic, one_line};
use crate::notation;
use crate::principal::Principal;
use crate::refusal::{Faults, Refusal, shortened};
use crate::requirement::{Referenced, Requirement};
use crate::sku::Sku;
use crate::slice_source::SliceSource;
use crate::time::DAY_MS;
use words::staff::alerts as texts;
use words::{Language, mails};

/// Maximum stored length of a reason, in characters.
const MAX_REASON_CHARS: usize = 500;

/// External work required by the state of a quote, until the quote receives the outcome.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum QuoteEffect {
    /// Slices a model, so that it can be priced by its G-code, until [`QuoteCommand::Sliced`] is recorded.
    Slice(SliceSource),
    /// Reports the status of the quote to its custom request, until [`QuoteCommand::RequestTold`] is recorded.
    TellRequest {
        /// Custom request to notify.
        request: Id,
        /// Status of the quote.
        status: QuoteStatus,
    },
    /// Creates the order for the accepted quote under the chosen ID, until [`QuoteCommand::Ordered`] is recorded.
    MakeOrder(Id),
}

/// Record created in a quote commit.
#[derive(Clone, Debug)]
pub enum QuoteCreation {
    /// Email to the customer or to staff.
    Mail(Box<Mail>),
    /// Private SKU for a model.
    Sku(Box<Sku>),
}

impl NewAggregate for QuoteCreation {
    fn kind(&self) -> &'static str {
        match self {
            Self::Mail(mail) => NewAggregate::kind(&**mail),
            Self::Sku(_) => Sku::KIND,
        }
    }
    fn id(&self) -> Id {
        match self {
            Self::Mail(mail) => NewAggregate::id(&**mail),
            Self::Sku(sku) => sku.id,
        }
    }
}

/// Output of a change in addition to the next state.
#[derive(Default)]
struct ChangeOutput {
    events: Vec<Event>,
    created: Vec<QuoteCreation>,
    requirements: Vec<Requirement>,
}

impl Aggregate for Quote {
    const KIND: &'static str = "quote";
    type Row = Infallible;
    type Created = QuoteCreation;
    type Effect = QuoteEffect;

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn revision(&self) -> Option<i64> {
        Some(self.revision)
    }

    fn effects(&self) -> Vec<QuoteEffect> {
        if self.archived {
            return Vec::new();
        }
        let mut effects: Vec<QuoteEffect> = self.untold_request().into_iter().collect();
        match self.status {
            QuoteStatus::Draft => {
                let mut sources: Vec<SliceSource> =
                    self.lines.iter().filter_map(|line| line.model.as_ref()?.to_slice()).collect();
                sources.sort();
                sources.dedup();
                effects.extend(sources.into_iter().map(QuoteEffect::Slice));
            }
            QuoteStatus::Accepted if !self.order_made && self.order_error.is_none() => {
                effects.extend(self.order_id.map(QuoteEffect::MakeOrder));
            }
            _ => {}
        }
        effects
    }

    fn at_rest(&self) -> bool {
        self.effects().is_empty()
    }
}

impl Command<Quote> for QuoteCommand {
    type Answer = Box<Quote>;

    fn decide(&self, this: Option<&Quote>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<Quote, Self::Answer> {
        let quote = match (this.filter(|quote| !quote.archived), self) {
            (None, QuoteCommand::Create(wished)) if this.is_none() => {
                let draft = Quote::draft(cx, id, wished)?;
                return Ok(Decision::to(draft.clone(), Box::new(draft)).requires(skus_named(&wished_skus(wished))));
            }
            (None, _) => return Err(Refusal::not_found(Quote::KIND)),
            (Some(quote), _) => quote,
        };
        let mut next = quote.clone();
        let along = match self {
            QuoteCommand::Create(_) => return Err(Refusal::conflict("exists", "this quote already exists")),
            QuoteCommand::Update { if_version: _, patch } => {
                next.redraft(cx, patch)?;
                ChangeOutput { requirements: skus_named(&next.named_skus()), ..ChangeOutput::default() }
            }
            QuoteCommand::Send(language) => next.send(cx, *language)?,
            QuoteCommand::Accept => next.accept(cx)?,
            QuoteCommand::Decline { reason } => next.decline(cx, reason.as_ref())?,
            QuoteCommand::Archive => {
                if next.status != QuoteStatus::Draft {
                    return Err(Refusal::transition("the quote cannot be deleted", next.status));
                }
                next.archived = true;
                ChangeOutput::default()
            }
            QuoteCommand::Sliced { source, news } => {
                next.hear_slicer(source, news);
                ChangeOutput::default()
            }
            QuoteCommand::RequestTold(status) => {
                next.request_told = Some(*status);
                ChangeOutput::default()
            }
            QuoteCommand::Ordered => {
                next.order_made |= next.order_id.is_some();
                ChangeOutput::default()
            }
            QuoteCommand::NotOrdered(words) => next.not_ordered(cx, words),
        };
        if next == *quote {
            return Ok(Decision::unchanged(Box::new(next)));
        }
        next.revision += i64::from(cx.by.is_person());
        next.updated_at = cx.now;
        let ChangeOutput { events, created, requirements } = along;
        let decision = Decision::to(next.clone(), Box::new(next));
        Ok(decision.events(events).created(created).requires(requirements))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            QuoteCommand::Create(_) => AuditedAct::QuoteCreate,
            QuoteCommand::Update { .. } => AuditedAct::QuoteUpdate,
            QuoteCommand::Send(_) => AuditedAct::QuoteSend,
            QuoteCommand::Accept => AuditedAct::QuoteAccept,
            QuoteCommand::Decline { .. } => AuditedAct::QuoteDecline,
            QuoteCommand::Archive => AuditedAct::QuoteDelete,
            QuoteCommand::Sliced { .. } => AuditedAct::QuoteSliced,
            QuoteCommand::RequestTold(_) => AuditedAct::QuoteRequestTold,
            QuoteCommand::Ordered => AuditedAct::QuoteOrdered,
            QuoteCommand::NotOrdered(_) => AuditedAct::QuoteNotOrdered,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            QuoteCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }
}

/// Returns the requested SKUs with the indexes of their lines.
fn wished_skus(wished: &super::DraftQuote) -> Vec<(usize, Id)> {
    let lines = wished.lines.iter().enumerate();
    lines.filter_map(|(at, line)| Some((at, line.sku_id?))).collect()
}

/// Requires that the given SKUs have not been deleted.
fn skus_named(named: &[(usize, Id)]) -> Vec<Requirement> {
    let required =
        |(at, sku): &(usize, Id)| Requirement::not_deleted(Referenced::Sku, *sku, format!("lines.{at}.skuId"));
    named.iter().map(required).collect()
}

impl Quote {
    /// Returns the report that the quote's custom request has not acknowledged yet, if any. Drafts are not reported.
    fn untold_request(&self) -> Option<QuoteEffect> {
        let untold = self.status != QuoteStatus::Draft && self.request_told != Some(self.status);
        let request = self.custom_request_id.filter(|_| untold)?;
        Some(QuoteEffect::TellRequest { request, status: self.status })
    }

    fn named_skus(&self) -> Vec<(usize, Id)> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(at, line)| Some((at, line.sku_id?))).collect()
    }

    /// Sends the draft: creates private SKUs for its models, freezes everything, and emails the customer.
    fn send(&mut self, cx: &DecisionContext<'_>, language: Language) -> Result<ChangeOutput, Refusal> {
        if self.status != QuoteStatus::Draft {
            return Err(Refusal::transition("the quote cannot be sent", self.status));
        }
        let mut faults = Faults::default();
        faults.check(self.customer_email.is_some(), "customerEmail", "is required to send the quote");
        let ahead = self.valid_until.is_none_or(|until| until > cx.now);
        faults.check(ahead, "validUntil", "must not be in the past");
        let printed = self.lines.iter().any(|line| line.printed);
        faults.check(printed, "lines", "must include a printed item; use an invoice for other items only");
        for (at, line) in self.lines.iter().enumerate() {
            let needs_material = line.model.as_ref().is_some_and(|model| model.material_id.is_none());
            let path = if needs_material { "materialId" } else { "skuId" };
            let makeable = !line.printed || line.sku_id.is_some() || (line.model.is_some() && !needs_material);
            let words = "is required to print the line; set printed: false for items that are not printed";
            faults.check(makeable, &format!("lines.{at}.{path}"), words);
        }
        self.reckon(cx, &mut faults);
        faults.refuse()?;
        let mut along = ChangeOutput { requirements: skus_named(&self.named_skus()), ..ChangeOutput::default() };
        for at in 0..self.lines.len() {
            let private_sku = self.lines.get(at).and_then(|line: &QuoteLine| line.private_sku(cx, self, at));
            let (Some((sku, relies)), Some(line)) = (private_sku, self.lines.get_mut(at)) else { continue };
            line.sku_id = Some(sku.id);
            along.requirements.extend(relies);
            along.created.push(QuoteCreation::Sku(Box::new(sku)));
        }
        self.status = QuoteStatus::Sent;
        self.sent_at = Some(cx.now);
        let days = cx.rules.pricing.valid_days.saturating_mul(DAY_MS);
        self.valid_until.get_or_insert(cx.now.plus_ms(days));
        along.events.push(self.event(cx, "quote.sent"));
        along.created.extend(self.mail(cx, language).map(|mail| QuoteCreation::Mail(Box::new(mail))));
        Ok(along)
    }

    /// Accepts the quote. The order ID is chosen and stored here, so that the order is created only once.
    fn accept(&mut self, cx: &DecisionContext<'_>) -> Result<ChangeOutput, Refusal> {
        match self.shown_status(cx.now) {
            QuoteStatus::Sent => {}
            QuoteStatus::Accepted => {
                // Asked again, it is tried again.
                self.order_error = None;
                return Ok(ChangeOutput::default());
            }
            QuoteStatus::Expired => return Err(expired()),
            QuoteStatus::Declined => return Err(Refusal::conflict(QUOTE_DECLINED, "the quote was declined")),
            QuoteStatus::Draft => return Err(Refusal::transition("the quote cannot be accepted", QuoteStatus::Draft)),
        }
        self.status = QuoteStatus::Accepted;
        self.answered_at = Some(cx.now);
        self.order_id = Some(cx.ids.id());
        if let Principal::Customer { id, .. } = cx.by {
            self.customer_id = Some(*id);
        }
        Ok(ChangeOutput { events: vec![self.event(cx, "quote.accepted")], ..ChangeOutput::default() })
    }

    /// Declines or withdraws the quote. Declining it again has no effect.
    fn decline(&mut self, cx: &DecisionContext<'_>, reason: Option<&String>) -> Result<ChangeOutput, Refusal> {
        match self.shown_status(cx.now) {
            QuoteStatus::Sent => {}
            QuoteStatus::Declined => return Ok(ChangeOutput::default()),
            QuoteStatus::Expired => return Err(expired()),
            status => return Err(Refusal::transition("the quote cannot be declined", status)),
        }
        self.status = QuoteStatus::Declined;
        self.answered_at = Some(cx.now);
        self.declined_reason = reason.map(|reason| shortened(reason.clone(), MAX_REASON_CHARS));
        Ok(ChangeOutput { events: vec![self.event(cx, "quote.declined")], ..ChangeOutput::default() })
    }

    /// Applies a slicing result to a draft; the prices of a sent quote are frozen.
    fn hear_slicer(&mut self, source: &SliceSource, news: &QuoteSlicingOutcome) {
        if self.status != QuoteStatus::Draft {
            return;
        }
        let before = self.clone();
        self.take_sliced(source, news);
        if !self.sum_up() {
            *self = before;
        }
    }

    fn not_ordered(&mut self, cx: &DecisionContext<'_>, words: &str) -> ChangeOutput {
        if self.status != QuoteStatus::Accepted || self.order_made || self.order_error.is_some() {
            return ChangeOutput::default();
        }
        self.order_error = Some(shortened(words.to_owned(), MAX_REASON_CHARS));
        let mails = Mail::alert(cx, AlertKind::Order, |language| {
            let number = self.number_text();
            let text = texts::not_ordered(language, &number, &one_line(words));
            (texts::not_ordered_subject(language, &number), text)
        });
        ChangeOutput {
            created: mails
                .into_iter()
                .map(|mail| QuoteCreation::Mail(Box::new(mail.about(MailTopic::Quote(self.id)))))
                .collect(),
            ..ChangeOutput::default()
        }
    }

    /// Builds the email that notifies the customer of the quote.
    fn mail(&self, cx: &DecisionContext<'_>, language: Language) -> Option<Mail> {
        let amount = |cents: i64| notation::amount(language, cents, &self.currency);
        let money = |label: String, cents: i64| MailFact::new(&label, amount(cents));
        let extra = [(mails::shipping(language), self.shipping_cents), (mails::tax(language), self.tax_cents)];
        let extra = extra.into_iter().filter(|(_, cents)| *cents != 0).map(|(label, cents)| money(label, cents));
        let item = |line: &QuoteLine| MailItem {
            quantity: line.quantity,
            what: line.description.clone(),
            amount: Some(amount(line.unit_price_cents.saturating_mul(i64::from(line.quantity)))),
        };
        let sent = QuoteSent {
            to: self.customer_email.clone()?,
            language,
            quote: self.id,
            number: self.number_text(),
            items: self.lines.iter().map(item).collect(),
            sums: extra.chain([money(mails::total(language), self.total_cents)]).collect(),
            valid_until: self.valid_until,
            message: self.notes.clone(),
        };
        Some(kind::quote_sent(cx, sent))
    }
}

fn expired() -> Refusal {
    Refusal::conflict(QUOTE_EXPIRED, "the quote has expired; request a new one")
}
