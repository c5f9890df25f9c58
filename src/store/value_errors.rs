//! Database errors that concern a value, not the connection.

use sea_orm::{DbErr, RuntimeErr};

/// Returns whether an error is caused by a value rather than the connection: text that the database cannot store (NUL
/// on PostgreSQL), a number out of range, or a value too large for an index.
pub(crate) fn refuses_value(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(inner)) | DbErr::Query(RuntimeErr::SqlxError(inner))) = error else {
        return false;
    };
    let code = inner.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // PostgreSQL: data exceptions, violated constraints (unique ones are told apart before), program limits. SQLite:
    // a value that is too big, of the wrong type, or against a constraint.
    code.is_some_and(|code| {
        let postgres = code.len() == 5 && ["22", "23", "54"].iter().any(|class| code.starts_with(class));
        postgres || matches!(&*code, "18" | "20" | "1299" | "275")
    })
}
