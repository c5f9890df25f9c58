//! The page of all parts in a real browser: where each element stands, how large it is, and its colours, held against
//! what was recorded in `tests/it/staff/design/`. A picture would differ with the machine that draws it.

use std::path::PathBuf;

use super::shop::admin;
use crate::support::browser::Browser;
use crate::support::{App, Db};

/// With the value 1, the layouts are written anew.
const KEEP: &str = "PRINTFLOOR_TEST_KEEP_DESIGN";
/// Script that describes the page: with `true` by its colours alone.
const LAYOUT: &str = include_str!("design.js");
const FOLDER: &str = "tests/it/staff/design";
/// Looks of the page: name of the file, width of the window in pixels, and whether it is dark, which changes the
/// colours alone.
const LOOKS: [(&str, u32, bool); 3] = [("desk", 1280, false), ("dark", 1280, true), ("phone", 360, false)];
/// Differences that are named.
const MAX_NAMED: usize = 30;

/// Returns the lines that are in one text only: those of the record with `-`, those of the page with `+`.
fn differences(record: &str, page: &str) -> Vec<String> {
    let mut gone: Vec<&str> = record.lines().collect();
    let mut new = Vec::new();
    for line in page.lines() {
        match gone.iter().position(|one| *one == line) {
            Some(at) => {
                gone.remove(at);
            }
            None => new.push(format!("+ {}", line.trim_start())),
        }
    }
    gone.into_iter().map(|line| format!("- {}", line.trim_start())).chain(new).collect()
}

#[test]
fn differences_name_what_one_of_two_layouts_has() {
    let record = "div.panel 10x10\n a.btn 5x5\n a.btn 5x5\n";
    assert!(differences(record, record).is_empty());
    let page = "div.panel 10x12\n a.btn 5x5\n";
    assert_eq!(differences(record, page), ["- div.panel 10x10", "- a.btn 5x5", "+ div.panel 10x12"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_lays_out_every_part_as_it_was_recorded() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let app = App::new(Db::sqlite()).await;
    let cookie = admin(&app).await;
    let tab = browser.open(&app.base, "/design", Some(&cookie)).await;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let is_recorded_anew = std::env::var(KEEP).is_ok_and(|word| word == "1");
    let mut wrong = Vec::new();
    for (name, width, is_dark) in LOOKS {
        browser.window(&tab, width, 900, width < 900).await;
        browser.dark(&tab, is_dark).await;
        browser.load(&tab, &format!("{}/design", app.base)).await;
        let page = browser.eval(&tab, &format!("{LAYOUT}({is_dark})")).await;
        let page = page.as_str().expect("a text");
        assert!(page.lines().count() > 100, "{page}");
        let file = folder.join(format!("{name}.txt"));
        if is_recorded_anew {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, page).unwrap();
            continue;
        }
        let record = std::fs::read_to_string(&file).unwrap_or_default();
        let differences = differences(&record, page);
        if record != page {
            let named: Vec<&str> = differences.iter().take(MAX_NAMED).map(String::as_str).collect();
            wrong.push(format!("{name}, {} lines differ:\n{}", differences.len(), named.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{KEEP}=1 records the layouts anew. {}", wrong.join("\n"));
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}
