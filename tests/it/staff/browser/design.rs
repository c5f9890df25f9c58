//! The page with all design components in a real browser: position, size and colours of each element are compared with
//! the records in `tests/it/staff/design/`. Pictures would differ between machines.

use std::path::PathBuf;

use super::shop::{ADMIN, admin};
use crate::support::browser::Browser;
use crate::support::{App, Db};

/// Environment variable that, if set to 1, makes the test rewrite the recorded layouts.
const KEEP: &str = "PRINTFLOOR_TEST_KEEP_DESIGN";
/// Script that describes the page's layout; with `true`, only its colours.
const LAYOUT: &str = include_str!("design.js");
const FOLDER: &str = "tests/it/staff/design";
/// Variants of the page: name of the file, width of the window in pixels, and whether it is in dark mode, which changes
/// only the colours.
const LOOKS: [(&str, u32, bool); 3] = [("desk", 1280, false), ("dark", 1280, true), ("phone", 360, false)];
/// Maximum number of differences listed in a failure.
const MAX_NAMED: usize = 30;

/// Returns the lines that occur in only one of the texts: lines of the record with `-`, lines of the page with `+`.
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
    let app = App::new(Db::sqlite().with_staff(ADMIN)).await;
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
