//! Camera configured by an operator for a printer, in place of any camera that the printer reports.

use serde::{Deserialize, Serialize};
use url::Url;

use super::denied_host;
use crate::failure_detection::keeps_secret;

/// Camera that films a printer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CameraFields {
    /// URL of a still image or a video stream. It must not contain a secret, because it is displayed.
    pub snapshot_url: String,
    /// Credentials as `user:password`, encrypted with `SECRETS_KEY`; empty if the camera needs none. Never part of an
    /// API response.
    pub encrypted_credentials: String,
}

/// Parses and validates a camera's image URL. The error message continues a sentence that begins with the field's name.
pub fn check_camera_url(text: &str) -> Result<Url, String> {
    let no_url = || "must be an http or https URL, such as http://192.168.1.20/webcam/?action=snapshot".to_owned();
    let url = Url::parse(text).map_err(|_| no_url())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(no_url());
    }
    if let Some(range) = denied_host(&url) {
        return Err(format!("must be the address of a camera, not {range}"));
    }
    match keeps_secret(text) {
        Some(_) => Err("must not contain a user name, password or key; use `credentials` for them".to_owned()),
        None => Ok(url),
    }
}

/// Returns whether credentials for one camera URL may be sent to the other, that is, whether both have the same server
/// and scheme.
pub fn same_camera(one: &str, other: &str) -> bool {
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    one == other || origin(one).is_some_and(|one| Some(one) == origin(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_without_secrets_outside_metadata_services_are_cameras() {
        for good in
            ["http://192.168.1.20/webcam/?action=snapshot", "https://cam.lan:8443/snap.jpg", "http://[fd00::1]/"]
        {
            assert!(check_camera_url(good).is_ok(), "{good}");
        }
        for bad in [
            "192.168.1.20/snap",
            "rtsp://192.168.1.20/live",
            "file:///etc/passwd",
            "http://169.254.169.254/latest",
            "http://[::ffff:169.254.169.254]/latest",
            "http://metadata.google.internal/",
            "http://ann:secret@192.168.1.20/",
            "http://192.168.1.20/cgi?user=ann&password=secret",
            "",
        ] {
            assert!(check_camera_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn credentials_are_for_one_server() {
        assert!(same_camera("http://cam/one", "http://cam:80/two?x=1"));
        assert!(!same_camera("http://cam/", "https://cam/"));
        assert!(!same_camera("http://cam/", "http://cam:8080/"));
        assert!(!same_camera("http://cam/", "nonsense"));
    }
}
