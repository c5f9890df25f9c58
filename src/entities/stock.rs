//! Tables for materials and their reservations, and for the links to external stock systems.

snapshots! {
    /// `materials`: snapshot rows of materials; amounts are in thousandths of the material's unit.
    materials = "materials" {
        pub name: String,
        pub kind: String,
        pub active: bool,
        pub archived: bool,
        pub quantity: i64,
        pub reserved: i64,
        pub created_at: i64,
        pub unit_cost: Option<i64>,
    }
}

rows! {
    /// `claims`: reservations of a material and the queue for it, as rows of the material; the ID is `job/number`.
    claims = "claims" {
        pub job_id: String,
        pub material_id: String,
        pub order_id: String,
        pub state: String,
    }
}

rows! {
    /// `movements`: ledger movements, as rows of the material; amounts are in thousandths of the material's unit.
    movements = "movements" {
        pub material_id: String,
        pub kind: String,
        pub delta_quantity: i64,
        pub delta_reserved: i64,
        pub created_at: i64,
    }
}

rows! {
    /// `stock_links`: links between materials and items in external systems, as rows of the material.
    stock_links = "stock_links" {
        pub material_id: String,
        pub system: String,
        pub entry: i64,
        pub created_at: i64,
    }
}
