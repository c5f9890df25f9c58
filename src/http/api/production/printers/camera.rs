//! Camera images of a printer: for staff and, at signed URLs, for systems that fetch images themselves.

use api_derive::{Request, Response};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::json;

use super::PrinterHandles;
use domain::camera_link;
use domain::id::Id;
use domain::principal::Role;
use domain::printer::{CameraFields, check_camera_url, same_camera};
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::find_present;
use http::error::ApiError;
use http::handler::Reply;
use http::operation::{DescribedContent, DescribedError, DescribedOperation};
use http::page::Query;
use http::path_id::PathId;
use http::routes::ResourceRoutes;
use http::wire::{Components, Filled, MaxChars, Optional, SecretText};
use printers::cameras::Picture;
use printers::cameras::frame::PictureKind;

/// Errors returned if a printer has no camera image.
const NO_PICTURE: [DescribedError; 4] = [
    (404, "no_camera", "The printer has no usable camera; the message explains what to configure."),
    (409, "printer_disconnected", "The printer must be connected, because it provides the camera URL."),
    (502, "camera_refused", "The camera did not return a JPEG or PNG image."),
    (504, "camera_timeout", "The camera did not respond in time or cannot be reached."),
];
/// Additional errors for cameras that the server reaches through the printer.
const ON_THE_WAY: [DescribedError; 2] = [
    (502, "printer_refused", "The printer does not report its camera; the message is from the printer."),
    (504, "printer_timeout", "The printer did not respond in time or cannot be reached."),
];

/// Adds the camera routes.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/printers/{id}/camera", picture, |op| {
        op.named("getCameraPicture", "Retrieve a camera image of a printer")
            .about(
                "Returns an image that is at most one second old. Concurrent requests share one request to the camera. \
                 The camera's address and credentials are never returned. For cameras that stream (MJPEG), returns the \
                 first image of the stream. Query parameters are ignored.",
            )
            .errors(&NO_PICTURE)
            .errors(&ON_THE_WAY)
    })
    .get_long(RequiredAccess::Open, "/api/printers/{id}/camera/signed", signed_picture, |op| {
        op.named("getSignedCameraPicture", "Retrieve a camera image by signed URL")
            .about(
                "The server passes such URLs to the failure detection system, which fetches the images itself. Each \
                 URL is valid for one printer, for one minute.",
            )
            .error(404, "camera_link_not_found", "The URL was not signed by this server, or has expired.")
            .errors(&NO_PICTURE)
            .errors(&ON_THE_WAY)
    })
}

/// Camera to use for a printer.
#[derive(Request, Clone, Debug)]
#[api(name = "NewCamera", example = json!({"snapshotUrl": "http://192.168.1.20/webcam/?action=snapshot", "credentials": "viewer:secret"}))]
pub(super) struct GivenCamera {
    /// URL of the camera: an http or https URL without secrets that returns a single JPEG or PNG image, or a stream of
    /// JPEGs (MJPEG).
    #[api(Filled, MaxChars(500))]
    snapshot_url: String,
    /// Credentials in the form `user:password`, if the camera requires them; never returned. If omitted, stored
    /// credentials are kept unless the camera moves to a different server; null removes them.
    #[api(MaxChars(500), SecretText)]
    credentials: Optional<Option<String>>,
}

/// Camera configured for a printer. Its credentials are never returned.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Camera", example = json!({"snapshotUrl": "http://192.168.1.20/webcam/?action=snapshot", "hasCredentials": true}))]
pub struct CameraView {
    /// URL of the camera.
    snapshot_url: String,
    /// `true` if credentials are stored for the camera.
    has_credentials: bool,
}

impl From<&CameraFields> for CameraView {
    fn from(camera: &CameraFields) -> Self {
        Self { snapshot_url: camera.snapshot_url.clone(), has_credentials: !camera.encrypted_credentials.is_empty() }
    }
}

impl GivenCamera {
    /// Returns the camera fields that replace the current ones.
    pub(super) fn into_fields(
        self,
        app: &PrinterHandles,
        old: Option<&CameraFields>,
    ) -> Result<CameraFields, ApiError> {
        let snapshot_url = self.snapshot_url.trim().to_owned();
        if let Err(words) = check_camera_url(&snapshot_url) {
            return Err(Refusal::field("camera.snapshotUrl", words).into());
        }
        let encrypted_credentials = match self.credentials.present() {
            None => {
                let unchanged = old.filter(|old| same_camera(&old.snapshot_url, &snapshot_url));
                unchanged.map(|old| old.encrypted_credentials.clone()).unwrap_or_default()
            }
            Some(credentials) => {
                let credentials = credentials.unwrap_or_default();
                if !credentials.is_empty() && !credentials.contains(':') {
                    return Err(Refusal::field("camera.credentials", "must have the form user:password").into());
                }
                app.cipher.encrypt_or_empty(&credentials)
            }
        };
        Ok(CameraFields { snapshot_url, encrypted_credentials })
    }
}

/// Expiry and signature of a camera URL.
#[derive(Request, Debug)]
#[api(name = "LinkQuery")]
struct SignedLinkQuery {
    /// Expiry time, in milliseconds since the Unix epoch.
    until: i64,
    /// Signature, in hexadecimal.
    #[api(MaxChars(200))]
    signature: String,
}

/// Response with status 200 and a camera image.
struct PictureReply(Picture);

impl IntoResponse for PictureReply {
    fn into_response(self) -> axum::response::Response {
        let Picture { kind, bytes } = self.0;
        let mut response = axum::response::Response::new(Body::from(bytes));
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind.media()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl Reply for PictureReply {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        const MEDIA: [&str; 2] = [PictureKind::Jpeg.media(), PictureKind::Png.media()];
        operation.answer = (200, DescribedContent::Binary(&MEDIA));
    }
}

async fn picture(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<PictureReply, ApiError> {
    of(&app, id).await
}

async fn signed_picture(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(link): Query<SignedLinkQuery>,
) -> Result<PictureReply, ApiError> {
    let secret = app.config.auth.session_secret.expose();
    // Without a secret nothing is signed.
    if secret.is_empty() || !camera_link::is_good(secret, id, link.until, &link.signature, app.environment.now()) {
        return Err(Refusal::not_found("camera_link").into());
    }
    of(&app, id).await
}

async fn of(app: &PrinterHandles, id: Id) -> Result<PictureReply, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    Ok(PictureReply(app.printer_connections.picture(&printer, &app.cipher, false).await?))
}
