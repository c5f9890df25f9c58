//! Tests of `printfloor-demo` without a server. `tests/it/demo.rs` tests it with one.
//!
//! These tests also make Cargo build the program together with the tests of the workspace.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

/// Runs the program in its own directory, as on a machine without a server; returns the exit code and the output.
fn alone(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("printfloor-demo");
    let built = env!("CARGO_BIN_EXE_printfloor-demo");
    std::fs::hard_link(built, &program).or_else(|_| std::fs::copy(built, &program).map(drop)).unwrap();
    let ended = Command::new(&program).args(arguments).current_dir(folder.path()).env_clear().output().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
    (ended.status.code(), String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned())
}

#[test]
fn without_a_server_it_says_how_to_get_one_and_makes_nothing() {
    let (code, words) = alone(&["--for", "1"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("--server PATH") && words.contains("cargo run --release -- demo"), "{words}");
}

#[test]
fn wrong_usage_is_2_and_help_is_0() {
    assert_eq!(alone(&["--printers", "0"]).0, Some(2));
    let (code, help) = alone(&["--help"]);
    assert_eq!(code, Some(0), "{help}");
    assert!(help.contains("--base-port"), "{help}");
}
