//! Rules for the invoice aggregate: dispatch of each command.

use super::change::InvoiceChange;
use super::{Invoice, InvoiceAnswer, InvoiceCommand, InvoiceRow, InvoiceStatus, LedgerCommand, LedgerEffect};
use crate::aggregate::{Aggregate, Command, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::ledger::{self, LedgerOwner as _, books, flag_money};
use crate::mail::Mail;
use crate::refusal::Refusal;
use crate::seller::{SELLER_INCOMPLETE, gaps_in_words};

impl Aggregate for Invoice {
    const KIND: &'static str = "invoice";
    type Row = InvoiceRow;
    type Created = Mail;
    type Effect = LedgerEffect;

    fn revision(&self) -> Option<i64> {
        Some(self.revision)
    }

    /// Returns the effects of the invoice's own ledger; an order's invoice has none, because its payments belong to the
    /// order.
    fn effects(&self) -> Vec<LedgerEffect> {
        if self.order_id.is_some() { Vec::new() } else { self.ledger.effects(&self.terms()) }
    }

    fn at_rest(&self) -> bool {
        self.effects().is_empty()
    }
}

impl Command<Invoice> for InvoiceCommand {
    type Answer = InvoiceAnswer;

    fn decide(
        &self,
        this: Option<&Invoice>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Invoice, Self::Answer> {
        let invoice = match (this, self) {
            (None, InvoiceCommand::Create(draft)) => {
                return Ok(InvoiceChange::of(cx, Invoice::draft(cx, id, draft)?).done(None));
            }
            (None, InvoiceCommand::Charge(period)) => {
                return Ok(InvoiceChange::charged(cx, id, period)?.done(None));
            }
            (None, _) => return Err(Refusal::not_found(Invoice::KIND)),
            (Some(invoice), _) => invoice,
        };
        let mut change = InvoiceChange::of(cx, invoice.clone());
        match self {
            InvoiceCommand::Create(_) => return Err(Refusal::conflict("exists", "this invoice already exists")),
            // Its id is made from the processor's: it was told of again.
            InvoiceCommand::Charge(_) => {}
            InvoiceCommand::Update { if_version: _, draft } => change.invoice.redraft(cx, draft)?,
            InvoiceCommand::Send => change.send()?,
            InvoiceCommand::Void => change.void()?,
            InvoiceCommand::MarkPaid { amount_cents, method, reference } => {
                change.mark_paid(*amount_cents, method, reference.as_ref())?;
            }
            InvoiceCommand::Refund { payment, amount_cents, at_processor } => {
                change.refund(*payment, *amount_cents, *at_processor)?;
            }
            InvoiceCommand::RefundOtherwise { payment, amount_cents, method } => {
                change.refund_otherwise(*payment, *amount_cents, method)?;
            }
            InvoiceCommand::Ledger(command) => {
                change.own_money()?;
                change.edit_ledger(|on| ledger::apply(on, command))?;
            }
            InvoiceCommand::OpenPayLink { expires_at } => change.open_pay_link(*expires_at)?,
            InvoiceCommand::ClosePayLink => change.close_pay_link(),
            InvoiceCommand::Follow(money) => {
                let settled = change.invoice.follow(cx, money);
                change.settled(settled);
            }
        }
        Ok(change.done(Some(invoice)))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            InvoiceCommand::Create(_) => AuditedAct::InvoiceCreate,
            InvoiceCommand::Update { .. } => AuditedAct::InvoiceUpdate,
            InvoiceCommand::Send => AuditedAct::InvoiceSend,
            InvoiceCommand::Void => AuditedAct::InvoiceVoid,
            InvoiceCommand::MarkPaid { .. } => AuditedAct::InvoiceMarkPaid,
            InvoiceCommand::Refund { .. } => AuditedAct::InvoiceRefund,
            InvoiceCommand::RefundOtherwise { .. } => AuditedAct::InvoiceRefundOtherwise,
            InvoiceCommand::Ledger(LedgerCommand::CheckOut { .. }) => AuditedAct::InvoiceCheckOut,
            InvoiceCommand::Ledger(LedgerCommand::CheckoutMade { .. }) => AuditedAct::InvoiceCheckoutMade,
            InvoiceCommand::Ledger(LedgerCommand::SessionClosed(_)) => AuditedAct::InvoiceSessionClosed,
            InvoiceCommand::Ledger(LedgerCommand::RefundNews { .. }) => AuditedAct::InvoiceRefundNews,
            InvoiceCommand::Ledger(LedgerCommand::RefundsRead { .. }) => AuditedAct::InvoiceRefundsRead,
            InvoiceCommand::Ledger(LedgerCommand::Payment(_)) => AuditedAct::InvoicePayment,
            InvoiceCommand::Ledger(LedgerCommand::Recount) => AuditedAct::InvoiceRecount,
            InvoiceCommand::Charge(_) => AuditedAct::InvoiceCharge,
            InvoiceCommand::OpenPayLink { .. } => AuditedAct::InvoiceOpenPayLink,
            InvoiceCommand::ClosePayLink => AuditedAct::InvoiceClosePayLink,
            InvoiceCommand::Follow(_) => AuditedAct::InvoiceFollow,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            InvoiceCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }
}

impl InvoiceChange<'_> {
    pub(super) fn send(&mut self) -> Result<(), Refusal> {
        let (cx, invoice) = (self.cx, &mut self.invoice);
        if invoice.status != InvoiceStatus::Draft {
            return Err(Refusal::transition("the invoice cannot be issued", invoice.status));
        }
        let taxed = invoice.content.sums.categories.iter().any(|one| one.rate_bps > 0);
        let gaps = cx.rules.invoices.seller_gaps(taxed);
        if !gaps.is_empty() {
            return Err(Refusal::conflict(SELLER_INCOMPLETE, gaps_in_words(&gaps)));
        }
        let received = books(&invoice.ledger, &invoice.terms()).received;
        let row = invoice.issue(cx, received);
        let issued = invoice.event(cx, "invoice.issued");
        let total = invoice.content.sums.payable_cents();
        self.settled((vec![row], vec![issued]));
        // What costs nothing is paid; so is what the processor took for it before.
        if total == 0 || received > 0 {
            self.follow_ledger((received >= total).then_some(cx.now));
        }
        Ok(())
    }

    fn void(&mut self) -> Result<(), Refusal> {
        let (cx, invoice) = (self.cx, &mut self.invoice);
        match invoice.status {
            InvoiceStatus::Draft => {
                invoice.status = InvoiceStatus::Void;
                let voided = invoice.event(cx, "invoice.voided");
                self.settled((Vec::new(), vec![voided]));
            }
            InvoiceStatus::Open if invoice.ledger.kept_cents <= 0 => {
                let (row, event) = invoice.take_back(cx);
                let noted = row.is_some().then(|| invoice.event(cx, "credit_note.issued"));
                self.settled((row.into_iter().collect(), [event].into_iter().chain(noted).collect()));
            }
            InvoiceStatus::PartiallyPaid => {
                let words = "the invoice has payments; refund them first";
                return Err(Refusal::conflict("invoice_has_payments", words));
            }
            status => return Err(Refusal::transition("the invoice cannot be voided", status)),
        }
        self.edit_ledger(flag_money);
        Ok(())
    }
}
