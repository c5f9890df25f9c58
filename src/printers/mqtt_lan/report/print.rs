//! Identity of the print described by a report. Pure.

use serde_json::{Map, Value};

use super::ENDING;

/// Maximum length of a stored file name, in characters.
const MAX_NAME_CHARS: usize = 200;

fn ends(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// Print, identified as precisely as reports allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::mqtt_lan) struct Print {
    /// ID from the start command; empty or `0` if the printer reports none.
    pub(super) subtask: String,
    /// File name; `None` if the printer reports none.
    pub(super) file: Option<String>,
}

impl Print {
    /// Reads the print's identity from a merged report.
    pub(super) fn of(report: &Map<String, Value>) -> Self {
        let text = |name: &str| match report.get(name) {
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let path = text("gcode_file");
        let base = path.rsplit('/').next().unwrap_or_default();
        let subtask = text("subtask_name");
        let whole = |name: &str| {
            if ends(name, "3mf") || ends(name, "gcode") { name.to_owned() } else { format!("{name}{ENDING}") }
        };
        // A print from a package is told by the plate inside it on some models.
        let in_package = base.is_empty() || base.starts_with("plate_") && ends(base, "gcode");
        let file = if in_package && !subtask.is_empty() { whole(&subtask) } else { base.to_owned() };
        let file: String = file.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
        Self { subtask: text("subtask_id"), file: Some(file).filter(|name| !name.is_empty()) }
    }

    /// Returns whether both values identify the same print. The end of a print may be reported without its ID, in which
    /// case the file names are compared.
    pub(super) fn same(&self, other: &Self) -> bool {
        let is_set = |id: &str| !id.is_empty() && id != "0";
        if is_set(&self.subtask) && is_set(&other.subtask) {
            self.subtask == other.subtask
        } else {
            self.file == other.file
        }
    }
}
