//! Tables of materials, their reservations, and the stock systems they are linked to.

/// `materials`: snapshot rows of materials; amounts in thousandths of their unit.
pub mod materials {
    use sea_orm::entity::prelude::*;

    /// Row of the `materials` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "materials")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub name: String,
        pub kind: String,
        pub active: bool,
        pub archived: bool,
        pub quantity: i64,
        pub reserved: i64,
        pub created_at: i64,
        pub unit_cost: Option<i64>,
    }

    entity_tail!();
}

/// `claims`: reservations and the queue of a material, rows of the material; the id is `job/number`.
pub mod claims {
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

    entity_tail!();
}

/// `movements`: the ledger of a material; amounts in thousandths of its unit.
pub mod movements {
    use sea_orm::entity::prelude::*;

    /// Row of the `movements` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "movements")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub material_id: String,
        pub kind: String,
        pub delta_quantity: i64,
        pub delta_reserved: i64,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `stock_links`: links from materials to items in other systems, rows of the material.
pub mod stock_links {
    use sea_orm::entity::prelude::*;

    /// Row of the `stock_links` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "stock_links")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub material_id: String,
        pub system: String,
        pub entry: i64,
        pub created_at: i64,
    }

    entity_tail!();
}
