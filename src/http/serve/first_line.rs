//! Classifies a connection's first request by the beginning of its first line.

/// Maximum number of bytes of the line read before it is classified; the recognised lines are shorter.
pub const MAX_LINE_BYTES: usize = 512;

/// Class of the first request, determined from its first line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstLine {
    /// More bytes are needed, because the line may still become one of those recognised.
    Incomplete,
    /// `GET /healthz` or `GET /readyz`.
    HealthCheck,
    /// Emergency stop: `POST /api/printers/{id}/emergency-stop`, or the form on a page when scripts are disabled,
    /// `POST /floor/printers/{id}/emergency-stop`.
    EmergencyStop,
    /// Anything else, including bytes that are not HTTP.
    Other,
}

const HEALTH: [&str; 4] = ["GET /healthz", "GET /readyz", "HEAD /healthz", "HEAD /readyz"];
const PRINTERS: [&str; 2] = ["POST /api/printers/", "POST /floor/printers/"];
const STOP: &str = "/emergency-stop";

impl FirstLine {
    /// Classifies the bytes received so far.
    pub fn of(bytes: &[u8]) -> Self {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            let begins = |expected: &str| {
                let (bytes, expected) = (bytes, expected.as_bytes());
                bytes.starts_with(expected) || expected.starts_with(bytes)
            };
            let possible = bytes.len() < MAX_LINE_BYTES && HEALTH.into_iter().chain(PRINTERS).any(begins);
            return if possible { Self::Incomplete } else { Self::Other };
        };
        let Ok(line) = std::str::from_utf8(&bytes[..end]) else { return Self::Other };
        let Some((target, _version)) = line.trim_end().rsplit_once(" HTTP/1.") else { return Self::Other };
        let target = target.split('?').next().unwrap_or_default();
        if HEALTH.contains(&target) {
            return Self::HealthCheck;
        }
        let printer =
            PRINTERS.iter().find_map(|path| target.strip_prefix(path)).and_then(|rest| rest.strip_suffix(STOP));
        if printer.is_some_and(|id| !id.is_empty() && !id.contains('/')) { Self::EmergencyStop } else { Self::Other }
    }
}

#[cfg(test)]
mod tests {
    use super::FirstLine as F;
    use super::*;

    #[test]
    fn health_checks_and_emergency_stops_are_told_from_the_rest() {
        let stop = "POST /api/printers/01890a5d-ac96-774b-bcce-b302099a8069/emergency-stop HTTP/1.1\r\nhost: x";
        for (text, expected) in [
            ("GET /healthz HTTP/1.1\r\n", F::HealthCheck),
            ("GET /readyz?verbose HTTP/1.0\r\nhost: x\r\n\r\n", F::HealthCheck),
            ("HEAD /readyz HTTP/1.1\r\n", F::HealthCheck),
            (stop, F::EmergencyStop),
            ("POST /floor/printers/a/emergency-stop HTTP/1.1\r\n", F::EmergencyStop),
            ("", F::Incomplete),
            ("GET /hea", F::Incomplete),
            ("POST /api/printers/0189", F::Incomplete),
            ("GET /api", F::Other),
            ("GET /healthzz HTTP/1.1\r\n", F::Other),
            ("POST /api/printers/a/b/emergency-stop HTTP/1.1\r\n", F::Other),
            ("POST /api/printers/a/pause HTTP/1.1\r\n", F::Other),
            ("\r\nGET /healthz HTTP/1.1\r\n", F::Other),
            ("GET /healthz\r\n", F::Other),
            ("\u{fffd}\n", F::Other),
        ] {
            assert_eq!(FirstLine::of(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(FirstLine::of("POST /api/printers/".repeat(40).as_bytes()), F::Other, "too long");
    }

    #[test]
    fn the_line_is_told_the_same_however_it_is_cut() {
        let line = b"POST /api/printers/0189/emergency-stop HTTP/1.1\r\n";
        for end in 0..line.len() {
            assert_eq!(FirstLine::of(&line[..end]), F::Incomplete, "{end}");
        }
    }
}
