//! Fetches one image from a camera. If the camera sends a stream, only its first image is read and the connection is
//! then closed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{self, HeaderMap};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::frame::{FirstFrame, PictureKind, first_frame};
use super::place::{CameraSource, ReportedCamera, choose};
use super::{BudgetedBytes, CameraFault, MAX_PICTURE_BYTES, Picture};
use crate::wire::digest::Digest;
use domain::printer::check_camera_url;

/// Time for which a camera address reported by a printer is reused.
const TOLD_TIME: Duration = Duration::from_secs(60);
/// Media type of an image stream.
const STREAM_MEDIA: &str = "multipart/x-mixed-replace";

/// Access to one camera, including the authentication state learned from its responses.
pub(super) struct CameraAccess {
    pub(super) source: CameraSource,
    /// Camera URL and the time at which it was determined. The printer is queried for the URL again after a while and
    /// after a failure.
    spot: Mutex<Option<(Instant, Arc<CameraTarget>)>>,
}

/// Camera URL with the credentials to send.
struct CameraTarget {
    url: Url,
    /// User name and password for HTTP Basic authentication.
    basic: Option<(String, String)>,
    digest: Option<Digest>,
    /// `true` once the camera has requested HTTP Basic authentication.
    takes_basic: AtomicBool,
}

impl CameraTarget {
    fn new(url: Url, credentials: &str) -> Self {
        let basic = credentials.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()));
        Self { url, basic, digest: Digest::of(credentials), takes_basic: AtomicBool::new(false) }
    }

    /// Requests the image. If the camera requires credentials and they are available, retries the request once with
    /// them.
    async fn ask(&self, client: &Client) -> Result<Response, CameraFault> {
        let answer = self.send(client).await?;
        let refused = answer.status() == StatusCode::UNAUTHORIZED;
        if refused && self.learns(answer.headers()) { self.send(client).await } else { Ok(answer) }
    }

    async fn send(&self, client: &Client) -> Result<Response, CameraFault> {
        let mut call = client.get(self.url.clone());
        if let Some((user, password)) = self.basic.as_ref().filter(|_| self.takes_basic.load(Ordering::Relaxed)) {
            call = call.basic_auth(user, Some(password));
        }
        let mut request = call.build().map_err(silent)?;
        if let Some(digest) = &self.digest {
            digest.sign(&mut request);
        }
        client.execute(request).await.map_err(silent)
    }

    /// Returns whether the camera requests credentials by a method that has not been tried yet. If both methods are
    /// offered, Digest is preferred to Basic.
    fn learns(&self, refusal: &HeaderMap) -> bool {
        if self.digest.as_ref().is_some_and(|digest| digest.learn(refusal, None)) {
            return true;
        }
        let mut offered = refusal.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let basic =
            offered.any(|offer| offer.trim_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("basic")));
        basic && self.basic.is_some() && !self.takes_basic.swap(true, Ordering::Relaxed)
    }
}

impl CameraAccess {
    pub(super) fn new(source: CameraSource) -> Self {
        Self { source, spot: Mutex::default() }
    }

    /// Fetches a new image.
    pub(super) async fn picture(&self, client: &Client, room: &Arc<Semaphore>) -> Result<Picture, CameraFault> {
        let place = self.place().await?;
        let guarding = match &self.source {
            CameraSource::Told { connection, .. } => {
                let connection = connection.upgrade().ok_or(CameraFault::Away)?;
                connection.adapter.declared().guards_camera.then(|| connection.adapter.clone())
            }
            CameraSource::Set { .. } => None,
        };
        let opened = match guarding {
            Some(adapter) => adapter.open_camera(&place.url).await.map_err(CameraFault::Printer),
            None => place.ask(client).await,
        };
        let picture = match opened {
            Ok(answer) => read(answer, room).await,
            Err(fault) => Err(fault),
        };
        if picture.is_err() {
            self.spot.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        picture
    }

    /// Returns the camera's URL with its credentials.
    async fn place(&self) -> Result<Arc<CameraTarget>, CameraFault> {
        let cached = self.spot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, place)) = cached.filter(|(since, _)| since.elapsed() < TOLD_TIME) {
            return Ok(place);
        }
        let place = match &self.source {
            CameraSource::Set { url, credentials } => {
                let url = check_camera_url(url)
                    .map_err(|words| CameraFault::None(format!("the camera's address {words}")))?;
                CameraTarget::new(url, credentials)
            }
            CameraSource::Told { connection, host } => {
                let adapter = connection.upgrade().ok_or(CameraFault::Away)?.adapter.clone();
                let webcams = adapter.webcams().await.map_err(CameraFault::Printer)?;
                let ReportedCamera { url, credentials } = choose(webcams, host.as_deref())?;
                CameraTarget::new(url, credentials.as_deref().unwrap_or_default())
            }
        };
        let place = Arc::new(place);
        *self.spot.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), place.clone()));
        Ok(place)
    }
}

/// Converts a failed request to an error. The client's own error text is omitted, because it contains the camera's
/// address.
fn silent(error: reqwest::Error) -> CameraFault {
    let words = if error.is_connect() { "the camera cannot be reached" } else { "the camera did not respond" };
    tracing::debug!(error = %error.without_url(), "{words}");
    CameraFault::Silent(words.to_owned())
}

fn refused(words: &str) -> CameraFault {
    CameraFault::Refused(words.to_owned())
}

/// Reads the image from the camera's response.
async fn read(mut answer: Response, room: &Arc<Semaphore>) -> Result<Picture, CameraFault> {
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return Err(refused("the camera rejected the credentials"));
        }
        status if status.is_redirection() => {
            return Err(refused("the camera redirects to a different address; set that address instead"));
        }
        status => return Err(CameraFault::Refused(format!("the camera responded with {}", status.as_u16()))),
    }
    let media = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let streams = media.get(..STREAM_MEDIA.len()).is_some_and(|media| media.eq_ignore_ascii_case(STREAM_MEDIA));
    let too_large = || CameraFault::Refused(format!("the image is larger than {MAX_PICTURE_BYTES} bytes"));
    if answer.content_length().is_some_and(|bytes| bytes > MAX_PICTURE_BYTES as u64) {
        return Err(too_large());
    }
    let mut held: Option<OwnedSemaphorePermit> = None;
    let mut read = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(silent)? {
        if read.len() + chunk.len() > MAX_PICTURE_BYTES {
            return Err(too_large());
        }
        let more = u32::try_from(chunk.len()).ok().and_then(|bytes| room.clone().try_acquire_many_owned(bytes).ok());
        let more = more.ok_or(CameraFault::Crowded)?;
        match &mut held {
            Some(held) => held.merge(more),
            None => held = Some(more),
        }
        let scanned_bytes = read.len();
        read.extend_from_slice(&chunk);
        // Neither a page nor a stream is read to its end.
        if !streams && read.len() >= 8 && PictureKind::of(&read).is_none() {
            return Err(refused("the camera's response is neither a JPEG nor a PNG"));
        }
        if streams {
            match first_frame(&read, scanned_bytes) {
                FirstFrame::More => {}
                FirstFrame::At(range) => {
                    read.truncate(range.end);
                    read.drain(..range.start);
                    break;
                }
                FirstFrame::Nothing => return Err(refused("the camera's stream contains no images")),
            }
        }
    }
    let (Some(kind), Some(room)) = (PictureKind::of(&read), held) else {
        return Err(refused("the camera's response is neither a JPEG nor a PNG"));
    };
    // The room that was taken for what is gone again is given back with the rest.
    Ok(Picture { kind, bytes: Bytes::from_owner(BudgetedBytes { bytes: read, _room: room }) })
}
