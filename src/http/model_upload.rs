//! Models uploaded for a quote. They are streamed to disk, measured, and recorded as files when the quote is created.

use std::sync::Arc;

use axum::extract::multipart::Field;
use axum::extract::{self, FromRequest as _, Multipart};
use axum::http::StatusCode;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::access::{AccessHandles, Caller, Credentials, CustomerToken, still};
use crate::command_request::{CommandRequest, RequestHandles};
use crate::error::ApiError;
use crate::handles::handles;
use crate::idempotency;
use crate::multipart::{broken, store};
use crate::part_heads::PartHeads;
use crate::wire::{Request, read_query};
use actors::app::customer_space::{CustomerSpace, SpaceShare};
use config::Config;
use domain::file::{File, FileCommand, FileKind, FileMetadata};
use domain::file_name::clean_name;
use domain::id::Id;
use domain::mailbox::mailbox;
use domain::mesh::{MeasureError, MeshFacts};
use domain::refusal::Refusal;
use files::blobs::{Blobs, IncomingContent, Recording};
use files::turns::FileOwner;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;

/// Maximum size, in bytes, of a form field other than the model.
const MAX_FIELD_BYTES: usize = 8 * 1024;
/// Maximum number of form fields, not counting the model.
const MAX_FIELDS: usize = 32;

handles! {
    /// Dependencies for receiving a model.
    pub struct ModelHandles {
        blobs: Arc<Blobs>,
        space: Arc<CustomerSpace>,
        config: Arc<Config>,
        access: AccessHandles,
        request: RequestHandles,
    }
}

/// Model that has been stored and measured, but not recorded as a file yet.
pub struct ModelUpload<F> {
    /// Request that contained the model, for sending a command with it.
    pub call: CommandRequest,
    /// The form's other fields.
    pub fields: F,
    /// File name without directories.
    pub name: String,
    /// Measurements of the model.
    pub facts: MeshFacts,
    /// Hash of the whole form, for idempotency.
    pub hash: String,
    sha256: String,
    size: i64,
    metadata: FileMetadata,
    /// Reserved disk space for a customer's model.
    share: Option<SpaceShare>,
    /// Guard that keeps the content from being removed until the file is recorded.
    _recording: Recording,
}

impl<F> ModelUpload<F> {
    /// Records the model as a file and returns its ID.
    pub async fn record(&self, files: &Directory<File>, origin: CommandOrigin) -> Result<Id, ApiError> {
        let create = FileCommand::Create {
            name: self.name.clone(),
            kind: FileKind::Model,
            size: self.size,
            sha256: self.sha256.clone(),
            metadata: Box::new(self.metadata.clone()),
            photo_of: None,
            sliced_from: None,
        };
        let (id, _) = files.create(origin, create).await?;
        self.share.iter().for_each(SpaceShare::keep);
        Ok(id)
    }
}

/// Converts a measuring error into an API error.
pub fn unmeasured(error: MeasureError, member: &str) -> ApiError {
    match error {
        MeasureError::Fault(fault) => Refusal::field(member, fault.to_string()).into(),
        MeasureError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            Refusal::field(member, "took too long to measure").into()
        }
        MeasureError::Io(error) => error.into(),
    }
}

/// Receives a model and measures it.
pub async fn take<F: Request>(
    app: &ModelHandles,
    who: Caller,
    request: extract::Request,
) -> Result<ModelUpload<F>, ApiError> {
    let (parts, form) = request.into_parts();
    let heads = PartHeads::default();
    let call = CommandRequest::without_body(&app.request, who, &parts)?;
    let form =
        Multipart::from_request(extract::Request::from_parts(parts, heads.bounded(form)), app).await.map_err(|_| {
            let message = "the body must be multipart/form-data";
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
        })?;
    // Staff work is never refused for what customers have sent.
    let mut share = match call.who.customer() {
        Ok(_) => Some(app.space.admit().await??),
        Err(_) => None,
    };
    let (file, pairs) = receive(app, &heads, form, share.as_mut()).await?;
    let form_json = json!(pairs);
    let fields = read_query::<F>(pairs)?;
    let (name, mut content) = file.ok_or_else(|| Refusal::field("file", "is required"))?;
    let owner = call.who.customer().map_or(FileOwner::Shop, |(_, email)| FileOwner::Customer(mailbox(email)));
    let description = content.describe(&owner).await.map_err(|error| unmeasured(MeasureError::Io(error), "file"))?;
    let kind = description.content.ok_or_else(|| Refusal::field("file", "is neither an STL nor a 3MF file"))?;
    let facts = content.measure(kind, &owner).await.map_err(|error| unmeasured(error, "file"))?;
    // Boxed, because the futures of all uploads would have its size.
    Box::pin(check_caller(app, &call)).await?;
    let recording = app.blobs.recording();
    let stored = content.keep(&recording).await?;
    let metadata = app.blobs.keep_metadata(description, &recording).await?;
    let size = i64::try_from(stored.size).map_err(ApiError::internal)?;
    let hash = idempotency::short(&Sha256::digest(json!([stored.sha256, name, form_json]).to_string()));
    Ok(ModelUpload {
        call,
        fields,
        name,
        facts,
        hash,
        sha256: stored.sha256,
        size,
        metadata,
        share,
        _recording: recording,
    })
}

/// Rejects a model whose caller's key or session has ended while it came.
async fn check_caller(app: &ModelHandles, call: &CommandRequest) -> Result<(), ApiError> {
    if call.who.customer().is_ok() {
        let token = CustomerToken::from_headers(&call.headers);
        if let Credentials::Customer(session) = Credentials::of_customer(&app.access, token).await {
            return session.map(drop);
        }
    } else if still(&app.access, &call.who) {
        return Ok(());
    }
    Err(ApiError::unauthorized("the API key or session is no longer valid"))
}

/// Model with its name, if one was sent, and the remaining fields as raw text.
type UploadParts<'a> = (Option<(String, IncomingContent<'a>)>, Vec<(String, String)>);

async fn receive<'a>(
    app: &'a ModelHandles,
    heads: &PartHeads,
    mut form: Multipart,
    mut share: Option<&mut SpaceShare>,
) -> Result<UploadParts<'a>, ApiError> {
    let (mut file, mut pairs) = (None, Vec::new());
    while let Some(mut field) = heads.reading(form.next_field()).await.map_err(broken)? {
        let name = field.name().unwrap_or("(no name)").to_owned();
        if name == "file" {
            if file.is_some() {
                return Err(Refusal::field("file", "was sent twice").into());
            }
            let called = clean_name(field.file_name().unwrap_or_default())?;
            let limit = app.config.pricing.model_max_bytes.min(app.config.server.upload_max_bytes);
            file = Some((called, store(&app.blobs, &mut field, limit, share.as_deref_mut()).await?));
        } else {
            if pairs.len() >= MAX_FIELDS {
                return Err(Refusal::field(&name, "exceeds the maximum number of fields").into());
            }
            pairs.push((name.clone(), text(&name, &mut field).await?));
        }
    }
    Ok((file, pairs))
}

async fn text(name: &str, field: &mut Field<'_>) -> Result<String, ApiError> {
    let mut text = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        text.extend_from_slice(&piece);
        if text.len() > MAX_FIELD_BYTES {
            return Err(Refusal::field(name, format!("must be at most {MAX_FIELD_BYTES} bytes")).into());
        }
    }
    String::from_utf8(text).map_err(|_| Refusal::field(name, "must be text in UTF-8").into())
}
