//! Storage for sales channels, with separate rows for the entries in their variant maps.

use std::sync::Arc;

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, DbErr};

use crate::load::{Load, LoadedAggregate, SnapshotsToLoad};
use crate::rows::{RowSink, StoredRow, WriteError, part_row, snapshot_row};
use domain::sales_channel::{SalesChannel, SalesChannelRow, Variant};
use entities::sales_channels;

snapshot_row!(SalesChannel in sales_channels, |this, at_rest| {
    name: this.name.clone(),
    kind: this.kind.clone(),
    archived: this.archived,
    created_at: this.created_at.0,
});
part_row!(Variant in sales_channel_variants of channel_id unique [channel_id variant], |this| {
    variant: this.variant.clone(),
    sku_id: this.sku_id.to_string(),
});

impl StoredRow for SalesChannelRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Variant(variant) => to.replace(&**variant),
            Self::VariantGone(id) => {
                to.delete::<Variant>(id);
                Ok(())
            }
        }
    }
}

impl Load for SalesChannel {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(sales_channels::Column::Archived.eq(false)))
    }

    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut variants = loading.parts::<Variant>().await?;
        Ok(loading.complete(|id, mut channel| {
            for variant in variants.take(id)? {
                channel.variants.insert_mut(variant.variant.clone(), Arc::new(variant));
            }
            Ok(channel)
        }))
    }
}
