//! Storage for orders sold by external shops: only a snapshot row.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::{snapshot_row, word};
use domain::channel_order::ChannelOrder;
use entities::channel_orders;

snapshot_row!(ChannelOrder in channel_orders, |this, at_rest| {
    channel_id: this.channel_id.to_string(),
    number: this.number.clone(),
    status: word(&this.status())?,
    attention: this.needs_attention(),
    active: !at_rest,
    order_id: this.order_id.to_string(),
    created_at: this.created_at.0,
});

impl Load for ChannelOrder {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(channel_orders::Column::Active.eq(true)))
    }
}
