//! The program `chaos` as a person runs it: its messages when it cannot run, and that stopping it leaves nothing
//! behind. `chaos::program` runs it to completion.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use super::process::{Place, tool};
use crate::support::variables::process_variables;

/// Builds the command that runs the program, with a folder for temporary files.
fn program(place: &Place) -> Command {
    let mut command = Command::new(tool("chaos"));
    command.current_dir(place.path()).env("TMPDIR", place.path()).envs(process_variables());
    command.env("PRINTFLOOR_BIN", env!("CARGO_BIN_EXE_printfloor"));
    command.args(["--database", "sqlite", "--minutes", "5"]).stdin(Stdio::null());
    command
}

/// Lists the temporary folders that are left.
fn folders(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("printfloor-chaos-")).collect()
}

#[test]
fn without_a_server_it_says_how_to_build_one() {
    let place = Place::new();
    let ended = program(&place).env("PRINTFLOOR_BIN", place.path().join("printfloor")).output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{words}");
    assert!(words.contains("`cargo build --bin printfloor`") && words.contains("PRINTFLOOR_BIN"), "{words}");
    assert_eq!(folders(&place), Vec::<String>::new());
}

#[test]
fn stopped_in_the_middle_it_ends_all_that_it_started() {
    let place = Place::new();
    let mut run = program(&place).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut story = Vec::new();
    for line in lines.by_ref() {
        story.push(line);
        if story.last().unwrap().contains("customers begin to buy") {
            break;
        }
    }
    let signal = Command::new("kill").args(["-s", "INT", &run.id().to_string()]).status().unwrap();
    assert!(signal.success(), "{story:?}");
    story.extend(lines);
    let status = run.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{story:?}");
    assert_eq!(folders(&place), Vec::<String>::new());
    let ready = story.iter().find(|line| line.contains("the server is ready on")).unwrap();
    let address = ready.split("http://").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(TcpStream::connect(address).is_err(), "the server has ended: {ready}");
}
