#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{TARGETS, run};

/// Maximum size of an initial input, in bytes.
const MAX_INPUT_BYTES: usize = 64 * 1024;
/// Number of positions at which an input is truncated and altered.
const PLACES: usize = 24;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Returns the names of the entries in a folder.
fn entries(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the inputs of a target.
fn inputs(name: &str) -> Vec<Vec<u8>> {
    let folder = fuzz_folder().join("corpus").join(name);
    entries(&folder).into_iter().map(|file| fs::read(folder.join(file)).unwrap()).collect()
}

/// Runs a target on its inputs, and on each of them truncated and altered at some positions.
fn run_over_inputs(name: &str) {
    let all = inputs(name);
    assert!(all.len() >= 2, "{name} has too few inputs");
    for input in all {
        assert!(input.len() <= MAX_INPUT_BYTES, "an input of {name} has {} bytes", input.len());
        run(name, &input);
        for at in (0..input.len()).step_by(input.len().div_ceil(PLACES).max(1)) {
            run(name, &input[..at]);
            let mut changed = input.clone();
            changed[at] ^= 0x20;
            run(name, &changed);
        }
    }
}

#[test]
fn every_target_reads_its_inputs_and_their_neighbours() {
    for target in &TARGETS {
        run_over_inputs(target.name);
    }
}

#[test]
fn every_target_has_a_program_and_a_folder_of_inputs() {
    let folder = fuzz_folder();
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names.len(), TARGETS.len(), "a target is there twice");
    assert_eq!(entries(&folder.join("corpus")), names);
    let files: BTreeSet<String> = names.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(entries(&folder.join("fuzz_targets")), files);
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let programs = manifest.split("\n[[bin]]\nname = \"").skip(1);
    let programs: Vec<&str> = programs.filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(programs, names.iter().map(String::as_str).collect::<Vec<_>>(), "programs by name");
    for name in names {
        let program = fs::read_to_string(folder.join("fuzz_targets").join(format!("{name}.rs"))).unwrap();
        assert!(program.contains(&format!("fuzzing::run(\"{name}\", data)")), "{name}: {program}");
    }
}

#[test]
#[should_panic(expected = "there is no target nothing")]
fn an_unknown_target_is_a_fault() {
    run("nothing", b"");
}
