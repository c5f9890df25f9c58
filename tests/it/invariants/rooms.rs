//! Dependencies between the modules of the rules: there are no cycles. Between crates, the compiler enforces this.

use std::collections::{BTreeMap, BTreeSet};

use super::source_files;
use super::text::{File, code_of, word};

/// Folders that each folder uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the first component of a path after `prefix`, without `.rs`: `src/store/load.rs` is in `store`. `None` if
/// the path has another prefix.
fn room<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    Some(rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs"))
}

/// Returns the code of a file without its tests.
fn code(file: &File) -> String {
    let code = code_of(&file.text);
    match code.find("#[cfg(test)]\nmod tests {") {
        Some(end) => code[..end].to_owned(),
        None => code,
    }
}

/// Returns the names that follow `prefix` in the code, including those in a group in braces.
fn followers(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut item) = (0, String::new());
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        names.insert(word(item.trim()).to_owned());
                        item.clear();
                    }
                    c if depth == 0 => item.push(c),
                    _ => {}
                }
            }
            names.insert(word(item.trim()).to_owned());
        } else {
            names.insert(word(rest).to_owned());
        }
    }
    names
}

fn uses(files: &[File], folder: &str, prefix: &str) -> Uses {
    let rooms: BTreeSet<&str> = files.iter().filter_map(|file| room(&file.path, folder)).collect();
    let mut uses = Uses::new();
    for file in files.iter().filter(|file| !file.is_tests()) {
        let Some(user) = room(&file.path, folder).filter(|user| !["lib", "main", "testing"].contains(user)) else {
            continue;
        };
        let used = followers(&code(file), prefix).into_iter();
        let used = used.filter(|used| used != user && rooms.contains(used.as_str()));
        uses.entry(user.to_owned()).or_default().extend(used);
    }
    uses
}

/// Lists the folders that depend on themselves, directly or indirectly.
fn in_circles(uses: &Uses) -> Vec<String> {
    let reaches_itself = |start: &String| {
        let (mut visited, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(room) = next.pop() {
            for used in uses.get(room).into_iter().flatten() {
                if used == start {
                    return true;
                }
                if visited.insert(used) {
                    next.push(used);
                }
            }
        }
        false
    };
    uses.keys().filter(|room| reaches_itself(room)).map(|room| format!("{room} uses {:?}", uses[room])).collect()
}

#[test]
fn the_rules_use_each_other_in_one_direction() {
    let circles = in_circles(&uses(&source_files(), "src/domain/", "crate::"));
    assert!(circles.is_empty(), "these are in circles: {circles:#?}");
}

#[test]
fn a_circle_is_found() {
    let file = |path: &str, text: &str| File::new(path, text);
    let files = [
        file("src/store/load.rs", "use crate::domain::id::Id;"),
        file("src/domain/lib.rs", "pub mod id;"),
        file(
            "src/actors/orders.rs",
            "use crate::{app::App, store::Store};\n#[cfg(test)]\nmod tests {\nuse crate::http::x;",
        ),
        file("src/app/start.rs", "use crate::actors::kernel;"),
        file("src/http.rs", "use crate::app::App;"),
    ];
    let uses = uses(&files, "src/", "crate::");
    assert_eq!(uses["actors"], BTreeSet::from(["app".to_owned(), "store".to_owned()]));
    let circles = in_circles(&uses);
    assert_eq!(circles.len(), 2, "{circles:?}");
    assert!(circles[0].starts_with("actors ") && circles[1].starts_with("app "), "{circles:?}");
}
