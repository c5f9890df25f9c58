//! References to code in ARCHITECTURE.md, docs/SECURITY.md and the pages of docs/design/: whatever they name in `code`
//! exists, and the code map has every folder and crate.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use super::all_files;
use super::documents::{chapter, pages, read};
use super::text::{File, words};

/// Files that may be named although they do not exist, for example to state that there are none.
const ABSENT: [&str; 1] = ["mod.rs"];

/// Returns the texts in backticks, each with its line number. Fenced code blocks are drawings and are skipped.
pub(super) fn named(document: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut drawing = false;
    for (line, number) in document.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            drawing = !drawing;
        } else if !drawing {
            let codes = line.split('`').skip(1).step_by(2);
            names.extend(codes.map(|code| (number, code.to_owned())));
        }
    }
    names
}

/// Returns whether a text looks like the name of a Rust file.
fn is_rust(code: &str) -> bool {
    Path::new(code).extension().is_some_and(|extension| extension == "rs")
}

/// Returns whether a text looks like the path of a file or folder in the repository: `a/b.rs`, `a/`, but not `/a` (a
/// URL path) or `a/<b>.rs`.
fn is_path(code: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    (is_rust(code) || code.contains('/')) && !code.starts_with('/') && code.chars().all(plain)
}

/// Returns whether the repository contains a file or folder with this path, relative to its root, to `src/` or to any
/// folder below.
fn exists(path: &str, all: &BTreeSet<String>) -> bool {
    let path = path.trim_end_matches('/');
    all.iter().any(|one| one == path || one.ends_with(&format!("/{path}")))
}

/// Returns whether a text looks like a Rust name: `take_readable`, `JobCommand::Dispatch`, `Decision`.
fn is_name(code: &str) -> bool {
    let parts: Vec<&str> = code.split("::").collect();
    let word = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let told_apart = code.contains("::") || code.contains('_') || code.starts_with(|c: char| c.is_ascii_uppercase());
    parts.iter().all(word) && told_apart
}

/// Collects the words of all files.
fn names_of(files: &[File]) -> HashSet<&str> {
    files.iter().flat_map(|file| words(&file.text)).collect()
}

/// Returns the names in the document that do not exist in the code base, with their line numbers.
fn missing(document: &str, paths: &BTreeSet<String>, files: &[File], names: &HashSet<&str>) -> Vec<String> {
    let mut faults = Vec::new();
    for (line, code) in named(document) {
        if is_path(&code) {
            if !exists(&code, paths) && !ABSENT.contains(&code.as_str()) {
                faults.push(format!("{line}: no file or folder {code}"));
            }
        } else if is_name(&code) && !code.split("::").all(|part| names.contains(part)) {
            faults.push(format!("{line}: nothing is called {code}"));
        }
    }
    faults.extend(misplaced(document, files));
    faults
}

/// Lists the functions that the document attributes to the wrong file: after "`file.rs`, `function`", the file must
/// contain the function.
fn misplaced(document: &str, files: &[File]) -> Vec<String> {
    let joined = document.split_whitespace().collect::<Vec<_>>().join(" ");
    let codes: Vec<&str> = joined.split('`').collect();
    let mut faults = Vec::new();
    for window in codes.windows(3) {
        let [path, between, name] = window else { continue };
        if *between != ", " || !is_path(path) || !is_rust(path) || is_path(name) {
            continue;
        }
        let declared = format!("fn {name}");
        let here =
            |file: &File| file.text.match_indices(&declared).any(|(at, _)| !goes_on(&file.text, at + declared.len()));
        if !files.iter().any(|file| file.path == format!("src/{path}") && here(file)) {
            faults.push(format!("no function {name} in src/{path}"));
        }
    }
    faults
}

/// Returns whether the word before this position continues after it.
fn goes_on(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Collects the repository's own files and folders.
pub(super) fn paths(root: &Path, folder: &Path, all: &mut BTreeSet<String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name == ".git" || name == "target" || name == "data" {
            continue;
        }
        let parts = path.strip_prefix(root).unwrap_or(&path).components();
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        all.insert(parts.join("/"));
        if path.is_dir() {
            paths(root, &path, all);
        }
    }
}

/// Returns the folders that the code map must list: those directly below `src/` that contain code, and every other
/// crate.
fn folders_of_code(paths: &BTreeSet<String>) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for path in paths {
        if let Some((folder, _)) = path.strip_prefix("src/").and_then(|rest| rest.split_once('/')) {
            if is_rust(path) {
                folders.insert(format!("src/{folder}"));
            }
        } else if let Some(folder) = path.strip_suffix("/Cargo.toml") {
            folders.insert(folder.to_owned());
        }
    }
    folders
}

/// Returns the folders of code that a map does not list as `folder/`.
fn unmapped(map: &str, paths: &BTreeSet<String>) -> Vec<String> {
    let codes: BTreeSet<String> = named(map).into_iter().map(|(_, code)| code).collect();
    folders_of_code(paths).into_iter().filter(|folder| !codes.contains(&format!("{folder}/"))).collect()
}

#[test]
fn the_architecture_and_the_pages_of_the_design_name_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = BTreeSet::new();
    paths(root, root, &mut all);
    let files = all_files();
    let all_names = names_of(&files);
    let design = pages(root).into_iter().filter(|page| page.starts_with("docs/design/"));
    let mut violations = Vec::new();
    let mut count = 0;
    for document in design.chain(["ARCHITECTURE.md", "docs/SECURITY.md"].map(str::to_owned)) {
        let text = read(root, &document);
        count += named(&text).len();
        violations.extend(
            missing(&text, &all, &files, &all_names).into_iter().map(|violation| format!("{document}:{violation}")),
        );
    }
    assert!(count > 500, "the documents name their parts in backticks");
    assert!(violations.is_empty(), "documents name what does not exist:\n{}", violations.join("\n"));
}

#[test]
fn the_map_has_every_folder_of_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = BTreeSet::new();
    paths(root, root, &mut all);
    let architecture = read(root, "ARCHITECTURE.md");
    let map = chapter(&architecture, "Code map").expect("a chapter \"Code map\"");
    assert_eq!(unmapped(map, &all), Vec::<String>::new(), "these are not on the map of ARCHITECTURE.md");
}

#[test]
fn a_folder_that_is_not_on_the_map_is_missed() {
    let all = ["src/a/b.rs", "src/a/c/d.rs", "src/notes/e.txt", "src/main.rs", "tool/Cargo.toml", "Cargo.toml"];
    let all = BTreeSet::from(all.map(str::to_owned));
    assert_eq!(unmapped("| `src/a/`, `tool/` | both |", &all), Vec::<String>::new());
    assert_eq!(unmapped("| `src/a/c/` | a part |", &all), ["src/a", "tool"]);
}

#[test]
fn a_name_that_nothing_has_is_found() {
    let files = [File::new("src/a/b.rs", "pub fn take_all() {}\nenum Kind {\n    One,\n}")];
    let all = BTreeSet::from(["src/a/b.rs".to_owned(), "src/a".to_owned()]);
    let good = "`a/b.rs`, `take_all`: takes `Kind::One`. `b.rs` and `a/` too; `POST /x/y`, `/healthz` and `plain` are no names.";
    assert_eq!(missing(good, &all, &files, &names_of(&files)), Vec::<String>::new());
    let bad = "`a/c.rs` has\n`Kind::Two`, `take_none`.\n```\n`Drawing`\n```\n`a/b.rs`, `kind`";
    assert_eq!(
        missing(bad, &all, &files, &names_of(&files)),
        [
            "1: no file or folder a/c.rs",
            "2: nothing is called Kind::Two",
            "2: nothing is called take_none",
            "no function kind in src/a/b.rs"
        ]
    );
}
