//! Operations that a printer type may lack.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Optional operation of an adapter. Operations that are not listed here are supported by every printer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// List of past prints, `Adapter::history`.
    History,
    /// Deletion of a file on the printer, `Adapter::delete_file`.
    DeleteFile,
    /// List of all files on the printer, `Adapter::list_files`.
    ListFiles,
    /// Execution of G-code commands, `Adapter::run_gcode`.
    RunGcode,
    /// Restart of the firmware after a shutdown, `Adapter::restart_firmware`.
    RestartFirmware,
    /// Homing of all axes, `Adapter::home`.
    Home,
    /// Information about the printer's server, `Adapter::server_info`.
    ServerInfo,
    /// Information about the firmware, `Adapter::printer_info`.
    PrinterInfo,
    /// List of cameras, `Adapter::webcams`.
    Webcams,
    /// Information about the computer that the printer's server runs on, `Adapter::system_info`.
    SystemInfo,
    /// Immediate shutdown of motors and heaters, `Adapter::emergency_stop`.
    EmergencyStop,
}

impl Operation {
    /// All optional operations.
    pub const ALL: [Self; 11] = [
        Self::History,
        Self::DeleteFile,
        Self::ListFiles,
        Self::RunGcode,
        Self::RestartFirmware,
        Self::Home,
        Self::ServerInfo,
        Self::PrinterInfo,
        Self::Webcams,
        Self::SystemInfo,
        Self::EmergencyStop,
    ];
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::History => "print history",
            Self::DeleteFile => "deleting files",
            Self::ListFiles => "listing files",
            Self::RunGcode => "running G-code",
            Self::RestartFirmware => "restarting the firmware",
            Self::Home => "homing",
            Self::ServerInfo => "server info",
            Self::PrinterInfo => "printer info",
            Self::Webcams => "webcams",
            Self::SystemInfo => "system info",
            Self::EmergencyStop => "emergency stops",
        })
    }
}
