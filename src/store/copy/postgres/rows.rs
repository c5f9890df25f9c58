//! Counts the rows per table in a copy, from the output of `pg_restore`. In that output, a table starts with a line
//! containing its name and ends with an end marker; each line in between is one row.

use std::collections::BTreeMap;

/// Maximum number of bytes buffered per line: enough for the table name in the line that starts a table.
const MAX_KEPT_LINE_BYTES: usize = 512;
/// Line after the last row of a table. No row can be identical to it, because backslashes in rows are doubled.
const END_LINE: &[u8] = b"\\.\n";

/// Number of rows counted so far in each table.
#[derive(Debug, Default)]
pub(super) struct CopiedRows {
    /// Schema of the tables to count.
    schema: String,
    /// Beginning of the current line.
    line: Vec<u8>,
    /// Table whose rows are currently being read, and the number of rows read so far.
    present: Option<(String, u64)>,
    tables: BTreeMap<String, u64>,
}

impl CopiedRows {
    /// Creates an empty count for the tables in the given schema.
    pub(super) fn of_schema(schema: String) -> Self {
        Self { schema, ..Self::default() }
    }

    /// Returns the number of rows in the given table.
    pub(super) fn of(&self, table: &str) -> u64 {
        self.tables.get(table).copied().unwrap_or_default()
    }

    /// Processes the next chunk of output, which may end in the middle of a line.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_KEPT_LINE_BYTES - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        match &mut self.present {
            Some((_, count)) if self.line != END_LINE => *count += 1,
            Some(_) => {
                if let Some((table, count)) = self.present.take() {
                    self.tables.insert(table, count);
                }
            }
            None => self.present = table_of(&self.line).map(|table| (self.named(&table), 0)),
        }
        self.line.clear();
    }

    /// Returns the unqualified name for a table in the counted schema. For any other schema, returns the qualified
    /// name, which no table in the counted schema has.
    fn named(&self, table: &str) -> String {
        match table.split_once('.') {
            Some((schema, name)) if schema.trim_matches('"') == self.schema => name.trim_matches('"').to_owned(),
            _ => table.to_owned(),
        }
    }
}

/// Returns the qualified name of the table whose rows follow the given line; `None` if no rows follow.
fn table_of(line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line);
    Some(line.strip_prefix("COPY ")?.split(" (").next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "--\n-- Data\n--\n\nSET x = 1;\n\nCOPY public.orders (id, doc) FROM stdin;\n1\ta\n2\tCOPY public.x (\n\\.\n\n\n\
        COPY public.\"Jobs\" (id) FROM stdin;\n\\.\nCOPY other.orders (id) FROM stdin;\n7\n\\.\n";

    #[test]
    fn rows_are_counted_wherever_the_text_is_cut() {
        for size in [1, 3, 1000] {
            let mut rows = CopiedRows::of_schema("public".to_owned());
            PRINTED.as_bytes().chunks(size).for_each(|bytes| rows.take(bytes));
            let actual: Vec<(&str, u64)> = rows.tables.iter().map(|(name, count)| (name.as_str(), *count)).collect();
            assert_eq!(actual, [("Jobs", 0), ("orders", 2), ("other.orders", 1)], "{size}");
        }
    }

    #[test]
    fn long_rows_take_no_memory() {
        let mut rows = CopiedRows::of_schema("public".to_owned());
        rows.take(b"COPY public.files (id) FROM stdin;\n");
        for _ in 0..100 {
            rows.take(&[b'x'; 10_000]);
        }
        rows.take(b"\n\\.\n");
        assert_eq!(rows.of("files"), 1);
        assert!(rows.line.capacity() <= 2 * MAX_KEPT_LINE_BYTES);
    }
}
