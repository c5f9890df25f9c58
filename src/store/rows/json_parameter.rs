//! Parameters of statements that are JSON arrays: one statement takes any number of keys or rows, so that its text is
//! always the same and is prepared once.

use sea_orm::DbBackend;

/// Returns the condition that a column has one of the keys in a parameter, which is an array of texts. They are looked
/// up in the column's index.
pub(super) fn has_key(backend: DbBackend, column: &str, parameter: usize) -> String {
    if backend == DbBackend::Postgres {
        format!("{column} = ANY(ARRAY(SELECT json_array_elements_text(CAST(${parameter} AS json))))")
    } else {
        format!("{column} IN (SELECT value FROM json_each(${parameter}))")
    }
}

/// Returns the source of the rows in a parameter, which is an array of arrays. Their members are those of
/// [`json_text`] and [`json_number`].
pub(crate) fn json_rows(backend: DbBackend, parameter: usize) -> String {
    if backend == DbBackend::Postgres {
        format!("json_array_elements(CAST(${parameter} AS json)) AS line (value)")
    } else {
        format!("json_each(${parameter}) AS line")
    }
}

/// Returns the text at a place of a row in a parameter.
pub(super) fn json_text(backend: DbBackend, place: usize) -> String {
    if backend == DbBackend::Postgres {
        format!("(line.value->>{place})")
    } else {
        format!("json_extract(line.value, '$[{place}]')")
    }
}

/// Returns the number at a place of a row in a parameter.
pub(crate) fn json_number(backend: DbBackend, place: usize) -> String {
    if backend == DbBackend::Postgres {
        format!("CAST(line.value->>{place} AS BIGINT)")
    } else {
        json_text(backend, place)
    }
}
