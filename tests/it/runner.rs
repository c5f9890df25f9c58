//! How the tests are run: what `scripts/test` says at its end, and what `.config/nextest.toml` promises.

use std::path::Path;
use std::process::Command;

use crate::deploy::text_of;

/// A report as cargo-nextest writes it: twelve tests, one of which failed and printed what looks like another.
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
    assert!(config.contains("[profile.services.junit]\npath = \"junit.xml\""), "{config}");
    for file in ["scripts/test", ".ci/run", "CONTRIBUTING.md"] {
        assert!(text_of(file).contains("target/nextest/services/junit.xml"), "{file}");
    }
}

/// A test group lets tests of other groups run beside its own; only a test that takes every thread runs alone.
#[test]
fn nothing_runs_beside_a_test_of_chaos() {
    let config: toml_edit::DocumentMut = text_of(".config/nextest.toml").parse().unwrap();
    let overrides = config["profile"]["default"]["overrides"].as_array_of_tables().unwrap();
    let is_of_chaos = |table: &&toml_edit::Table| table["filter"].as_str().unwrap().contains("chaos");
    let chaos: Vec<&toml_edit::Table> = overrides.iter().filter(is_of_chaos).collect();
    assert_eq!(chaos.len(), 1);
    assert_eq!(chaos[0]["filter"].as_str(), Some("test(/(^|::)chaos(::|_)/)"));
    assert_eq!(chaos[0]["threads-required"].as_str(), Some("num-test-threads"));
}
