//! Text tables in which each column is as wide as its widest cell.

/// Formats a table with a header line; returns an empty string if there are no rows.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head: Vec<String> = head.iter().map(|word| (*word).to_owned()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &&Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let rows =
            [vec!["a".to_owned(), "long name".to_owned(), "x".to_owned()], vec!["bcd".to_owned(), String::new()]];
        assert_eq!(table(&["id", "name", "role"], &rows), "id   name       role\na    long name  x\nbcd\n");
        assert_eq!(table(&["id"], &[]), "");
    }
}
