//! Broken builds: patches that break the server's own sources, one promise each. `scripts/broken-builds` builds them
//! and shows which tests detect them, which takes hours; the tests here only check that the patches exist, state what
//! they break, and apply.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Minimum number of patches.
const MIN_PATCHES: usize = 30;
/// Minimum number of patches that the simulation must detect.
const MIN_CAUGHT_BY_SEEDS: usize = 22;
/// Keyword of a patch that the simulation must detect.
const BY_SEEDS: &str = "sim";

/// Patch that breaks the server.
struct BrokenBuild {
    name: String,
    text: String,
}

impl BrokenBuild {
    /// Returns the value of a header line above the diff; empty if it is missing.
    fn header(&self, field: &str) -> &str {
        let above = self.text.split("diff --git ").next().unwrap_or_default();
        let value = above.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(": "));
        value.unwrap_or_default().trim()
    }

    /// Returns the lines that each hunk expects in its file, with the file's path.
    fn hunks(&self) -> Vec<(&str, String)> {
        let (mut hunks, mut path): (Vec<(&str, String)>, _) = (Vec::new(), "");
        for line in self.text.lines().skip_while(|line| !line.starts_with("diff --git ")) {
            if let Some(file) = line.strip_prefix("--- a/") {
                path = file;
            } else if line.starts_with("@@ ") {
                hunks.push((path, String::new()));
            } else if let (Some(old), Some((_, lines))) = (line.strip_prefix([' ', '-']), hunks.last_mut()) {
                lines.push_str(old);
                lines.push('\n');
            }
        }
        hunks
    }
}

/// Returns the folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads all patches.
fn broken_builds() -> io::Result<Vec<BrokenBuild>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root().join("tests/sim/broken"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(path.extension().is_some_and(|extension| extension == "patch"), "{name} is no patch");
        all.push(BrokenBuild { name, text: fs::read_to_string(&path)? });
    }
    Ok(all)
}

/// Adds the names of the functions in the Rust files of a folder and its subfolders.
fn add_functions(folder: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_functions(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let declared = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('('));
            names.extend(declared.map(|(name, _)| name.to_owned()));
        }
    }
    Ok(())
}

#[test]
fn each_says_what_it_breaks_and_what_must_catch_it() -> io::Result<()> {
    let all = broken_builds()?;
    let by_seeds = all.iter().filter(|one| one.header("Caught-by") == BY_SEEDS).count();
    assert!(all.len() >= MIN_PATCHES, "only {} patches", all.len());
    assert!(by_seeds >= MIN_CAUGHT_BY_SEEDS, "only {by_seeds} of them are caught by the simulation");
    let page = fs::read_to_string(root().join("docs/RELIABILITY.md"))?;
    for one in &all {
        let (breaks, caught_by) = (one.header("Breaks"), one.header("Caught-by"));
        let row = format!("\n| `{}` | {breaks} |", one.name);
        assert!(page.contains(&row), "docs/RELIABILITY.md has no row{row}");
        assert!(breaks.len() > 20 && breaks.ends_with('.'), "{}: no sentence says what it breaks", one.name);
        let is_filter = caught_by.starts_with("test package(");
        assert!(caught_by == BY_SEEDS || is_filter, "{}: nothing is named that must catch it", one.name);
    }
    Ok(())
}

#[test]
fn the_tests_that_must_catch_one_exist() -> io::Result<()> {
    let mut names = BTreeSet::new();
    for folder in ["src/domain", "tests/it"] {
        add_functions(&root().join(folder), &mut names)?;
    }
    for one in broken_builds()? {
        if let Some(filter) = one.header("Caught-by").strip_suffix("$/)") {
            let name = filter.rsplit([':', ')']).next().unwrap_or_default();
            assert!(names.contains(name), "{}: there is no test {name}", one.name);
        }
    }
    Ok(())
}

#[test]
fn each_applies_to_the_sources() -> io::Result<()> {
    for one in broken_builds()? {
        let hunks = one.hunks();
        assert!(!hunks.is_empty(), "{} changes nothing", one.name);
        for (path, lines) in hunks {
            let count = fs::read_to_string(root().join(path))?.matches(&lines).count();
            assert_eq!(count, 1, "{}: {path} must have these lines once:\n{lines}", one.name);
        }
    }
    Ok(())
}

/// Checks that the patches apply with `git`, if the sources are a repository and git is installed.
#[test]
fn each_applies_with_git() -> io::Result<()> {
    if !root().join(".git").exists() || Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: no git repository, or no git");
        return Ok(());
    }
    let output = Command::new(root().join("scripts/broken-builds")).arg("--apply-only").output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
