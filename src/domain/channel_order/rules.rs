//! Dispatch of commands to their rules, and derivation of effects from the state.

use super::{ChannelOrder, ChannelOrderAnswer, ChannelOrderCommand, ChannelOrderEffect, TrackingState};
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::refusal::Refusal;
use words::staff::alerts as texts;

/// Maximum number of missing entries listed in a message.
const MAX_NAMED: usize = 20;

impl Aggregate for ChannelOrder {
    const KIND: &'static str = "channel_order";
    type Row = std::convert::Infallible;
    type Created = Mail;
    type Effect = ChannelOrderEffect;

    fn effects(&self) -> Vec<ChannelOrderEffect> {
        let mut effects = Vec::new();
        if self.making && !self.has_order {
            effects.push(ChannelOrderEffect::Make);
        } else if self.waits() {
            effects.push(ChannelOrderEffect::Resolve { changed_at: self.changed_at, retries: self.manual_retries });
        }
        if self.has_order && self.our_state != self.there {
            effects.push(ChannelOrderEffect::TellOrder(self.there));
        }
        // One after the other: a later shipment never overtakes an earlier one there.
        let next = self.trackings.iter().find(|one| one.state == TrackingState::Pending);
        effects.extend(next.map(|one| ChannelOrderEffect::TellShop {
            number: one.shipment.number,
            tries: one.tries,
            at: one.next_at,
        }));
        effects
    }

    fn at_rest(&self) -> bool {
        self.effects().is_empty()
    }
}

impl Command<ChannelOrder> for ChannelOrderCommand {
    type Answer = ChannelOrderAnswer;

    fn decide(
        &self,
        this: Option<&ChannelOrder>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<ChannelOrder, Self::Answer> {
        use ChannelOrderCommand as C;
        let mut order = match (this, self) {
            (Some(order), _) => order.clone(),
            (None, C::Hear { channel, news, .. }) => ChannelOrder::unheard(id, *channel, cx, news),
            (None, _) => return Err(Refusal::not_found(ChannelOrder::KIND)),
        };
        let mut mails = Vec::new();
        match self {
            C::Hear { customer, news, .. } => {
                order.hear(news);
                order.customer_id = order.customer_id.or(*customer);
                if order.content.is_none() {
                    mails = order.alert(cx);
                }
            }
            C::Unresolved { missing, problem } if order.waits() => {
                order.missing = missing.iter().take(MAX_NAMED).cloned().collect();
                order.problem.clone_from(problem);
                mails = order.alert(cx);
            }
            C::Resolved if order.waits() => {
                order.making = true;
                (order.missing, order.problem, order.refused) = (Vec::new(), None, false);
            }
            C::NotMade(words) if order.making && !order.has_order => {
                (order.making, order.refused, order.problem) = (false, true, Some(words.clone()));
                mails = order.alert(cx);
            }
            C::Made if order.making => order.has_order = true,
            C::Told { reported, refused } => {
                order.our_state = *reported;
                if let Some(words) = refused {
                    order.problem = Some(words.clone());
                    mails = Mail::alert(cx, AlertKind::Order, |language| {
                        let text = texts::conflict(language, &order.number, &order.order_id.to_string(), words);
                        (texts::conflict_subject(language, &order.number), text)
                    });
                }
            }
            C::Shipped(shipments) => order.ship(cx, shipments),
            C::Tracked { number, outcome } => mails = order.tracked(cx, *number, outcome),
            C::Retry => {
                if order.waits() {
                    order.manual_retries = order.manual_retries.saturating_add(1);
                    (order.problem, order.refused) = (None, false);
                }
                order.retry(cx);
            }
            // Heard too late: it is made already, or never will be.
            C::Unresolved { .. } | C::Resolved | C::NotMade(_) | C::Made => {}
        }
        if this == Some(&order) {
            return Ok(Decision::unchanged(ChannelOrderAnswer { order: Box::new(order) }));
        }
        order.updated_at = cx.now;
        let answer = ChannelOrderAnswer { order: Box::new(order.clone()) };
        Ok(Decision::to(order, answer).created(mails))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            ChannelOrderCommand::Hear { .. } => AuditedAct::ChannelOrderHear,
            ChannelOrderCommand::Unresolved { .. } => AuditedAct::ChannelOrderUnresolved,
            ChannelOrderCommand::Resolved => AuditedAct::ChannelOrderResolved,
            ChannelOrderCommand::Made => AuditedAct::ChannelOrderMade,
            ChannelOrderCommand::NotMade(_) => AuditedAct::ChannelOrderNotMade,
            ChannelOrderCommand::Told { .. } => AuditedAct::ChannelOrderTold,
            ChannelOrderCommand::Shipped(_) => AuditedAct::ChannelOrderShipped,
            ChannelOrderCommand::Tracked { .. } => AuditedAct::ChannelOrderTracked,
            ChannelOrderCommand::Retry => AuditedAct::ChannelOrderRetry,
        }
    }
}

impl ChannelOrder {
    /// Returns whether our order must be created and does not exist yet.
    fn waits(&self) -> bool {
        self.paid && !self.there.cancelled && !self.making && !self.has_order && self.content.is_some()
    }

    /// Alerts the operators once when the order is put on hold, and again if it is on hold after unreadable lines have
    /// become readable.
    fn alert(&mut self, cx: &DecisionContext<'_>) -> Vec<Mail> {
        if self.alerted || (self.missing.is_empty() && self.problem.is_none()) {
            return Vec::new();
        }
        self.alerted = true;
        Mail::alert(cx, AlertKind::Order, |language| {
            let missing = (!self.missing.is_empty()).then(|| self.missing.join(", "));
            let sentences = [
                Some(texts::held_sale(language)),
                missing.map(|names| texts::unmapped_variants(language, &names)),
                self.problem.as_ref().map(|words| format!("{words}.")),
            ];
            let text = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
            (texts::held_sale_subject(language, &self.number), text)
        })
    }
}
