//! What slicers look for when they upload to a print host: the server itself then speaks as one `OctoPrint`.

/// Version of the host's API.
pub const API: &str = "0.1";
/// The release of the host whose API is spoken.
pub const SERVER: &str = "1.11.0";
/// What a slicer recognises the host by: it must begin with the host's name.
pub const TEXT: &str = concat!("OctoPrint 1.11.0 (Printfloor ", env!("CARGO_PKG_VERSION"), ")");
/// How a person sets a slicer up.
pub const HOW_TO: &str = "Uploads from PrusaSlicer, OrcaSlicer and Cura. Enter `{base}/slicer/{machineType}` as the address of a print host \
     of the type OctoPrint, with an API key of an operator.";
