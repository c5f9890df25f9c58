//! Lies of printers: faults other than start, power and network faults, which come and go like the weather.

use fastrand::Rng;
use simulator::PrinterFaults;
use simulator::faults::{Delay, HostDisconnect, SlowUpload};

use crate::faults::FaultKind;

/// Speeds of slow uploads, in bytes per second. A file takes between a few seconds and half a minute.
const UPLOAD_SPEEDS: [u64; 3] = [100, 300, 900];
/// Maximum number of uploads interrupted in one period.
const MOST_CUTS: u32 = 6;
/// Maximum delay of commands and responses, in milliseconds; less than the timeout for a silent printer.
const MAX_DELAY_MS: u64 = 12_000;
/// Maximum number of bytes that are kept of a truncated file.
const MAX_KEPT_BYTES: u64 = 2_000;

/// Temporary fault of a machine.
#[derive(Clone, Copy, Debug)]
pub enum Lie {
    /// The controller has shut down.
    Shutdown,
    /// The server has no connection to the controller.
    Away,
    /// The storage is full.
    DiskFull,
    /// Uploads are received at this speed, in bytes per second.
    SlowUpload(u64),
    /// This many uploads are interrupted.
    CutUploads(u32),
    /// This many bytes of each upload are stored.
    KeptBytes(u64),
    /// Uploads are stored without a response.
    DropAfterUpload,
    /// Every second response is an error.
    ErrorAnswers,
    /// Commands take effect late.
    SlowCommands(Delay),
    /// Responses are delayed.
    LateAnswers(Delay),
    /// The key is rejected.
    WrongKey,
}

impl Lie {
    /// Generates the lie for a kind of fault; `None` for faults of another category.
    pub fn draw(kind: FaultKind, chance: &mut Rng) -> Option<Self> {
        let delay = Delay { after_ms: chance.u64(1_000..MAX_DELAY_MS) };
        Some(match kind {
            FaultKind::FirmwareShutdown => Self::Shutdown,
            FaultKind::ControllerLost => Self::Away,
            FaultKind::DiskFull => Self::DiskFull,
            FaultKind::SlowUpload => Self::SlowUpload(UPLOAD_SPEEDS[chance.usize(..UPLOAD_SPEEDS.len())]),
            FaultKind::CutUpload => Self::CutUploads(chance.u32(1..=MOST_CUTS)),
            FaultKind::KeptBytes => Self::KeptBytes(chance.u64(..MAX_KEPT_BYTES)),
            FaultKind::DropAfterUpload => Self::DropAfterUpload,
            FaultKind::ErrorAnswers => Self::ErrorAnswers,
            FaultKind::SlowCommands => Self::SlowCommands(delay),
            FaultKind::LateAnswers => Self::LateAnswers(delay),
            FaultKind::WrongKey => Self::WrongKey,
            _ => return None,
        })
    }

    /// Switches the lie on or off.
    pub fn apply(self, faults: &mut PrinterFaults, is_on: bool) {
        match self {
            Self::Shutdown => faults.firmware_shutdown = is_on,
            Self::Away => faults.away = is_on.then_some(HostDisconnect::Disconnected),
            Self::DiskFull => faults.disk_full = is_on,
            Self::SlowUpload(speed) => faults.slow_upload = is_on.then_some(SlowUpload { bytes_per_second: speed }),
            Self::CutUploads(count) => faults.cut_uploads = if is_on { count } else { 0 },
            Self::KeptBytes(bytes) => faults.keeps_bytes = is_on.then_some(bytes),
            Self::DropAfterUpload => faults.drop_after_upload = is_on,
            Self::ErrorAnswers => faults.every_second_answer_an_error = is_on,
            Self::SlowCommands(delay) => faults.slow_commands = is_on.then_some(delay),
            Self::LateAnswers(delay) => faults.queries_answer_late = is_on.then_some(delay),
            Self::WrongKey => faults.wrong_key = is_on,
        }
    }
}
