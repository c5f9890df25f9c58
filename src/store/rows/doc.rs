//! Documents: domain values as JSON in the `doc` column, with a schema number so that old documents remain readable.

use sea_orm::ModelTrait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::rows::DamagedRow;
use domain::id::Id;

/// Schema number of newly written documents.
pub const SCHEMA_NUMBER: i64 = 1;

/// Unique value: the constraint in the form `table.column,column`, and the value itself.
pub type Unique = (&'static str, String);

/// Row with a document.
pub trait Doc: ModelTrait {
    /// Name of the table in the database.
    const TABLE: &'static str;
    /// Returns the row's primary key, by which [`DamagedRow`] identifies it.
    fn key(&self) -> &str;
    /// Returns the schema number and the document.
    fn doc(&self) -> (i64, &str);
    /// Parses the document; fails with [`DamagedRow`] if this release cannot parse it.
    fn read<T: DeserializeOwned>(&self) -> Result<T, DamagedRow> {
        let (schema, doc) = self.doc();
        read_doc(schema, doc).map_err(|reason| DamagedRow {
            table: Self::TABLE,
            id: self.key().to_owned(),
            schema,
            reason,
        })
    }
}

/// Parses a document with any schema number used so far. If a type is changed in a way that serde's defaults cannot
/// handle, [`SCHEMA_NUMBER`] must be incremented, and the conversion of older documents added to this function.
pub fn read_doc<T: DeserializeOwned>(schema: i64, doc: &str) -> Result<T, String> {
    match schema {
        SCHEMA_NUMBER => serde_json::from_str(doc).map_err(|error| error.to_string()),
        _ => Err(format!("this version supports schema numbers up to {SCHEMA_NUMBER}")),
    }
}

/// Returns an enum variant's serde name, as stored in columns.
pub fn word(value: &impl Serialize) -> Result<String, serde_json::Error> {
    match serde_json::to_value(value)? {
        Value::String(word) => Ok(word),
        other => Ok(other.to_string()),
    }
}

/// Returns an ID as text, as stored in columns.
pub fn text(id: Option<Id>) -> Option<String> {
    id.map(|id| id.to_string())
}

/// Implements `Doc` for a table's rows; used by `snapshot_row!` and `part_row!`.
macro_rules! doc_row {
    ($table:ident) => {
        impl $crate::rows::Doc for entities::$table::Model {
            const TABLE: &'static str = stringify!($table);
            fn key(&self) -> &str {
                &self.id
            }
            fn doc(&self) -> (i64, &str) {
                (self.schema, &self.doc)
            }
        }
    };
}
pub(crate) use doc_row;
