//! Commands sent to a printer. Each is a JSON object with a single group that contains the command. Replies echo the
//! command's sequence number.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::report::ENDING;
use super::slots::FilamentSource;

/// Largest print number; numbers start at 1.
const MAX_SUBTASK: u32 = 0x7FFF_FFFF;

/// Command without a sequence number.
#[derive(Clone, Debug)]
pub(super) struct MqttCommand {
    /// Command group.
    group: &'static str,
    /// Command parameters, in the printer's format.
    members: Value,
    /// `true` if the broker must acknowledge the command. Start commands are sent without acknowledgement, because
    /// resending one after a lost connection would cancel the print.
    pub(super) acknowledged: bool,
}

impl MqttCommand {
    fn of(group: &'static str, members: Value) -> Self {
        Self { group, members, acknowledged: false }
    }

    /// Creates a request for a full report.
    pub(super) fn everything() -> Self {
        Self::of("pushing", json!({"command": "pushall", "version": 1, "push_target": 1}))
    }

    /// Creates a request for the firmware versions of the printer's components.
    pub(super) fn versions() -> Self {
        Self::of("info", json!({"command": "get_version"}))
    }

    /// Creates a `pause`, `resume` or `stop` command for the current print, regardless of its file.
    pub(super) fn print(command: &'static str) -> Self {
        Self { acknowledged: true, ..Self::of("print", json!({"command": command, "param": ""})) }
    }

    /// Creates a command that runs lines of G-code.
    pub(super) fn gcode(lines: &[String]) -> Self {
        let param = lines.iter().fold(String::new(), |all, line| all + line.trim_end() + "\n");
        Self::of("print", json!({"command": "gcode_line", "param": param}))
    }

    /// Creates a command that prints a plate of an uploaded package.
    pub(super) fn start(file: &str, plate: u32, subtask: &str, feed: &FilamentSource) -> Self {
        let name = file.strip_suffix(ENDING).unwrap_or(file);
        Self::of(
            "print",
            json!({
                "command": "project_file",
                "param": format!("Metadata/plate_{plate}.gcode"),
                "url": format!("ftp://{file}"),
                "file": file,
                // None: what the printer would sum up is not known for sure. A package carries sums of its plates in
                // itself.
                "md5": "",
                "bed_type": "auto",
                "timelapse": false,
                "bed_leveling": true,
                "flow_cali": true,
                "vibration_cali": true,
                "layer_inspect": false,
                "use_ams": feed.use_ams,
                "ams_mapping": feed.mapping,
                "subtask_name": name,
                "profile_id": "0",
                "project_id": subtask,
                "subtask_id": subtask,
                "task_id": subtask,
            }),
        )
    }

    /// Serializes the command with the given sequence number.
    pub(super) fn with_number(&self, number: &str) -> Vec<u8> {
        let mut members = self.members.clone();
        if let Some(members) = members.as_object_mut() {
            members.insert("sequence_id".to_owned(), number.into());
        }
        json!({ self.group: members }).to_string().into_bytes()
    }
}

/// Returns the number by which reports identify a print. The number is always the same for a print and is never 0.
pub(super) fn subtask_of(print: &str) -> String {
    let hash = Sha256::digest(print);
    let number = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) & MAX_SUBTASK;
    number.max(1).to_string()
}

/// Returns a file name that the printer accepts: the name becomes part of a URL and is stored on a memory card.
pub(super) fn stored_name(name: &str) -> String {
    let mut stem = name;
    while let Some((shorter, ending)) = stem.len().checked_sub(ENDING.len()).and_then(|at| stem.split_at_checked(at))
        && ending.eq_ignore_ascii_case(ENDING)
    {
        stem = shorter;
    }
    let stem = if stem.is_empty() { "print" } else { stem };
    let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    format!("{}{ENDING}", stem.chars().map(fine).collect::<String>())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_start_says_plate_number_and_slots() {
        let feed = FilamentSource { use_ams: true, mapping: vec![5, -1] };
        let start = MqttCommand::start("JOB-000001_x.gcode.3mf", 2, "77", &feed);
        let sent: Value = bounded_json::read(&start.with_number("20001"), bounded_json::ANSWER).unwrap();
        let of = |name: &str| sent["print"][name].clone();
        assert_eq!(of("sequence_id"), "20001");
        assert_eq!((of("param"), of("url")), (json!("Metadata/plate_2.gcode"), json!("ftp://JOB-000001_x.gcode.3mf")));
        assert_eq!((of("subtask_name"), of("subtask_id")), (json!("JOB-000001_x"), json!("77")));
        assert_eq!((of("use_ams"), of("ams_mapping")), (json!(true), json!([5, -1])));
        assert_eq!((of("bed_leveling"), of("timelapse")), (json!(true), json!(false)), "switches are no numbers");
        assert!(!start.acknowledged && MqttCommand::print("stop").acknowledged);
        let lines = MqttCommand::gcode(&["M104 S0".to_owned(), "M140 S0\n".to_owned()]).with_number("1");
        assert!(String::from_utf8(lines).unwrap().contains(r#""param":"M104 S0\nM140 S0\n""#));
    }

    #[test]
    fn numbers_of_prints_are_theirs_for_ever() {
        assert_eq!(subtask_of("a"), subtask_of("a"));
        let all: std::collections::BTreeSet<_> = (0..1000).map(|n| subtask_of(&format!("print {n}"))).collect();
        assert_eq!(all.len(), 1000);
        assert!(all.iter().all(|number| (1..=i64::from(MAX_SUBTASK)).contains(&number.parse().unwrap())));
    }

    #[test]
    fn names_are_fit_for_a_memory_card() {
        assert_eq!(stored_name("JOB-000001_0193-ab.gcode.3mf"), "JOB-000001_0193-ab.gcode.3mf");
        assert_eq!(stored_name("my vase: v2.GCODE.3MF"), "my_vase__v2.gcode.3mf");
        assert_eq!(stored_name("a.gcode.3mf.gcode.3mf"), "a.gcode.3mf");
    }

    proptest! {
        #[test]
        fn names_have_one_ending_and_nothing_that_an_address_or_a_card_refuses(name in ".{0,40}(\\.gcode\\.3mf){0,3}") {
            let stored = stored_name(&name);
            prop_assert!(stored.ends_with(ENDING) && !stored[..stored.len() - ENDING.len()].ends_with(ENDING));
            prop_assert!(!stored.contains([' ', '/', '\\', ':', '*', '?', '"', '<', '>', '|', '%', '#']));
            prop_assert_eq!(stored_name(&stored), stored.clone());
        }
    }
}
