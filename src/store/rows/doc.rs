//! Documents: a domain value as JSON in the column `doc`, with a schema number so that old ones stay readable.

use sea_orm::ModelTrait;
use serde::de::DeserializeOwned;

use crate::domain::id::Id;
use crate::entities::{
    access, api_keys, attempts, claims, deliveries, endpoints, files, inbound, jobs, mails, materials, movements,
    orders, payments, printers, skus, staff_sessions, users,
};
use crate::store::rows::Damaged;

/// The schema number that documents are written with.
pub const SCHEMA: i64 = 1;

/// A row with a document.
pub trait Doc: ModelTrait {
    /// As it is called in the database.
    const TABLE: &'static str;
    /// Its primary key.
    fn key(&self) -> &str;
    /// Schema number and document.
    fn doc(&self) -> (i64, &str);
    /// Parses the document.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Damaged> {
        let (schema, doc) = self.doc();
        read_doc(schema, doc).map_err(|reason| Damaged {
            table: Self::TABLE,
            id: self.key().to_owned(),
            schema,
            reason,
        })
    }
}

/// The snapshot row of an aggregate.
pub trait SnapshotModel: Doc {
    /// Number of commits of the aggregate.
    fn version(&self) -> i64;
    /// The value besides the id that no two rows share, as far as the table has one: its constraint as `table.column`,
    /// and the value.
    fn unique(&self) -> Option<(&'static str, String)> {
        None
    }
    /// Id of the aggregate.
    fn id(&self) -> Result<Id, Damaged> {
        self.key().parse().map_err(|_| Damaged {
            table: Self::TABLE,
            id: self.key().to_owned(),
            schema: self.doc().0,
            reason: "the id is not a UUID".to_owned(),
        })
    }
}

/// Parses a document of any schema number so far. A change of a type that serde's defaults cannot bridge raises
/// [`SCHEMA`], and the conversion of older documents goes here.
pub fn read_doc<T: DeserializeOwned>(schema: i64, doc: &str) -> Result<T, String> {
    match schema {
        SCHEMA => serde_json::from_str(doc).map_err(|error| error.to_string()),
        _ => Err(format!("this release reads schema numbers up to {SCHEMA}")),
    }
}

macro_rules! docs {
    ($($table:ident)*) => { $(
        impl Doc for $table::Model {
            const TABLE: &'static str = stringify!($table);
            fn key(&self) -> &str {
                &self.id
            }
            fn doc(&self) -> (i64, &str) {
                (self.schema, &self.doc)
            }
        }
    )* };
}
macro_rules! snapshots {
    ($($table:ident $(unique $column:ident)?,)*) => {
        docs!($($table)*);
        $( impl SnapshotModel for $table::Model {
            fn version(&self) -> i64 {
                self.version
            }
            $(fn unique(&self) -> Option<(&'static str, String)> {
                Some((concat!(stringify!($table), ".", stringify!($column)), self.$column.to_string()))
            })?
        } )*
    };
}

snapshots! {
    orders unique number,
    materials,
    skus unique code,
    files,
    printers,
    endpoints,
    mails,
    inbound unique event_id,
    access,
}
docs!(jobs attempts payments movements claims deliveries users api_keys staff_sessions);
