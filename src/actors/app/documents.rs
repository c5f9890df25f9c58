//! Invoice PDFs, rendered on request and stored at an address derived from their content.
//!
//! The address is known before the PDF is rendered and cannot be guessed, because it is a signature, made with the
//! server's secret, over everything that the PDF shows. When the invoice changes, so does its address, and the PDF must
//! be generated again.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dashmap::DashMap;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ShopStartError;
use config::Config;
use config::values::Secret;
use documents::labels::{Label, LabelPaper};
use documents::{PdfContent, RenderError, Renderer, cii};
use domain::id::Id;
use domain::invoice::{DocumentKind, Invoice, InvoiceStatus, IssuedDocument, Payment};
use domain::signing::hmac_sha256;
use domain::time::Timestamp;
use services::object_storage::{ObjectStorage, StorageError};
use store::queries::Queries;
use store::rows::LoadError;

/// Maximum number of PDFs rendered concurrently; rendering one occupies a core for a few milliseconds.
const MAX_RENDERED_AT_ONCE: usize = 2;
/// Maximum number of bucket keys in the cache that records whether an object is stored.
const MAX_KNOWN_KEYS: usize = 100_000;
/// Maximum number of documents cached in memory. Most are about two kilobytes, the largest a few hundred.
const MAX_HELD_DOCUMENTS: usize = 200;
/// Maximum number of document numbers cached in memory.
const MAX_HELD_NUMBERS: usize = 100_000;
/// Maximum time to wait for a bucket when displaying an invoice.
const MAX_LOOK_TIME: Duration = Duration::from_secs(2);
/// Number of hexadecimal digits in an address: 160 bits cannot be guessed.
const ADDRESS_DIGITS: usize = 40;

/// Reason that a PDF is not available.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// PDFs are disabled in the settings.
    #[error("PDF generation is disabled")]
    Off,
    /// The PDF could not be stored, or was not found in storage.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Rendering failed.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The database could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The rendering task stopped before it finished.
    #[error("rendering was interrupted")]
    BrokeOff,
}

/// Document with all data shown in its PDF.
#[derive(Clone, Debug)]
pub struct WholeDocument {
    /// Issued document with its number.
    pub document: Arc<IssuedDocument>,
    /// Number and issue time of the invoice that a credit note reversed.
    preceding: Option<(String, Timestamp)>,
    /// Number of the credit note that reversed a void invoice.
    voided_by: Option<String>,
    status: InvoiceStatus,
    payments: Vec<Payment>,
}

impl WholeDocument {
    fn view(&self) -> PdfContent<'_> {
        PdfContent {
            document: &self.document,
            preceding: self.preceding.as_ref().map(|(number, at)| (number.as_str(), *at)),
            voided_by: self.voided_by.as_deref(),
            status: self.status,
            payments: &self.payments,
        }
    }

    /// Returns the document as machine-readable XML.
    pub fn xml(&self) -> String {
        cii::xml(&self.document, self.preceding.as_ref().map(|(number, at)| (number.as_str(), *at)))
    }
}

/// Service that renders and stores invoice PDFs.
pub struct InvoiceDocuments {
    renderer: Option<Arc<Renderer>>,
    storage: ObjectStorage,
    secret: Secret,
    queries: Queries,
    places: Semaphore,
    /// Cache that records whether bucket keys are stored, so that displaying an invoice queries the bucket at most
    /// once.
    presence: DashMap<String, bool>,
    /// Cache of recently used documents, which never change once issued.
    held: DashMap<Id, Arc<IssuedDocument>>,
    /// Cache of document numbers, which never change once issued.
    numbers: DashMap<Id, String>,
}

/// Inserts an entry into a cache; first clears the cache if it already has `most` entries.
fn hold<K: Eq + Hash, V>(held: &DashMap<K, V>, most: usize, key: K, value: V) {
    if held.len() >= most {
        held.clear();
    }
    held.insert(key, value);
}

impl InvoiceDocuments {
    /// Creates the service according to the settings, which stores PDFs in the given storage.
    pub(super) fn new(config: &Config, storage: ObjectStorage, queries: Queries) -> Result<Self, ShopStartError> {
        let renderer = if config.pdf.enabled { Some(Arc::new(Renderer::new(&config.pdf)?)) } else { None };
        let secret = config.auth.session_secret.clone();
        Ok(Self {
            renderer,
            storage,
            secret,
            queries,
            places: Semaphore::new(MAX_RENDERED_AT_ONCE),
            presence: DashMap::new(),
            held: DashMap::new(),
            numbers: DashMap::new(),
        })
    }

    /// Returns one of an invoice's documents with all data shown in its PDF; `None` if the invoice has no document with
    /// the given ID.
    pub async fn whole(&self, invoice: &Invoice, id: Id) -> Result<Option<WholeDocument>, LoadError> {
        if invoice.documents.iter().all(|one| one.id != id) {
            return Ok(None);
        }
        let Some(document) = self.issued(id).await? else { return Ok(None) };
        let preceding = match document.preceding {
            Some(id) => self.issued(id).await?.map(|one| (one.number_text(), one.issued_at)),
            None => None,
        };
        let (status, payments) = (invoice.status, invoice.ledger.payments.clone());
        let note = invoice.documents.iter().find(|one| one.kind == DocumentKind::CreditNote);
        let voided_by = match note.filter(|_| status == InvoiceStatus::Void) {
            Some(note) => self.numbers(&[note.id]).await?.remove(&note.id),
            None => None,
        };
        Ok(Some(WholeDocument { document, preceding, voided_by, status, payments }))
    }

    /// Returns an issued document, from the cache or the database.
    async fn issued(&self, id: Id) -> Result<Option<Arc<IssuedDocument>>, LoadError> {
        let held = self.held.get(&id).map(|held| held.value().clone());
        if held.is_some() {
            return Ok(held);
        }
        let Some(document) = self.queries.document(id).await?.map(Arc::new) else { return Ok(None) };
        hold(&self.held, MAX_HELD_DOCUMENTS, id, document.clone());
        Ok(Some(document))
    }

    /// Returns the numbers of the given documents; omits documents that do not exist.
    pub async fn numbers(&self, ids: &[Id]) -> Result<HashMap<Id, String>, LoadError> {
        let held = |id: &Id| Some((*id, self.numbers.get(id)?.value().clone()));
        let cached: HashMap<Id, String> = ids.iter().filter_map(held).collect();
        if cached.len() == ids.len() {
            return Ok(cached);
        }
        let numbers = self.queries.document_numbers(ids).await?;
        for (id, number) in &numbers {
            hold(&self.numbers, MAX_HELD_NUMBERS, *id, number.clone());
        }
        Ok(numbers)
    }

    /// Returns the storage key for the document's PDF.
    fn key(&self, whole: &WholeDocument) -> String {
        let look = self.renderer.as_ref().map_or("", |renderer| renderer.look());
        let content = serde_json::json!([
            *whole.document,
            whole.document.number,
            whole.preceding,
            whole.voided_by,
            whole.status,
            whole.payments,
            look,
        ]);
        let content = content.to_string();
        let digits = hmac_sha256(self.secret.expose().as_bytes(), &[b"document\0", content.as_bytes()]);
        let digits = hex::encode(digits);
        let digits = digits.get(..ADDRESS_DIGITS).unwrap_or_default();
        format!("{digits}/{}.pdf", whole.document.number_text())
    }

    /// Returns the URL of the document's PDF, whether or not it has been rendered.
    pub fn url(&self, whole: &WholeDocument) -> String {
        self.storage.url(&self.key(whole))
    }

    /// Returns whether the document's PDF is stored.
    pub async fn is_stored(&self, whole: &WholeDocument) -> Result<bool, StorageError> {
        let key = self.key(whole);
        let stored = self.storage.has(&key).await?;
        self.remember(key, stored);
        Ok(stored)
    }

    fn remember(&self, key: String, stored: bool) {
        if !self.storage.is_local() {
            hold(&self.presence, MAX_KNOWN_KEYS, key, stored);
        }
    }

    /// Renders the PDF, even if it is already stored.
    pub async fn pdf(&self, whole: &WholeDocument) -> Result<Bytes, DocumentError> {
        let renderer = self.renderer.clone().ok_or(DocumentError::Off)?;
        let _place = self.places.acquire().await.map_err(|_| DocumentError::BrokeOff)?;
        let whole = whole.clone();
        let rendered = tokio::task::spawn_blocking(move || renderer.pdf(&whole.view())).await;
        Ok(rendered.map_err(|_| DocumentError::BrokeOff)??.into())
    }

    /// Returns, for display, the characters that appear as `?` in a document's PDF; empty if all characters can be
    /// printed or if PDFs are disabled.
    pub async fn unprintable(&self, whole: &WholeDocument) -> Result<String, DocumentError> {
        let Some(renderer) = self.renderer.clone() else { return Ok(String::new()) };
        let whole = whole.clone();
        // Fonts of this machine are read for it.
        let judged = tokio::task::spawn_blocking(move || renderer.unprintable(&whole.view())).await;
        judged.map_err(|_| DocumentError::BrokeOff)
    }

    /// Renders labels as a PDF without storing it.
    pub async fn labels(&self, labels: Vec<Label>, paper: LabelPaper) -> Result<Bytes, DocumentError> {
        let renderer = self.renderer.clone().ok_or(DocumentError::Off)?;
        let _place = self.places.acquire().await.map_err(|_| DocumentError::BrokeOff)?;
        let rendered = tokio::task::spawn_blocking(move || renderer.labels(&labels, paper)).await;
        Ok(rendered.map_err(|_| DocumentError::BrokeOff)??.into())
    }

    /// Renders and stores the PDF, unless it is already stored; returns its URL.
    pub async fn store(&self, whole: &WholeDocument) -> Result<String, DocumentError> {
        if self.renderer.is_none() {
            return Err(DocumentError::Off);
        }
        let key = self.key(whole);
        if !self.storage.has(&key).await? {
            let pdf = self.pdf(whole).await?;
            self.storage.store(&key, "application/pdf", pdf).await?;
        }
        let url = self.storage.url(&key);
        self.remember(key, true);
        Ok(url)
    }

    /// Returns the PDF URL of an invoice if a PDF of its current content is known to be stored. Queries a bucket only
    /// once; if the bucket does not respond, the PDF is treated as not stored until someone requests it.
    pub async fn known_url(&self, invoice: &Invoice) -> Result<Option<String>, LoadError> {
        let Some(issued) = invoice.issued() else { return Ok(None) };
        let Some(whole) = self.whole(invoice, issued.id).await? else { return Ok(None) };
        let key = self.key(&whole);
        let url = self.storage.url(&key);
        let cached = self.presence.get(&key).map(|is_stored| *is_stored);
        let stored = if let Some(stored) = cached {
            stored
        } else {
            let stored = matches!(timeout(MAX_LOOK_TIME, self.storage.has(&key)).await, Ok(Ok(true)));
            self.remember(key, stored);
            stored
        };
        Ok(stored.then_some(url))
    }

    /// Returns a PDF that this server serves; fails if PDFs are stored in a public bucket.
    pub async fn stored(&self, address: &str, name: &str) -> Result<Bytes, StorageError> {
        let digits = address.len() == ADDRESS_DIGITS && address.bytes().all(|byte| byte.is_ascii_hexdigit());
        let named = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.');
        let is_pdf = Path::new(name).extension().is_some_and(|end| end == "pdf") && !name.contains("..");
        if !(self.storage.is_served() && digits && named && is_pdf) {
            return Err(StorageError::Missing);
        }
        self.storage.get(&format!("{address}/{name}")).await
    }
}
