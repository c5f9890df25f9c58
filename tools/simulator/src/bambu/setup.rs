//! Setup of a printer that a test or a user controls: its model and firmware, its spools, its quirks.
//!
//! In process it is changed with [`Bambu::change`](super::Bambu::change); over HTTP the same members are JSON at
//! `/_sim/setup`, where a POST changes only the members that it contains.

use serde::{Deserialize, Serialize};

/// Equipment and behaviour of a printer; the default is a healthy X1 with one AMS of four full spools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Firmware family.
    pub model: BambuModel,
    /// Handling of commands from other programs.
    pub developer_mode: DeveloperMode,
    /// AMS units in the order of their numbers; tray `t` of unit `a` has the number `4a + t`.
    pub ams: Vec<Ams>,
    /// External spool; `None` if there is none.
    pub external: Option<Tray>,
    /// Reported health messages.
    pub hms: Vec<Hms>,
    /// Error that it reports in any state; 0 for none.
    pub print_error: u32,
    /// Time after an accepted start during which only its ids are reported, in milliseconds.
    pub old_state_ms: u64,
    /// Maximum number of connected clients; `None` is no limit.
    pub max_clients: Option<usize>,
    /// Return code for a wrong access code: 5, or 4 on some.
    pub refusal: u8,
    /// Makes a start that is sent during a print cancel the print (A1 mini).
    pub busy_start_cancels: bool,
    /// Never reports a print that ends at once as running.
    pub skips_running: bool,
    /// Makes every start fail during preparation; nothing is printed.
    pub rejects_in_setup: bool,
    /// Makes a package that was left in the root folder start by itself after a power cycle (P1S, A1).
    pub starts_left_files: bool,
    /// Uses another key and certificate with the same name, from the next connection on.
    pub other_certificate: bool,
    /// Keeps sessions open without executing requests or sending reports.
    pub deaf: bool,
    /// Text that it sends repeatedly instead of reports and responses.
    pub says: Option<String>,
    /// Number of bytes after which uploads break off; these bytes stay on the storage.
    pub cut_upload_after: Option<u64>,
    /// Never confirms the end of an upload.
    pub silent_after_upload: bool,
    /// Rejects an upload onto an existing file.
    pub refuses_overwrite: bool,
    /// Accepts encrypted data channels and never answers on them (A1 mini).
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

/// Firmware families, as far as they differ in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BambuModel {
    /// Sends full reports, and indicates in `fun` whether the developer mode is on.
    X1,
    /// Reports only changes, and has no `fun`.
    P1,
    /// Like the P1, with a single AMS.
    A1Mini,
}

impl BambuModel {
    /// Returns whether it reports only changes.
    pub fn sends_changes(self) -> bool {
        !matches!(self, Self::X1)
    }

    /// Returns its name in the response to `get_version`.
    pub(super) fn product_name(self) -> &'static str {
        match self {
            Self::X1 => "X1 Carbon",
            Self::P1 => "P1S",
            Self::A1Mini => "A1 mini",
        }
    }
}

/// Handling of commands from other programs. Reports and uploads work in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeveloperMode {
    /// Commands are executed.
    On,
    /// Commands are neither executed nor answered.
    Dropped,
    /// Commands are not executed, and the response says that their signature is missing.
    Refused,
}

/// AMS unit (automatic material system).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ams {
    /// Trays of the unit; `None` is an empty one.
    pub trays: [Option<Tray>; 4],
}

/// Spool in a tray, with the members of the reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tray {
    /// Material, such as `PLA`.
    pub tray_type: String,
    /// Colour as `RRGGBBAA`.
    pub tray_color: String,
    /// Profile that identifies the variant, such as `GFA00` (Basic) and `GFA01` (Matte).
    pub tray_info_idx: String,
    /// What is left, in percent; −1 is unknown.
    pub remain: i32,
    /// The number of its radio tag; zeros without one.
    pub tag_uid: String,
}

impl Default for Tray {
    /// Returns a full spool of black PLA Basic without a tag.
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

/// Health message: its number is both parts as four groups of four hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hms {
    /// First two groups.
    pub attr: u32,
    /// Last two groups.
    pub code: u32,
}
