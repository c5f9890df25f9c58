//! Dependencies between the modules of a crate: they form no rings, except for those listed here; the list may only
//! shrink. Between crates, the compiler enforces this.

use std::collections::{BTreeMap, BTreeSet};

use super::all_files;
use super::text::{File, word};

/// Rings that are left, each with the folder of its crate and its modules. A ring that is gone must be removed from the
/// list, and one that has become smaller must be shortened.
const RINGS: [(&str, &[&str]); 6] = [
    // A reader is an enum of both implementations of the port, one of which is in memory. Ordered work gets a reader.
    ("src/store/", &["memory", "ordered_work", "port", "reader"]),
    // Rows write themselves into the tables in memory, which apply submissions, which consist of rows.
    ("src/store/", &["rows", "submission", "tables"]),
    // The simulation: its world, and its participants.
    ("tests/sim/src/", &["day", "loose_ends", "oracles", "people", "rest", "sellers"]),
    ("tests/sim/src/", &["disk", "power"]),
    ("tests/sim/src/", &["floor", "hall"]),
    (
        "tests/sim/src/",
        &[
            "adapter",
            "claims",
            "clerk",
            "customers",
            "cut",
            "machine",
            "outside",
            "plan",
            "prints",
            "shop",
            "till",
            "weather",
            "workload",
            "world",
        ],
    ),
];

/// Folders of test programs, which have no layers: a story may use the steps of any other.
const TEST_PROGRAMS: [&str; 2] = ["tests/it/", "benches/"];

/// Folder of a crate, and the modules of a ring in it.
type Ring = (String, Vec<String>);

/// Path in the code, with its position.
type CodePath<'a> = (usize, Vec<&'a str>);

/// Use of a module by another.
struct Arrow {
    user: String,
    used: String,
    /// File and line.
    place: String,
}

/// Returns the first component of a path after `prefix`, without `.rs`: `src/store/load.rs` is in `load`. `None` if the
/// path has another prefix.
fn room<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    Some(rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs"))
}

/// Returns whether the file is the root of a crate.
fn is_root(file: &File) -> bool {
    file.path.ends_with("/lib.rs") || file.path.ends_with("/main.rs")
}

/// Returns the code of a file without its tests.
fn code(file: &File) -> &str {
    let code = file.code();
    code.find("#[cfg(test)]\nmod tests {").map_or(code, |end| &code[..end])
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Adds the paths that begin at a position, which are several for a group such as `a::{b, c::d}`, and returns the
/// position after them. `before` contains the components that precede the position.
fn add_paths<'a>(code: &'a str, start: usize, before: &[&'a str], paths: &mut Vec<CodePath<'a>>) -> usize {
    if code[start..].starts_with('{') {
        let mut at = start + 1;
        loop {
            let item = code[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            at = code.len() - item.len();
            if item.is_empty() || item.starts_with('}') {
                return code.len().min(at + 1);
            }
            at = add_paths(code, at, before, paths);
            // Skips an alias, and the asterisk of a glob import.
            at += code[at..].find([',', '}']).unwrap_or(code.len() - at);
        }
    }
    let name = word(&code[start..]);
    let end = start + name.len();
    let path = [before, &[name]].concat();
    let rest = code[end..].strip_prefix("::").unwrap_or_default();
    if rest.starts_with('{') || rest.starts_with(is_part_of_name) {
        return add_paths(code, end + "::".len(), &path, paths);
    }
    if !name.is_empty() {
        paths.push((start, path));
    }
    end
}

/// Returns the paths from the root of the crate in the code of a module, which is `depth` modules below the root.
fn paths_from_root(code: &str, depth: usize) -> Vec<CodePath<'_>> {
    let mut paths = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        if !code[..at].ends_with(is_part_of_name) {
            add_paths(code, at + prefix.len(), &[], &mut paths);
        }
    }
    for (at, prefix) in code.match_indices("super::") {
        if code[..at].ends_with(prefix) || code[..at].ends_with(is_part_of_name) {
            continue;
        }
        let start = code.len() - code[at..].trim_start_matches(prefix).len();
        if start - at == depth * prefix.len() {
            add_paths(code, start, &[], &mut paths);
        }
    }
    paths
}

/// Returns the names that the root of a crate imports from its modules, each with its module.
fn names_in_root<'a>(code: &'a str, rooms: &BTreeSet<&str>) -> BTreeMap<&'a str, &'a str> {
    let mut paths = Vec::new();
    for (at, keyword) in code.match_indices("use ") {
        if !code[..at].ends_with(is_part_of_name) {
            add_paths(code, at + keyword.len(), &[], &mut paths);
        }
    }
    let imported = paths.into_iter().filter_map(|(_, path)| {
        let path = if ["crate", "self"].contains(&path[0]) { &path[1..] } else { &path[..] };
        match path {
            [room, .., name] if rooms.contains(room) => Some((*name, *room)),
            _ => None,
        }
    });
    imported.collect()
}

/// Returns the arrows between the modules of a crate.
fn arrows(files: &[&File], folder: &str) -> Vec<Arrow> {
    let modules = || files.iter().filter(|file| !is_root(file));
    let rooms: BTreeSet<&str> = modules().filter_map(|file| room(&file.path, folder)).collect();
    let roots: Vec<&str> = files.iter().filter(|file| is_root(file)).map(|file| code(file)).collect();
    let names: BTreeMap<&str, &str> = roots.iter().flat_map(|code| names_in_root(code, &rooms)).collect();
    let mut arrows = Vec::new();
    for file in modules().filter(|file| !file.is_tests()) {
        let Some(user) = room(&file.path, folder).filter(|user| *user != "testing") else { continue };
        let depth = file.path[folder.len()..].split('/').count();
        let code = code(file);
        for (at, path) in paths_from_root(code, depth) {
            let used = rooms.get(path[0]).or_else(|| names.get(path[0]));
            if let Some(used) = used.filter(|used| **used != user) {
                let place = format!("{}:{}", file.path, code[..at].matches('\n').count() + 1);
                arrows.push(Arrow { user: user.to_owned(), used: (*used).to_owned(), place });
            }
        }
    }
    arrows
}

/// Returns the modules that a module uses, directly or indirectly.
fn reached<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>, start: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![start]);
    while let Some(room) = next.pop() {
        for &used in uses.get(room).into_iter().flatten() {
            if reached.insert(used) {
                next.push(used);
            }
        }
    }
    reached
}

/// Returns the largest sets of modules in which every module uses every other, directly or indirectly.
fn strongly_connected(arrows: &[Arrow]) -> BTreeSet<Vec<String>> {
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Arrow { user, used, .. } in arrows {
        uses.entry(user).or_default().insert(used);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|&room| (room, reached(&uses, room))).collect();
    let ring_of = |room: &str| -> Vec<String> {
        let others = reached.iter().filter(|(other, back)| reached[room].contains(*other) && back.contains(room));
        others.map(|(other, _)| (*other).to_owned()).collect()
    };
    reached.keys().map(|&room| ring_of(room)).filter(|ring| !ring.is_empty()).collect()
}

/// Returns the rings of all crates, each with the arrows between its modules.
fn rings(files: &[File]) -> BTreeMap<Ring, Vec<String>> {
    let parent = |file: &File| file.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
    let of_product = |file: &&File| !TEST_PROGRAMS.iter().any(|folder| file.path.starts_with(folder));
    let folders: BTreeSet<String> = files.iter().filter(|file| is_root(file)).filter_map(parent).collect();
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files.iter().filter(of_product) {
        // A crate may be inside the folder of another, as `src/http/api/` does.
        let around = folders.iter().filter(|folder| file.path.starts_with(folder.as_str()));
        if let Some(folder) = around.max_by_key(|folder| folder.len()) {
            crates.entry(folder).or_default().push(file);
        }
    }
    let mut rings = BTreeMap::new();
    for (folder, files) in crates {
        let arrows = arrows(&files, folder);
        for ring in strongly_connected(&arrows) {
            let inside = |arrow: &&Arrow| ring.contains(&arrow.user) && ring.contains(&arrow.used);
            let line = |arrow: &Arrow| format!("{}: {} uses {}", arrow.place, arrow.user, arrow.used);
            let lines = arrows.iter().filter(inside).map(line).collect();
            rings.insert((folder.to_owned(), ring), lines);
        }
    }
    rings
}

#[test]
fn modules_form_no_rings_but_the_named_ones() {
    let mut rings = rings(&all_files());
    for (folder, modules) in RINGS {
        let ring: Ring = (folder.to_owned(), modules.iter().map(|module| (*module).to_owned()).collect());
        assert!(rings.remove(&ring).is_some(), "no longer a ring, take it out of RINGS or shorten it: {ring:?}");
    }
    assert!(rings.is_empty(), "move what is needed below to a lower module, or one of its own: {rings:#?}");
}

#[test]
fn a_ring_is_found_and_nothing_else() {
    let file = |path: &str, text: &str| File::new(path, text);
    let files = [
        file("src/shop/lib.rs", "pub mod app;\nmod clock;\nmod orders;\npub use orders::{Job, Order as Sale};"),
        file("src/shop/app.rs", "use crate::{Job, clock::{self, *}};"),
        file(
            "src/shop/orders/rules.rs",
            "//! Not crate::clock.\nuse super::super::app::App;\n#[cfg(test)]\nmod tests {\nuse crate::http::x;",
        ),
        file("src/shop/orders/tests.rs", "use crate::http::Page;"),
        file("src/shop/clock.rs", "let text = \"crate::app\";\npub(in crate::clock) fn now() {}\nmy_crate::app();"),
        file(
            "src/shop/http.rs",
            "fn show() -> crate::orders::Order {\n    super::app::start::<crate::http::Page>()\n}",
        ),
        file("src/shop/parts/lib.rs", "mod app;\nmod stock;"),
        file("src/shop/parts/app.rs", "use crate::stock::Level;"),
        file("src/shop/parts/stock.rs", "use super::stock::orders;\nuse crate::orders::Order;"),
        file("tests/it/main.rs", "mod a;\nmod b;"),
        file("tests/it/a.rs", "use crate::b::f;"),
        file("tests/it/b.rs", "use crate::a::f;"),
    ];
    let arrows = ["src/shop/app.rs:1: app uses orders", "src/shop/orders/rules.rs:2: orders uses app"];
    let ring = ("src/shop/".to_owned(), vec!["app".to_owned(), "orders".to_owned()]);
    assert_eq!(rings(&files), BTreeMap::from([(ring, arrows.map(str::to_owned).to_vec())]));
}

#[test]
fn of_three_modules_in_a_ring_all_are_named() {
    let files = ["a", "b", "c", "d"].iter().zip(["b", "c", "a", "a"]).map(|(user, used)| {
        let path = format!("tools/shop/src/{user}.rs");
        File::new(&path, &format!("use crate::{used}::f;"))
    });
    let files: Vec<File> = files.chain([File::new("tools/shop/src/main.rs", "mod a;")]).collect();
    let all: Vec<Ring> = rings(&files).into_keys().collect();
    assert_eq!(all, [("tools/shop/src/".to_owned(), ["a", "b", "c"].map(str::to_owned).to_vec())]);
}
