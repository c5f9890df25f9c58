//! Formats of G-code files.

use serde::{Deserialize, Serialize};

/// Format of a G-code file. Printers recognise it by the file name extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum GcodeForm {
    /// G-code as plain text.
    #[default]
    #[serde(rename = "gcode")]
    Text,
    /// Binary G-code with checksums.
    #[serde(rename = "bgcode")]
    Binary,
    /// 3MF package that contains sliced plates.
    #[serde(rename = "gcode.3mf")]
    Package,
}

impl GcodeForm {
    /// Returns the file extension for this format, without the leading dot.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Text => "gcode",
            Self::Binary => "bgcode",
            Self::Package => "gcode.3mf",
        }
    }
}
