//! Queries for sales channels and their channel orders.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

use super::orders::json;
use super::{Page, Queries};
use crate::rows::{LoadError, word};
use domain::aggregate::Versioned;
use domain::channel_order::{ChannelOrder, ChannelOrderStatus};
use domain::id::Id;
use domain::sales_channel::SalesChannel;
use entities::{channel_orders, sales_channels};

/// Filter for channel orders; absent fields match all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelOrderFilter {
    /// Sales channel that the order came from.
    pub channel_id: Option<Id>,
    /// Status of the channel order.
    pub status: Option<ChannelOrderStatus>,
    /// `true` for channel orders that need an operator's attention.
    pub attention: Option<bool>,
    /// Order created from the channel order.
    pub order_id: Option<Id>,
}

impl Queries {
    /// Returns a page of the sales channels that are not deleted, without their variant maps, newest first, and their
    /// total number.
    pub async fn sales_channels(&self, page: Page) -> Result<(Vec<Versioned<SalesChannel>>, u64), LoadError> {
        use sales_channels::Column as C;
        let select = sales_channels::Entity::find().filter(C::Archived.eq(false));
        self.snapshots(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns a page of channel orders, newest first, and their total number.
    pub async fn channel_orders(
        &self,
        filter: &ChannelOrderFilter,
        page: Page,
    ) -> Result<(Vec<Versioned<ChannelOrder>>, u64), LoadError> {
        use channel_orders::Column as C;
        let status = filter.status.as_ref().map(word).transpose().map_err(json)?;
        let select = channel_orders::Entity::find()
            .apply_if(filter.channel_id, |all, id| all.filter(C::ChannelId.eq(id.to_string())))
            .apply_if(status, |all, status| all.filter(C::Status.eq(status)))
            .apply_if(filter.attention, |all, attention| all.filter(C::Attention.eq(attention)))
            .apply_if(filter.order_id, |all, id| all.filter(C::OrderId.eq(id.to_string())));
        self.snapshots(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }
}
