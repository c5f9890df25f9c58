//! Storage for payment events that have not been matched to an order yet: only a snapshot row.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::snapshot_row;
use domain::kept_payment_event::KeptPaymentEvent;
use entities::inbound;

snapshot_row!(KeptPaymentEvent in inbound unique event_id, |this, at_rest| {
    event_id: this.event_id.clone(),
    done: this.done,
    next_at: this.next_at.0,
    created_at: this.created_at.0,
});

impl Load for KeptPaymentEvent {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(inbound::Column::Done.eq(false)))
    }
}
