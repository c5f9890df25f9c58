//! Broken builds: patches that break the server's own sources, one promise each. `scripts/broken-builds` builds them
//! and shows what catches them; here they are only held to be there, to say what they break, and to
//! apply. Most of those in `tests/sim/broken` are for the simulation; those in `tests/planted` are for the tests of
//! each run.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the patches that are for the simulation, or for the tests where it cannot reach them.
const FOR_SEEDS: &str = "tests/sim/broken";
/// Folder of the patches that are for the tests of each run.
const FOR_TESTS: &str = "tests/planted";
/// Fewest patches for the simulation.
const MIN_PATCHES: usize = 30;
/// Minimum number of patches that the simulation must detect.
const MIN_CAUGHT_BY_SEEDS: usize = 22;
/// Number of patches for the tests in each room.
const PLANTED: [(&str, usize); 3] = [("house", 6), ("rules", 7), ("wire", 7)];
/// Word of a patch that the simulation must catch.
const BY_SEEDS: &str = "sim";

/// Patch that breaks the server.
struct BrokenBuild {
    name: String,
    text: String,
}

impl BrokenBuild {
    /// Returns the values of a field's lines above the diff.
    fn headers<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        let above = self.text.split("diff --git ").next().unwrap_or_default();
        above.lines().filter_map(move |line| Some(line.strip_prefix(field)?.strip_prefix(": ")?.trim()))
    }

    /// Returns the value of the first line of a field above the diff; empty if there is none.
    fn header<'a>(&'a self, field: &'a str) -> &'a str {
        self.headers(field).next().unwrap_or_default()
    }

    /// Asserts that one sentence states what it breaks, and that the page has its row.
    fn explains_itself(&self, page: &str, row: &str) {
        let breaks = self.header("Breaks");
        assert!(breaks.len() > 20 && breaks.ends_with('.'), "{}: no sentence says what it breaks", self.name);
        assert!(page.contains(row), "docs/RELIABILITY.md has no row{row}");
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

/// Reads all patches of a folder.
fn broken_builds(folder: &str) -> io::Result<Vec<BrokenBuild>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root().join(folder))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(path.extension().is_some_and(|extension| extension == "patch"), "{name} is no patch");
        all.push(BrokenBuild { name, text: fs::read_to_string(&path)? });
    }
    Ok(all)
}

/// File with tests.
struct TestFile {
    /// Modules that lead to it.
    modules: Vec<String>,
    /// Names of its functions.
    functions: BTreeSet<String>,
}

impl TestFile {
    /// Returns whether the file has a test that a filter of names selects: `=a::b::name`, or `/…name$/`.
    fn has(&self, names: &str) -> bool {
        if let Some(path) = names.strip_prefix('=') {
            let mut segments = path.split("::");
            // What follows the modules is the function, and modules that a macro has put around it.
            return self.modules.iter().all(|module| segments.next() == Some(module.as_str()))
                && segments.any(|segment| self.functions.contains(segment));
        }
        let name = names.strip_suffix("$/").and_then(|pattern| pattern.rsplit([':', ')']).next());
        name.is_some_and(|name| self.functions.contains(name))
    }
}

/// Adds the Rust files of a folder to which the modules lead.
fn add_files(folder: &Path, modules: &[String], files: &mut Vec<TestFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let mut modules = modules.to_vec();
        modules.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        if path.is_dir() {
            add_files(&path, &modules, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let declared = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('('));
            files.push(TestFile { modules, functions: declared.map(|(name, _)| name.to_owned()).collect() });
        }
    }
    Ok(())
}

/// Reads the files of a package with its tests.
fn files_of(package: &str) -> io::Result<Vec<TestFile>> {
    let folder = if package == "printfloor" { "tests/it".to_owned() } else { format!("src/{package}") };
    let mut files = Vec::new();
    add_files(&root().join(folder), &[], &mut files)?;
    Ok(files)
}

#[test]
fn each_says_what_it_breaks_and_what_must_catch_it() -> io::Result<()> {
    let all = broken_builds(FOR_SEEDS)?;
    let by_seeds = all.iter().filter(|one| one.header("Caught-by") == BY_SEEDS).count();
    assert!(all.len() >= MIN_PATCHES, "only {} patches", all.len());
    assert!(by_seeds >= MIN_CAUGHT_BY_SEEDS, "only {by_seeds} of them are caught by the simulation");
    let page = fs::read_to_string(root().join("docs/RELIABILITY.md"))?;
    for one in &all {
        one.explains_itself(&page, &format!("\n| `{}` | {} |", one.name, one.header("Breaks")));
    }
    Ok(())
}

#[test]
fn each_that_is_planted_says_what_it_breaks_and_in_which_room() -> io::Result<()> {
    let all = broken_builds(FOR_TESTS)?;
    let page = fs::read_to_string(root().join("docs/RELIABILITY.md"))?;
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &all {
        let room = one.header("Room");
        *rooms.entry(room).or_default() += 1;
        one.explains_itself(&page, &format!("\n| `{}` | {room} | {} |", one.name, one.header("Breaks")));
    }
    assert_eq!(rooms, BTreeMap::from(PLANTED));
    Ok(())
}

#[test]
fn the_tests_that_must_catch_one_exist() -> io::Result<()> {
    let mut files: BTreeMap<String, Vec<TestFile>> = BTreeMap::new();
    for folder in [FOR_SEEDS, FOR_TESTS] {
        for one in broken_builds(folder)? {
            let filters: Vec<&str> = one.headers("Caught-by").collect();
            if folder == FOR_SEEDS && filters == [BY_SEEDS] {
                continue;
            }
            assert!(!filters.is_empty(), "{}: nothing is named that must catch it", one.name);
            for filter in filters {
                let named = filter.strip_prefix("package(").and_then(|rest| rest.strip_suffix(')'));
                let Some((package, names)) = named.and_then(|rest| rest.split_once(") & test(")) else {
                    panic!("{}: no test of a package: {filter}", one.name);
                };
                let of_package = match files.entry(package.to_owned()) {
                    Entry::Occupied(place) => place.into_mut(),
                    Entry::Vacant(place) => place.insert(files_of(package)?),
                };
                assert!(of_package.iter().any(|file| file.has(names)), "{}: there is no test {names}", one.name);
                assert!(!names.contains("::long::"), "{}: only the long profile has {names}", one.name);
            }
        }
    }
    Ok(())
}

#[test]
fn each_applies_to_the_sources() -> io::Result<()> {
    for one in [broken_builds(FOR_SEEDS)?, broken_builds(FOR_TESTS)?].iter().flatten() {
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
