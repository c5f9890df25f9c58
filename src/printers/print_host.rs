//! Constants by which uploading slicers recognise a print host; the server presents itself to them as `OctoPrint`.

/// API version reported by the host.
pub const API: &str = "0.1";
/// `OctoPrint` release whose API is implemented.
pub const SERVER: &str = "1.11.0";
/// Text by which a slicer recognises the print host; must start with the host's name.
pub const TEXT: &str = concat!("OctoPrint 1.11.0 (Printfloor ", env!("CARGO_PKG_VERSION"), ")");
/// Instructions for setting up a slicer.
pub const HOW_TO: &str = "Uploads from PrusaSlicer, OrcaSlicer and Cura. Enter `{base}/slicer/{machineType}` as the address of an \
     OctoPrint print host, with an operator's API key.";
