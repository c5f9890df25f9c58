//! Sources of a printer's camera images: a URL configured by an operator, or one reported by the printer.

use std::fmt;
use std::sync::Weak;

use reqwest::Url;

use crate::adapter::Webcam;
use crate::cameras::CameraFault;
use crate::connection::PrinterConnection;
use domain::printer::denied_host;

/// Source of a printer's camera images.
#[derive(Clone)]
pub enum CameraSource {
    /// Configured by an operator.
    Set {
        /// URL of the image.
        url: String,
        /// Credentials as `user:password`; empty if the camera has none.
        credentials: String,
    },
    /// Reported by the printer.
    Told {
        /// Connection to the printer, held weakly because it lives as long as the printer is watched, not as long as
        /// its camera is viewed.
        connection: Weak<PrinterConnection>,
        /// Printer's own host; `None` if unknown.
        host: Option<String>,
    },
}

impl PartialEq for CameraSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Set { url, credentials }, Self::Set { url: other, credentials: theirs }) => {
                (url, credentials) == (other, theirs)
            }
            (Self::Told { connection, .. }, Self::Told { connection: other, .. }) => Weak::ptr_eq(connection, other),
            _ => false,
        }
    }
}

impl fmt::Debug for CameraSource {
    /// Formats the source without its contents, which must not appear in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Set { .. }) { "Set" } else { "Told" })
    }
}

/// Camera reported by a printer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReportedCamera {
    /// URL without credentials.
    pub(super) url: Url,
    /// Credentials (`user:password`) contained in the URL.
    pub(super) credentials: Option<String>,
}

/// Chooses the first camera that may be called. Only cameras on the printer's own host are accepted, because a printer
/// can be made to report any address; other cameras must be configured by an operator.
pub(crate) fn choose(webcams: Vec<Webcam>, host: Option<&str>) -> Result<ReportedCamera, CameraFault> {
    let cameras = webcams.into_iter().filter(|camera| camera.enabled);
    // A snapshot for the printer's own server may be told by an address that means that server itself.
    let urls: Vec<Url> = cameras
        .flat_map(|camera| [camera.snapshot_url, camera.stream_url])
        .flatten()
        .filter_map(|url| Url::parse(&url).ok())
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .collect();
    let own = urls.iter().find(|url| url.host_str() == host && host.is_some() && denied_host(url).is_none());
    match own {
        Some(url) => Ok(without_credentials(url.clone())),
        None if urls.is_empty() => Err(CameraFault::None("the printer has no camera with snapshots".to_owned())),
        None => {
            let words = "the printer reports a camera on a different host; set `camera` to its address";
            Err(CameraFault::None(words.to_owned()))
        }
    }
}

/// Decodes the percent-encoding in part of a URL.
fn read(text: &str) -> String {
    // What forms write in another way than addresses.
    let text = text.replace('+', "%2B").replace('&', "%26");
    let form = format!("={text}");
    url::form_urlencoded::parse(form.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Separates the user name and password from a URL.
fn without_credentials(mut url: Url) -> ReportedCamera {
    let named = !url.username().is_empty();
    let credentials = named.then(|| format!("{}:{}", read(url.username()), read(url.password().unwrap_or_default())));
    // Cannot fail: the address has a host.
    let _ = (url.set_username(""), url.set_password(None));
    ReportedCamera { url, credentials }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn camera(snapshot: Option<&str>, stream: Option<&str>) -> Webcam {
        let [snapshot_url, stream_url] = [snapshot, stream].map(|url| url.map(str::to_owned));
        Webcam { name: "c".to_owned(), stream_url, snapshot_url, enabled: true }
    }

    #[test]
    fn a_printer_leads_to_no_other_host() {
        let host = Some("192.168.1.20");
        let chosen = |webcams| choose(webcams, host).map(|spot| spot.url.to_string());
        let own = "http://192.168.1.20:8080/?action=snapshot";
        assert_eq!(chosen(vec![camera(Some(own), None)]), Ok(own.to_owned()));
        // What a print server fetches from itself is no address of ours; the stream that it shows to people is.
        let stream = "http://192.168.1.20/webcam/?action=stream";
        assert_eq!(chosen(vec![camera(Some("http://127.0.0.1:8080/s"), Some(stream))]), Ok(stream.to_owned()));
        for elsewhere in ["http://192.168.1.1/reboot", "http://127.0.0.1/", "http://169.254.169.254/latest"] {
            let refused = chosen(vec![camera(Some(elsewhere), None)]).unwrap_err();
            assert!(matches!(refused, CameraFault::None(words) if words.contains("a different host")), "{elsewhere}");
        }
        for nothing in [
            vec![],
            vec![camera(Some("rtsp://192.168.1.20/"), None)],
            vec![Webcam { enabled: false, ..camera(Some(own), None) }],
        ] {
            assert!(matches!(chosen(nothing), Err(CameraFault::None(words)) if words.contains("no camera")));
        }
        assert!(choose(vec![camera(Some("http://169.254.1.1/"), None)], Some("169.254.1.1")).is_err());
    }

    #[test]
    fn credentials_in_an_address_are_taken_out_of_it() {
        let spot = choose(vec![camera(Some("http://ann:se%2Fc+r&et@cam/snap"), None)], Some("cam")).unwrap();
        assert_eq!((spot.url.as_str(), spot.credentials.as_deref()), ("http://cam/snap", Some("ann:se/c+r&et")));
    }
}
