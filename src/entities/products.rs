//! Tables for the products that the shop sells, and for the files that they are printed from.

snapshots! {
    /// `skus`: snapshot rows of SKUs.
    skus = "skus" {
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
}

snapshots! {
    /// `files`: snapshot rows of uploaded files.
    files = "files" {
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
}
