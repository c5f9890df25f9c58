//! Links in documents: all have targets, and the index of docs/ has every page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::all_files;
use super::map::paths;
use super::text::words;

/// Index of the documentation.
const INDEX: &str = "docs/README.md";

/// Documents outside docs/.
const AT_THE_ROOT: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Prefix of the environment variables that tests read.
const VARIABLE: &str = "PRINTFLOOR_TEST_";

/// Reads a document of the repository.
pub(super) fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the pages of docs/, counted from the repository's folder.
pub(super) fn pages(root: &Path) -> Vec<String> {
    let mut all = BTreeSet::new();
    paths(root, &root.join("docs"), &mut all);
    all.into_iter().filter(|path| Path::new(path).extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the text of the chapter with this title.
pub(super) fn chapter<'a>(document: &'a str, title: &str) -> Option<&'a str> {
    let (_, rest) = document.split_once(&format!("\n## {title}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest))
}

/// Returns the targets of a document's links within the repository, as written.
fn links(document: &str) -> Vec<&str> {
    let targets = document.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://")).collect()
}

/// Returns the path that a link in this document refers to, relative to the repository's root.
fn target(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "" | "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the anchors of a document's headings, as GitHub makes them.
fn anchors(document: &str) -> BTreeSet<String> {
    let headings = document.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let letters = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            letters.map(|c| if c == ' ' { '-' } else { c }).collect::<String>()
        })
        .collect()
}

/// Returns a document's links to missing files or headings. `read` returns the text of a file, or `None` if it does not
/// exist.
fn dead_links(path: &str, document: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let leads = |link: &str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let file = if file.is_empty() { path.to_owned() } else { target(path, file) };
        read(&file).is_some_and(|text| anchor.is_empty() || anchors(&text).contains(anchor))
    };
    links(document).into_iter().filter(|link| !leads(link)).map(|link| format!("{path}: {link}")).collect()
}

/// Returns the pages that an index does not link to.
fn unlisted(index: &str, pages: &[String]) -> Vec<String> {
    let listed: BTreeSet<String> = links(index).into_iter().map(|link| target(INDEX, link)).collect();
    pages.iter().filter(|page| *page != INDEX && !listed.contains(*page)).cloned().collect()
}

#[test]
fn the_index_has_every_page_and_the_readme_leads_to_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = pages(root);
    assert!(pages.len() > 10, "only {} pages", pages.len());
    assert_eq!(unlisted(&read(root, INDEX), &pages), Vec::<String>::new(), "{INDEX} does not list these");
    assert!(links(&read(root, "README.md")).contains(&INDEX), "README.md does not lead to {INDEX}");
}

/// Returns the variables of tests that a text names.
fn variables(text: &str) -> BTreeSet<String> {
    words(text).filter(|word| word.len() > VARIABLE.len() && word.starts_with(VARIABLE)).map(str::to_owned).collect()
}

#[test]
fn the_variables_of_the_tests_are_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let explained = variables(&read(root, "CONTRIBUTING.md"));
    let scripts = ["scripts/test", "scripts/screenshots"].map(|script| read(root, script));
    let texts = all_files().into_iter().map(|file| file.text).chain(scripts);
    let unexplained: BTreeSet<String> =
        texts.flat_map(|text| variables(&text)).filter(|variable| !explained.contains(variable)).collect();
    assert_eq!(unexplained, BTreeSet::new(), "CONTRIBUTING.md does not explain these");
    assert!(explained.len() > 20, "the tests have variables");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text_of = |path: &str| {
        let path = root.join(path);
        // Pictures and folders have no headings.
        path.exists().then(|| fs::read_to_string(path).unwrap_or_default())
    };
    let documents = pages(root).into_iter().chain(AT_THE_ROOT.map(str::to_owned));
    let dead: Vec<String> = documents.flat_map(|path| dead_links(&path, &read(root, &path), text_of)).collect();
    assert_eq!(dead, Vec::<String>::new(), "these links lead nowhere");
}

#[test]
fn dead_links_and_unlisted_pages_are_found() {
    let text_of = |path: &str| (path == "docs/a/b.md").then(|| "# One\n\n## Two, and three\n".to_owned());
    let good = "[a](b.md), [b](../a/b.md#two-and-three) and [c](https://example.org/x). [d](#one)";
    assert_eq!(dead_links("docs/a/b.md", good, text_of), Vec::<String>::new());
    let bad = "[a](c.md), [b](b.md#two) and\n[c](../b.md)";
    let dead = ["docs/a/b.md: c.md", "docs/a/b.md: b.md#two", "docs/a/b.md: ../b.md"];
    assert_eq!(dead_links("docs/a/b.md", bad, text_of), dead);
    let pages = ["docs/README.md", "docs/a/b.md", "docs/c.md"].map(str::to_owned);
    assert_eq!(unlisted("1. [b](a/b.md): text", &pages), ["docs/c.md"]);
}
