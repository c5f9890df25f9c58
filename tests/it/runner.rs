//! Test runner: the summary of `scripts/test`, the guarantees of `.config/nextest.toml`, and the prepared shop that the
//! servers of all tests copy.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::api::count;
use crate::deploy::text_of;
use crate::staff::{OPERATOR, operator};
use crate::support::{App, Db, on_both};

/// Builds a report in the format of cargo-nextest: twelve tests, one of which failed with output that looks like
/// another test.
fn report() -> String {
    let case = |n: u32| {
        let printed = r#"<failure type="test failure">&lt;testcase name="none" time="999"&gt;</failure>"#;
        let failure = if n == 3 { printed } else { "" };
        format!(
            "        <testcase name=\"api::test_{n}\" classname=\"printfloor::it\" timestamp=\"x\" time=\"{n}.250\">\n\
             {failure}\n        </testcase>\n"
        )
    };
    let cases: Vec<String> = (1..=12).map(case).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nextest-run\" tests=\"12\" time=\"78.000\">\n    \
         <testsuite name=\"printfloor::it\" tests=\"12\">\n{}    </testsuite>\n</testsuites>\n",
        cases.concat()
    )
}

#[test]
fn the_slowest_tests_are_named_slowest_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("junit.xml");
    std::fs::write(&file, report()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/slowest-tests");
    let output = Command::new(script).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let expected: Vec<String> = (3..=12).rev().map(|n| format!("{n}.250 s printfloor::it api::test_{n}")).collect();
    assert_eq!(lines, expected);
}

#[test]
fn the_report_of_a_run_is_written_where_it_is_read() {
    let config = text_of(".config/nextest.toml");
    for profile in ["services", "long"] {
        assert!(config.contains(&format!("[profile.{profile}.junit]\npath = \"junit.xml\"")), "{profile}");
    }
    assert!(text_of("scripts/test").contains("target/nextest/$profile/junit.xml"));
    for file in [".ci/run", "CONTRIBUTING.md"] {
        assert!(text_of(file).contains("target/nextest/services/junit.xml"), "{file}");
    }
}

/// Checks that each profile excludes tests by module, and that a run before a release excludes none.
#[test]
fn only_long_variants_are_left_out_and_not_before_a_release() {
    let config: toml_edit::DocumentMut = text_of(".config/nextest.toml").parse().unwrap();
    let filter = |profile: &str| config["profile"][profile]["default-filter"].as_str().unwrap().to_owned();
    assert_eq!(filter("default"), "not test(/(^|::)long::/)");
    assert_eq!(filter("long"), "all()");
    assert!(config["profile"]["services"].get("default-filter").is_none(), "as the default profile");
}

/// Checks that a chaos test takes every thread: a test group alone would let tests from other groups run at the same
/// time.
#[test]
fn nothing_runs_beside_a_test_of_chaos() {
    let config: toml_edit::DocumentMut = text_of(".config/nextest.toml").parse().unwrap();
    let overrides = config["profile"]["default"]["overrides"].as_array_of_tables().unwrap();
    let is_of_chaos = |table: &&toml_edit::Table| table["filter"].as_str().unwrap().contains("chaos");
    let chaos: Vec<&toml_edit::Table> = overrides.iter().filter(is_of_chaos).collect();
    assert_eq!(chaos.len(), 1);
    assert_eq!(chaos[0]["filter"].as_str(), Some("test(/(^|::)chaos(::|_)/)"));
    assert_eq!(chaos[0]["threads-required"].as_str(), Some("num-test-threads"));

    // What the profile of services says of threads comes before that.
    let of_services = config["profile"]["services"]["overrides"].as_array_of_tables().unwrap();
    let first = of_services.iter().find(|table| table.contains_key("threads-required")).unwrap();
    assert_eq!(first["filter"].as_str(), Some("test(/(^|::)chaos(::|_)/)"));
    assert_eq!(first["threads-required"].as_str(), Some("num-test-threads"));
}

/// Checks that at most two browser tests run at a time in each profile, even though a test takes several threads in the
/// services profile.
#[test]
fn two_browsers_run_at_a_time() {
    let config: toml_edit::DocumentMut = text_of(".config/nextest.toml").parse().unwrap();
    let overrides = |profile: &str| config["profile"][profile]["overrides"].as_array_of_tables().unwrap();
    let group = |profile: &str| {
        let filter = |table: &&toml_edit::Table| table["filter"].as_str() == Some("test(/^staff::browser::/)");
        overrides(profile).iter().find(filter).unwrap()["test-group"].as_str().unwrap()
    };
    let max = |profile: &str| config["test-groups"][group(profile)]["max-threads"].as_integer().unwrap();
    let all = |table: &&toml_edit::Table| table["filter"].as_str() == Some("all()");
    let each = overrides("services").iter().find(all).unwrap()["threads-required"].as_integer().unwrap();
    assert_eq!((max("default"), max("services")), (2, 2 * each));
    let threads = config["profile"]["services"]["test-threads"].as_integer().unwrap();
    assert_eq!(threads, 6 * each, "six tests at a time");
}

on_both! {
    async fn copies_of_the_shared_shop_know_nothing_of_each_other(db: Db) {
        let on_file = db.url().is_none();
        let [second, third] = if on_file {
            [Db::sqlite(), Db::sqlite()]
        } else {
            [Db::postgres_with_shop().await.unwrap(), Db::postgres_with_shop().await.unwrap()]
        };
        let (first, second) = (App::new(db).await, App::new(second).await);
        assert_eq!(first.key, second.key, "both are copies of one shop");
        first.material("PLA", 100.0).await;
        let materials = "/api/inventory/materials";
        assert_eq!((count(&first, materials).await, count(&second, materials).await), (1, 0));

        // A copy is what a first start makes.
        let own = App::on(third).with_own_shop().start().await;
        assert_ne!(own.key, second.key, "it made a shop of its own");
        assert_eq!(own.db.migrations(&own).await, second.db.migrations(&second).await);
        assert_eq!(count(&own, "/api/audit-log").await, count(&second, "/api/audit-log").await);
        let modes = [&own, &second].map(|app| app.data().metadata().unwrap().permissions().mode());
        assert_eq!(modes[0], modes[1]);
    }
}

#[tokio::test]
async fn an_operator_of_the_shared_shop_is_as_one_whom_the_test_has_created() {
    let (early, late) = (App::new(Db::sqlite().with_staff(OPERATOR)).await, App::new(Db::sqlite()).await);
    assert_eq!(early.key, late.key, "both are copies of one shop");
    assert!(early.cookie_of(OPERATOR).is_some() && late.cookie_of(OPERATOR).is_none());
    let before = [count(&early, "/api/users").await, count(&late, "/api/users").await];
    assert_eq!(before, [1, 0]);
    for app in [&early, &late] {
        let sam = operator(app).await;
        let sessions = sam.get("/api/auth/sessions").await.expect(200)["sessions"].as_array().unwrap().len();
        assert_eq!((sessions, count(app, "/api/users").await), (1, 1));
        assert_eq!(sam.get("/floor").await.status, 200);
    }
}
