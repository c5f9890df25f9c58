//! Tables for the products that the shop sells, and for the files that they are printed from.

/// `skus`: snapshot rows of SKUs.
pub mod skus {
    use sea_orm::entity::prelude::*;

    /// Row of the `skus` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "skus")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub code: String,
        pub slug: String,
        pub name: String,
        pub material_id: String,
        pub gcode_file_id: Option<String>,
        pub model_file_id: Option<String>,
        pub public: bool,
        pub active: bool,
        pub archived: bool,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `files`: snapshot rows of uploaded files.
pub mod files {
    use sea_orm::entity::prelude::*;

    /// Row of the `files` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "files")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub name: String,
        pub kind: String,
        pub sha256: String,
        pub attempt_id: Option<String>,
        pub size: i64,
        pub from_customer: bool,
        pub custom_request_id: Option<String>,
        pub archived: bool,
        pub created_at: i64,
        pub model_file_id: Option<String>,
    }

    entity_tail!();
}
