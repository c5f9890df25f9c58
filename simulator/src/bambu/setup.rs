//! What a test, or whoever stands before the printer, sets on it: its model and firmware, its spools, its oddities.
//!
//! In process by [`Bambu::change`](super::Bambu::change); over HTTP the same members travel as JSON through
//! `/_sim/setup`, where a POST changes only the members that it names.

use serde::{Deserialize, Serialize};

/// How a printer is equipped and how it behaves; the default is a healthy X1 with one AMS of four full spools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The family of its firmware.
    pub model: Model,
    /// Whether other programs may command it.
    pub developer_mode: DeveloperMode,
    /// Its automatic material systems, in the order of their numbers; tray `t` of system `a` has the number `4a + t`.
    pub ams: Vec<Ams>,
    /// The spool outside of all systems; `None` if there is none.
    pub external: Option<Tray>,
    /// What its health management reports.
    pub hms: Vec<Hms>,
    /// The error that it reports whatever it does; 0 for none.
    pub print_error: u32,
    /// How long a start that was accepted shows nothing but its ids, in milliseconds.
    pub old_state_ms: u64,
    /// How many clients may be connected at once; `None` is no limit.
    pub max_clients: Option<usize>,
    /// The code with which a wrong access code is refused: 5, or 4 on some.
    pub refusal: u8,
    /// A start that is sent while it prints cancels the print (A1 mini).
    pub busy_start_cancels: bool,
    /// A print that is over at once is never reported as running.
    pub skips_running: bool,
    /// Every start fails while it is being prepared; nothing is printed.
    pub rejects_in_setup: bool,
    /// A package that was left in the root folder starts by itself after a power cycle (P1S, A1).
    pub starts_left_files: bool,
    /// It has another key and certificate, of the same name, from the next connection on.
    pub other_certificate: bool,
    /// Sessions stay open, and neither requests are carried out nor reports sent.
    pub deaf: bool,
    /// It says this text again and again, whatever it is asked, instead of reports and answers.
    pub says: Option<String>,
    /// Uploads break off after so many bytes, which stay on the storage.
    pub cut_upload_after: Option<u64>,
    /// The end of an upload is never confirmed.
    pub silent_after_upload: bool,
    /// An upload onto a file that exists is refused.
    pub refuses_overwrite: bool,
    /// Encrypted data channels are accepted and never answered (A1 mini).
    pub hangs_encrypted_data: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let colors = ["1B1B22FF", "F4F1E6FF", "FF7A1AFF", "2E6F40FF"];
        let trays = colors.map(|color| Some(Tray { tray_color: color.to_owned(), ..Tray::default() }));
        Self {
            model: Model::X1,
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

/// The families of firmware, as far as they differ on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Reports everything each time, and says in `fun` whether the developer mode is on.
    X1,
    /// Reports only what has changed, and has no `fun`.
    P1,
    /// As the P1, with a single material system.
    A1Mini,
}

impl Model {
    /// Whether it reports only what has changed.
    pub fn sends_changes(self) -> bool {
        !matches!(self, Self::X1)
    }

    /// Its name in the answer to `get_version`.
    pub(super) fn product_name(self) -> &'static str {
        match self {
            Self::X1 => "X1 Carbon",
            Self::P1 => "P1S",
            Self::A1Mini => "A1 mini",
        }
    }
}

/// Whether commands of other programs are carried out. Reports and uploads work in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeveloperMode {
    /// They are.
    On,
    /// They are not, and not answered.
    Dropped,
    /// They are not, and the answer says that their signature is missing.
    Refused,
}

/// An automatic material system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ams {
    /// Its four trays; `None` is an empty one.
    pub trays: [Option<Tray>; 4],
}

/// A spool, in the words of the reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tray {
    /// The material, such as `PLA`.
    pub tray_type: String,
    /// Its colour as `RRGGBBAA`.
    pub tray_color: String,
    /// The profile that tells variants apart, such as `GFA00` (Basic) and `GFA01` (Matte).
    pub tray_info_idx: String,
    /// What is left, in percent; −1 is unknown.
    pub remain: i32,
    /// The number of its radio tag; zeros without one.
    pub tag_uid: String,
}

impl Default for Tray {
    /// A full spool of black PLA Basic without a tag.
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

/// One message of the health management: its number is both parts as four groups of four hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hms {
    /// The first two groups.
    pub attr: u32,
    /// The last two groups.
    pub code: u32,
}
