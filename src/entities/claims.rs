//! `claims`: reservations and the queue of a material, rows of the material; the id is `job/number`.

use sea_orm::entity::prelude::*;

/// Row of the `claims` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "claims")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub job_id: String,
    pub material_id: String,
    pub order_id: String,
    pub state: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
