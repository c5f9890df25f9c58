//! Setup of a printer, controlled by a test or a user: model and firmware, spools, quirks.
//!
//! Within the process, it is changed with [`Bambu::change`](super::Bambu::change). Over HTTP, the same fields are
//! available as JSON at `/_sim/setup`, where a POST changes only the fields that it contains.

use serde::{Deserialize, Serialize};

/// Equipment and behaviour of a printer; the default is a healthy X1 with one AMS and four full spools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Firmware family.
    pub model: BambuModel,
    /// Handling of commands from third-party programs.
    pub developer_mode: DeveloperMode,
    /// AMS units, in order of their numbers; tray `t` of unit `a` has the number `4a + t`.
    pub ams: Vec<Ams>,
    /// External spool, if any.
    pub external: Option<Tray>,
    /// Health messages to report.
    pub hms: Vec<Hms>,
    /// Error number that the printer reports in any state; 0 for none.
    pub print_error: u32,
    /// Time after an accepted start during which only its IDs are reported, in milliseconds.
    pub old_state_ms: u64,
    /// Maximum number of connected clients; `None` for no limit.
    pub max_clients: Option<usize>,
    /// Return code for a wrong access code: 5, or 4 on some printers.
    pub refusal: u8,
    /// Makes a start sent during a print cancel that print (A1 mini).
    pub busy_start_cancels: bool,
    /// Makes the printer never report a print that ends very quickly as running.
    pub skips_running: bool,
    /// Makes every start fail during preparation, so that nothing is printed.
    pub rejects_in_setup: bool,
    /// Makes a package left in the root directory start by itself after a power cycle (P1S, A1).
    pub starts_left_files: bool,
    /// Makes the printer use a different key and certificate with the same name, from the next connection on.
    pub other_certificate: bool,
    /// Makes the printer keep sessions open without executing requests or sending reports.
    pub deaf: bool,
    /// Text that the printer sends repeatedly instead of reports and responses; `None` for normal behaviour.
    pub says: Option<String>,
    /// Number of bytes after which uploads are cut off; the bytes received so far remain on the storage.
    pub cut_upload_after: Option<u64>,
    /// Makes the printer never confirm the end of an upload.
    pub silent_after_upload: bool,
    /// Makes the printer reject an upload that would overwrite an existing file.
    pub refuses_overwrite: bool,
    /// Makes the printer accept encrypted data connections but never respond on them (A1 mini).
    pub hangs_encrypted_data: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let colors = ["1B1B22FF", "F4F1E6FF", "FF7A1AFF", "2E6F40FF"];
        let trays = colors.map(|color| Some(Tray { tray_color: color.to_owned(), ..Tray::default() }));
        Self {
            model: BambuModel::X1,
            developer_mode: DeveloperMode::On,
            ams: vec![Ams { trays }],
            external: Some(Tray::default()),
            hms: Vec::new(),
            print_error: 0,
            old_state_ms: 0,
            max_clients: None,
            refusal: 5,
            busy_start_cancels: false,
            skips_running: false,
            rejects_in_setup: false,
            starts_left_files: false,
            other_certificate: false,
            deaf: false,
            says: None,
            cut_upload_after: None,
            silent_after_upload: false,
            refuses_overwrite: false,
            hangs_encrypted_data: false,
        }
    }
}

/// Firmware families, which are distinguished only if their protocols differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BambuModel {
    /// Sends full reports, and indicates in `fun` whether developer mode is on.
    X1,
    /// Reports only changes, and has no `fun`.
    P1,
    /// Behaves like the P1, but has only one AMS.
    A1Mini,
}

impl BambuModel {
    /// Returns whether the model reports only changes.
    pub fn sends_changes(self) -> bool {
        !matches!(self, Self::X1)
    }

    /// Returns the model's name in the response to `get_version`.
    pub(super) fn product_name(self) -> &'static str {
        match self {
            Self::X1 => "X1 Carbon",
            Self::P1 => "P1S",
            Self::A1Mini => "A1 mini",
        }
    }
}

/// Handling of commands from third-party programs. Reports and uploads always work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeveloperMode {
    /// Commands are executed.
    On,
    /// Commands are neither executed nor responded to.
    Dropped,
    /// Commands are not executed, and the response states that their signature is missing.
    Refused,
}

/// AMS unit (automatic material system).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ams {
    /// Trays of the unit; `None` for an empty tray.
    pub trays: [Option<Tray>; 4],
}

/// Spool in a tray, with the fields used in reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tray {
    /// Material, such as `PLA`.
    pub tray_type: String,
    /// Colour as `RRGGBBAA`.
    pub tray_color: String,
    /// Profile that identifies the variant, such as `GFA00` (Basic) or `GFA01` (Matte).
    pub tray_info_idx: String,
    /// Remaining amount in percent; −1 if unknown.
    pub remain: i32,
    /// Spool's RFID tag number; all zeros if the spool has no tag.
    pub tag_uid: String,
}

impl Default for Tray {
    /// Returns a full spool of black PLA Basic without a radio tag.
    fn default() -> Self {
        Self {
            tray_type: "PLA".to_owned(),
            tray_color: "1B1B22FF".to_owned(),
            tray_info_idx: "GFA00".to_owned(),
            remain: 100,
            tag_uid: "0".repeat(16),
        }
    }
}

/// Health message, whose number consists of both parts as four groups of four hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hms {
    /// First two groups of the number.
    pub attr: u32,
    /// Last two groups of the number.
    pub code: u32,
}
