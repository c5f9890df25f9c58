//! Claims of docs/SECURITY.md about files of the repository: figures in its tables are the defaults of the settings,
//! the libraries of its algorithms are linked, and no crate has unsafe code.

use std::path::Path;

use super::documents::read;
use super::security::DOCUMENT;

/// Units of figures, with their number of bytes, hours or days.
const UNITS: [(&str, u64); 4] = [("MiB", 1 << 20), ("GiB", 1 << 30), ("hours", 1), ("days", 1)];

/// Reads a file of the repository.
fn file(path: &str) -> String {
    read(Path::new(env!("CARGO_MANIFEST_DIR")), path)
}

/// Returns the number that is the default of a setting (`section.key`); `None` if there is no such setting.
fn default_number(settings: &str, name: &str) -> Option<u64> {
    let (section, key) = name.split_once('.')?;
    let (_, rest) = settings.split_once(&format!("\n[{section}]\n"))?;
    let mut lines = rest.lines().take_while(|line| !line.starts_with('['));
    let default = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    default.replace('_', "").parse().ok()
}

/// Returns the figures that a document gives for settings, such as 12 hours (`auth.session_idle_timeout_hours`): the
/// number in the unit of the setting, and the setting.
fn figures(document: &str) -> Vec<(u64, &str)> {
    let figure = |(at, _): (usize, &str)| {
        let (before, behind) = (document.get(..at)?, document.get(at + 3..)?);
        let (name, _) = behind.split_once("`)")?;
        let is_setting = name.contains('.') && name.chars().all(|c| c.is_ascii_lowercase() || "._".contains(c));
        let mut words = before.rsplit(' ');
        let (unit, number) = (words.next()?, words.next()?);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let number: u64 = number.parse().ok()?;
        is_setting.then_some((number * factor, name))
    };
    document.match_indices(" (`").filter_map(figure).collect()
}

/// Lists the figures of a document that are not the defaults of their settings.
fn wrong_figures(document: &str, settings: &str) -> Vec<String> {
    let right = |(number, name): &(u64, &str)| default_number(settings, name) == Some(*number);
    let wrong = figures(document).into_iter().filter(|figure| !right(figure));
    wrong.map(|(number, name)| format!("{name} is not {number}")).collect()
}

#[test]
fn figures_of_the_tables_are_the_defaults_of_their_settings() {
    let document = file(DOCUMENT);
    assert_eq!(wrong_figures(&document, &file("config.toml")), Vec::<String>::new());
    assert!(figures(&document).len() >= 5, "{:?}", figures(&document));
}

#[test]
fn a_figure_that_is_not_the_default_is_found() {
    let settings = "# A.\n\n[a]\n# B.\nb_bytes = 1_048_576\nb = 2\n\n[c]\nb_hours = 12\n";
    let good = "| 1 MiB (`a.b_bytes`) | 12 hours (`c.b_hours`), ten of 15 MiB (`src/a.rs`), versioned (`v1:`) |";
    assert_eq!(wrong_figures(good, settings), Vec::<String>::new());
    assert_eq!(figures(good).len(), 2);
    let bad = "1 GiB (`a.b_bytes`) 7 days (`a.b_hours`)";
    assert_eq!(wrong_figures(bad, settings), ["a.b_bytes is not 1073741824", "a.b_hours is not 7"]);
}

/// Returns the libraries in the last column of the document's table of algorithms.
fn libraries_of_algorithms(document: &str) -> Vec<&str> {
    let table = document.split_once("\n| use | algorithm | library |\n").map_or("", |(_, table)| table);
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(1);
    let last = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit_once("| "));
    last.flat_map(|(_, names)| names.split([',', ' ']).filter(|word| !["", "with"].contains(word))).collect()
}

#[test]
fn the_libraries_of_the_algorithms_are_linked() {
    let (document, lock) = (file(DOCUMENT), file("Cargo.lock"));
    let libraries = libraries_of_algorithms(&document);
    assert!(libraries.len() > 8, "{libraries:?}");
    for library in libraries {
        assert!(lock.contains(&format!("\nname = \"{library}\"\n")), "{library} is not in Cargo.lock");
    }
    let table = "A\n| use | algorithm | library |\n|---|---|---|\n| a | B (C 1) | d |\n| e | F | g with h-i, j |\n\n\
                 | k | l | m |\n";
    assert_eq!(libraries_of_algorithms(table), ["d", "g", "h-i", "j"]);
}

/// Returns the folders of a workspace's crates, as its manifest lists them.
fn members(manifest: &str) -> Vec<&str> {
    let list = manifest.split_once("\nmembers = [\n").map_or("", |(_, list)| list);
    let lines = list.lines().take_while(|line| *line != "]");
    lines.filter_map(|line| line.split('"').nth(1)).collect()
}

/// Returns whether the lints of a workspace forbid unsafe code, which no attribute in the code can permit again.
fn forbids_unsafe_code(manifest: &str) -> bool {
    let lints = manifest.split_once("\n[workspace.lints.rust]\n").map_or("", |(_, lints)| lints);
    lints.lines().take_while(|line| !line.starts_with('[')).any(|line| line == "unsafe_code = \"forbid\"")
}

/// Returns whether a crate takes over the lints of its workspace.
fn has_lints_of_the_workspace(manifest: &str) -> bool {
    manifest.contains("\n[lints]\nworkspace = true\n")
}

#[test]
fn every_crate_forbids_unsafe_code() {
    let workspace = file("Cargo.toml");
    assert!(forbids_unsafe_code(&workspace));
    let crates = members(&workspace);
    assert!(crates.len() > 20 && crates.contains(&"."), "{crates:?}");
    for folder in crates {
        let manifest = file(&format!("{folder}/Cargo.toml"));
        assert!(has_lints_of_the_workspace(&manifest), "{folder} may have unsafe code");
    }
    assert_eq!(
        members("[workspace]\nmembers = [\n    \".\",\n    \"a/b\",\n]\nexclude = [\n    \"c\",\n]\n"),
        [".", "a/b"]
    );
    assert!(!forbids_unsafe_code("\n[workspace.lints.rust]\nunsafe_code = \"warn\"\n[a]\nunsafe_code = \"forbid\"\n"));
    assert!(!has_lints_of_the_workspace("[package]\nname = \"a\"\n\n[lints.rust]\nunsafe_code = \"allow\"\n"));
}
