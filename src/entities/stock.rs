//! Tables for materials and their reservations, and for the links to external stock systems.

/// `materials`: snapshot rows of materials; amounts are in thousandths of the material's unit.
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

/// `claims`: reservations of a material and the queue for it, as rows of the material; the ID is `job/number`.
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

/// `movements`: ledger movements, as rows of the material; amounts are in thousandths of the material's unit.
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

/// `stock_links`: links between materials and items in external systems, as rows of the material.
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
