//! Merging of the other shop's messages about an order, which may arrive late, repeatedly and in any order.

use super::{ChannelOrder, ShopOrderUpdate, ShopState};
use crate::aggregate::DecisionContext;
use crate::id::Id;
use crate::time::Timestamp;

impl ChannelOrder {
    /// Creates a channel order that has no content yet.
    pub(super) fn unheard(id: Id, channel: Id, cx: &DecisionContext<'_>, news: &ShopOrderUpdate) -> Self {
        Self {
            id,
            channel_id: channel,
            external_id: news.external_id.clone(),
            number: news.number.clone(),
            changed_at: Timestamp(0),
            paid: false,
            there: ShopState::default(),
            customer_id: None,
            content: None,
            order_id: cx.ids.id(),
            making: false,
            has_order: false,
            our_state: ShopState::default(),
            missing: Vec::new(),
            problem: None,
            refused: false,
            manual_retries: 0,
            alerted: false,
            trackings: Vec::new(),
            created_at: cx.now,
            updated_at: cx.now,
        }
    }

    /// Merges a message. The content with the latest change time wins, until our order is being created; paid,
    /// cancelled and refunded stay set regardless of the order in which messages arrive.
    pub(super) fn hear(&mut self, news: &ShopOrderUpdate) {
        self.paid |= news.paid;
        self.there.cancelled |= news.cancelled;
        self.there.refunded_cents = self.there.refunded_cents.max(news.refunded_cents);
        let later = self.content.is_none() || news.changed_at > self.changed_at;
        if let Some(content) = news.content.as_ref().filter(|_| later && !self.making) {
            // What the operators were mailed before was that it cannot be read: what is wrong now is told by itself.
            self.alerted &= self.content.is_some();
            self.content = Some(content.clone());
            self.number.clone_from(&news.number);
            self.changed_at = news.changed_at;
            self.missing.clear();
            (self.problem, self.refused) = (None, false);
        }
        // Somebody paid for it, so it is not left to the shop's log.
        let waits = self.paid && self.content.is_none() && !self.there.cancelled;
        if let Some(words) = news.unreadable.as_ref().filter(|_| waits) {
            self.problem = Some(format!("the sold items cannot be read: {words}"));
        }
    }
}
