//! Faults of a virtual printer, which can be switched on and off while it is running.
//!
//! Within the process, they are set with [`VirtualPrinter::set_faults`](crate::VirtualPrinter::set_faults). Over HTTP,
//! the same fields are available as JSON at `/_sim/faults`, where a POST changes only the fields that it contains, and
//! `null` switches a fault off. Every fault actually occurs on the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Faults of one printer; the default is a healthy printer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrinterFaults {
    /// Starts receive an error response and are not executed.
    pub refuse_start: bool,
    /// Starts receive a success response but are not executed.
    pub accept_but_never_start: bool,
    /// Starts receive a success response and are executed after the given delay, provided that the file still exists.
    pub start_late: Option<Delay>,
    /// Connections are accepted, but requests are neither executed nor responded to.
    pub hang: bool,
    /// Number of HTTP requests that are still to be lost: they get no response, while others do. Each lost one reduces
    /// it by one.
    pub lost_requests: u32,
    /// Uploads are rejected because the storage is full.
    pub disk_full: bool,
    /// Uploads are received at the given speed.
    pub slow_upload: Option<SlowUpload>,
    /// Only the given number of bytes of an upload is stored, even though the upload receives a success response.
    pub keeps_bytes: Option<u64>,
    /// Overlapping uploads share one temporary file with those to other printers on this computer that have this fault.
    /// Each upload writes at its own position, as happens with Moonraker if they start in the same second.
    pub shared_upload_file: bool,
    /// The connection closes without a response after an upload has been stored (and started, if the upload requests
    /// it).
    pub drop_after_upload: bool,
    /// Number of uploads whose connections are still to be cut as soon as they begin. Each cut reduces it by one.
    pub cut_uploads: u32,
    /// Open connections are cut, and new ones are closed as soon as they send a request.
    pub disconnect: bool,
    /// The network is cut as soon as a start is accepted, possibly before the response: `disconnect` switches on. This
    /// fault occurs once and then switches itself off.
    pub disconnect_at_start: bool,
    /// The printer loses power at the given point of a print, and comes back without the print. This fault occurs once
    /// and then switches itself off.
    pub reboot_at: Option<RebootAt>,
    /// The print fails by itself at the given point. This fault occurs once and then switches itself off.
    pub fail_at: Option<FailAt>,
    /// The printer's key has been changed, so that every key is rejected.
    pub wrong_key: bool,
    /// After a finished print, the printer falsely reports for a while that it is printing again, and then finishes
    /// again.
    pub duplicate_finish: Option<Echo>,
    /// The controller board has shut down, and shuts down again after every restart.
    pub firmware_shutdown: bool,
    /// Every second request receives error 500; every second one of those is executed nevertheless.
    pub every_second_answer_an_error: bool,
    /// Delay before pause, resume and cancel take effect.
    pub slow_commands: Option<Delay>,
    /// Delay before the response to an emergency stop, which itself takes effect immediately.
    pub stop_answers_late: Option<Delay>,
    /// Delay before the response to a GET request, which shows the state at the time of the request.
    pub queries_answer_late: Option<Delay>,
    /// The host has lost the connection to its printer (Klipper stopped, or serial cable unplugged).
    pub away: Option<HostDisconnect>,
    /// Times, durations, temperatures, lengths and sizes are reported as 1e300, as by faulty plug-ins.
    pub absurd_numbers: bool,
}

/// Delay before an effect or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// Delay in milliseconds of real time, independent of the printer's speed.
    pub after_ms: u64,
}

/// Slow upload speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlowUpload {
    /// Bytes received per second, at least 1.
    pub bytes_per_second: u64,
}

impl Default for SlowUpload {
    /// Returns the speed of a printer with a weak Wi-Fi signal: 75 KB/s.
    fn default() -> Self {
        Self { bytes_per_second: 75_000 }
    }
}

/// Point at which a printer loses power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RebootAt {
    /// Print progress at this point, from 0 to 1.
    pub progress: f64,
    /// `true` if the printer's history omits the print instead of recording it as interrupted.
    #[serde(default)]
    pub forget: bool,
}

/// Point at which a print fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailAt {
    /// Print progress at this point, from 0 to 1.
    pub progress: f64,
}

/// Delay and duration of a false report that a printer that has finished is printing again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Echo {
    /// Delay after the end of the print, in milliseconds.
    pub after_ms: u64,
    /// Duration of the false report, in milliseconds.
    pub for_ms: u64,
}

impl Default for Echo {
    /// Returns a delay and a duration that are long enough to be observed by polling every second or two.
    fn default() -> Self {
        Self { after_ms: 2_500, for_ms: 2_500 }
    }
}

/// State in which the host has no connection to its printer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostDisconnect {
    /// The printer has never been connected since the host booted.
    NeverConnected,
    /// The printer was connected and then lost.
    Disconnected,
}

/// Reason why a change of faults is rejected.
#[derive(Debug, thiserror::Error)]
pub enum FaultsError {
    /// The change is not an object of faults, or it has an unknown field or a value of the wrong type.
    #[error("invalid faults: {0}")]
    Shape(#[from] serde_json::Error),
    /// A number is outside its range.
    #[error("{0} must be {1}")]
    Range(&'static str, &'static str),
}

impl PrinterFaults {
    /// Returns the faults with the fields in `change` replaced; `null` switches a fault off.
    pub fn merged(&self, change: &Map<String, Value>) -> Result<Self, FaultsError> {
        let mut all = match serde_json::to_value(self)? {
            Value::Object(all) => all,
            _ => Map::new(),
        };
        for (name, value) in change {
            if value.is_null() && all.contains_key(name) {
                all.remove(name);
            } else {
                all.insert(name.clone(), value.clone());
            }
        }
        let faults: Self = serde_json::from_value(Value::Object(all))?;
        faults.check()?;
        Ok(faults)
    }

    fn check(&self) -> Result<(), FaultsError> {
        let share = |progress: f64| (0.0..=1.0).contains(&progress);
        if self.reboot_at.is_some_and(|at| !share(at.progress)) {
            return Err(FaultsError::Range("reboot_at.progress", "from 0 to 1"));
        }
        if self.fail_at.is_some_and(|at| !share(at.progress)) {
            return Err(FaultsError::Range("fail_at.progress", "from 0 to 1"));
        }
        if self.slow_upload.is_some_and(|slow| slow.bytes_per_second == 0) {
            return Err(FaultsError::Range("slow_upload.bytes_per_second", "at least 1"));
        }
        Ok(())
    }
}

/// Value reported for every measurement when [`PrinterFaults::absurd_numbers`] is set.
const ABSURD: f64 = 1e300;

/// Fields of OctoPrint's responses that contain measurements even though their values are integers.
const MEASURED: [&str; 7] = ["printTime", "printTimeLeft", "estimatedPrintTime", "filepos", "size", "date", "time"];

/// Replaces measurements with `ABSURD`: all fractional numbers, and integers in fields known to contain measurements.
pub fn make_absurd(answer: &mut Value) {
    match answer {
        Value::Number(number) if number.is_f64() => *answer = ABSURD.into(),
        Value::Array(items) => items.iter_mut().for_each(make_absurd),
        Value::Object(members) => {
            for (name, value) in members {
                if value.is_number() && MEASURED.contains(&name.as_str()) {
                    *value = ABSURD.into();
                } else {
                    make_absurd(value);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn merge(faults: &PrinterFaults, change: &str) -> Result<PrinterFaults, FaultsError> {
        let Value::Object(change) = serde_json::from_str(change).unwrap() else { panic!("an object") };
        faults.merged(&change)
    }

    #[test]
    fn a_change_touches_only_what_it_names() {
        let first = merge(&PrinterFaults::default(), r#"{"hang": true, "slow_upload": {}}"#).unwrap();
        assert_eq!(first.slow_upload.unwrap().bytes_per_second, 75_000);
        let second = merge(&first, r#"{"hang": null, "start_late": {"after_ms": 20}}"#).unwrap();
        assert!(!second.hang && second.slow_upload.is_some());
        assert_eq!(second.start_late, Some(Delay { after_ms: 20 }));
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        assert!(merge(&PrinterFaults::default(), r#"{"hangs": true}"#).unwrap_err().to_string().contains("hangs"));
        assert!(merge(&PrinterFaults::default(), r#"{"reboot_at": {"progress": 2}}"#).is_err());
        assert!(merge(&PrinterFaults::default(), r#"{"slow_upload": {"bytes_per_second": 0}}"#).is_err());
    }
}
