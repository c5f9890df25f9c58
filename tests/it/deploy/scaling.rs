//! Figures in `docs/SCALING.md`: all of them were measured.

use super::text_of;

#[test]
fn figures_of_one_server_stand_in_the_measurements() {
    let (scaling, measured) = (text_of("docs/SCALING.md"), text_of("docs/PERFORMANCE.md"));
    let (_, table) = scaling.split_once("| measured | figure |\n|---|---|\n").expect("a table");
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [name, figure] = cells[..] else { panic!("{row}") };
        let row_of_both = |line: &&str| line.starts_with(&format!("| {name}")) && line.contains(figure);
        assert!(measured.lines().any(|line| row_of_both(&line)), "{name}: {figure}");
    }
}
