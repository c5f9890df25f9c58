//! The program `chaos`, which treats the server as a black box among private services and checks its promises from
//! outside.

use std::process::{Command, Stdio};

use super::{USUAL_SEED, from_env};
use crate::cli::process::tool;
use crate::support::variables::process_variables;

/// Promises checked, as worded in the report.
const PROMISES: [&str; 12] = [
    "every command got an answer",
    "orders came to rest",
    "acknowledged commands, repeated with their keys, have the same versions",
    "no file was started twice",
    "no stock was invented or lost",
    "the books of the processor and the till are those of the orders",
    "as many parts are good as were ordered",
    "each completed job was printed once",
    "acknowledged sign-offs count",
    "events have no hole and no step twice",
    "the audit log is a whole chain",
    "nothing panicked",
];

/// Runs the program and asserts that it checks every promise and finds none broken.
fn keeps_its_promises(seed: u64, minutes: &str, database: &str) {
    let mut command = Command::new(tool("chaos"));
    command.args(["--seed", &seed.to_string(), "--minutes", minutes, "--database", database]);
    command.env("PRINTFLOOR_BIN", env!("CARGO_BIN_EXE_printfloor")).envs(process_variables());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (story, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{story}\n{errors}", output.status);
    for promise in PROMISES {
        let is_good = |line: &str| line.starts_with("kept    ") && line.contains(promise);
        assert!(story.lines().any(is_good), "{promise}: {story}");
    }
    assert!(story.contains("kill -9 of the server") && story.contains(&format!("--seed {seed} ")), "{story}");
    eprintln!("{story}");
}

#[test]
fn the_black_box_keeps_its_promises_for_twenty_seconds() {
    keeps_its_promises(from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED), "0.34", "sqlite");
}

mod long {
    use super::{USUAL_SEED, from_env, keeps_its_promises};
    use crate::support::database::services_wanted;

    #[test]
    fn the_black_box_keeps_its_promises_for_a_minute_on_sqlite() {
        keeps_its_promises(from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED) + 1, "1", "sqlite");
    }

    #[test]
    fn the_black_box_keeps_its_promises_for_a_minute_on_postgres() {
        let database = if services_wanted() { "postgres" } else { "sqlite" };
        keeps_its_promises(from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED) + 2, "1", database);
    }
}
