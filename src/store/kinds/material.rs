//! Storage for materials, with separate rows for claims, links to external systems and ledger movements. The ledger
//! only grows, and is not loaded.

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, DbErr};

use crate::load::{Load, LoadedAggregate, SnapshotsToLoad};
use crate::rows::{RowSink, StoredRow, WriteError, part_row, snapshot_row, word};
use domain::material::{Claim, Material, MaterialRow, Movement};
use domain::parts_sync::StockLink;
use entities::materials;

snapshot_row!(Material in materials, |this, at_rest| {
    name: this.fields.name.clone(),
    kind: word(&this.fields.kind)?,
    active: !at_rest,
    archived: this.archived,
    quantity: this.quantity.0,
    reserved: this.reserved.0,
    created_at: this.created_at.0,
    unit_cost: this.fields.unit_cost_cents.map(|cost| cost.0),
});
part_row!(Movement in movements of material_id, |this| {
    kind: word(&this.kind)?,
    delta_quantity: this.delta_quantity.0,
    delta_reserved: this.delta_reserved.0,
    created_at: this.created_at.0,
});
part_row!(Claim in claims of material_id, |this| {
    job_id: this.id.job.to_string(),
    order_id: this.order_id.to_string(),
    state: word(&this.state)?,
});
part_row!(StockLink in stock_links of material_id unique [system entry], |this| {
    system: word(&this.system)?,
    entry: this.entry,
    created_at: this.created_at.0,
});

impl StoredRow for MaterialRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Movement(movement) => to.insert(movement),
            Self::Claim(claim) => to.replace(claim),
            Self::ClaimGone(id) => {
                to.delete::<Claim>(id);
                Ok(())
            }
            Self::Link(link) => to.replace(&**link),
            Self::LinkGone(id) => {
                to.delete::<StockLink>(id);
                Ok(())
            }
        }
    }
}

impl Load for Material {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(materials::Column::Active.eq(true)))
    }

    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut claims = loading.parts::<Claim>().await?;
        let mut links = loading.parts::<StockLink>().await?;
        Ok(loading.complete(|id, material| Ok(material.hydrate(claims.take(id)?, links.take(id)?))))
    }
}
