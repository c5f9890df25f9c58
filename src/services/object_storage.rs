//! Object storage for rendered documents, files and backups. The storage is either a local directory or a bucket of a
//! service that supports Amazon's S3 protocol.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path as FolderPath;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use object_store::aws::AmazonS3Builder;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    Attribute, Attributes, BackoffConfig, Error as StoreError, ObjectStore, ObjectStoreExt as _, PutOptions,
    PutPayload, RetryConfig,
};

use platform::secrets::random::secret_bytes;

pub mod large;
pub mod mark;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

/// Maximum size of a response from the service, in bytes; larger than any document.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// Lowest rate at which contents are sent and received, in bytes per second: a slower one counts as no response. With
/// two transfers at a time, this is an uplink of less than 1 Mbit/s.
const MIN_BYTES_PER_SECOND: u64 = 48 * 1024;

/// Reason why an object storage operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// No object exists under the key.
    #[error("the object does not exist")]
    Missing,
    /// The storage did not respond in time or could not be reached.
    #[error("object storage did not respond: {0}")]
    Silent(String),
    /// The storage responds, but failed, or its response broke off; another try may succeed.
    #[error("object storage failed: {0}")]
    Unavailable(String),
    /// The response is larger than any document may be.
    #[error("object storage sent more data than a document may contain")]
    TooLarge,
    /// The access key is invalid or lacks the necessary permission.
    #[error("object storage denied access: {0}")]
    Denied(String),
    /// The storage rejected the request or failed.
    #[error("object storage rejected the request: {0}")]
    Failed(String),
}

impl StorageError {
    /// Returns whether another attempt may succeed without any change.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Silent(_) | Self::Unavailable(_))
    }
}

impl From<StoreError> for StorageError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { .. } => Self::Missing,
            StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => Self::Denied(error.to_string()),
            StoreError::Generic { .. } if is_silence(&error) => Self::Silent(error.to_string()),
            StoreError::Generic { .. } => Self::Unavailable(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// Returns whether a request failed because there was no connection, or no response in time.
fn is_silence(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(fault) = error.downcast_ref::<HttpError>() {
            return matches!(fault.kind(), HttpErrorKind::Timeout | HttpErrorKind::Connect);
        }
        cause = error.source();
    }
    false
}

/// Address, credentials and limits for a bucket.
#[derive(Clone)]
pub struct BucketSettings {
    /// Bucket name.
    pub bucket: String,
    /// Service address; empty for Amazon S3.
    pub endpoint: String,
    /// Bucket region.
    pub region: String,
    /// ID of the access key, which is not secret.
    pub access_key_id: String,
    /// Secret key that signs requests.
    pub secret_access_key: String,
    /// Base URL at which the bucket's objects can be read publicly.
    pub public_url: String,
    /// Time limit for one request, besides the time in which contents are sent or received.
    pub timeout: Duration,
}

/// Object storage for rendered documents.
#[derive(Clone)]
pub struct ObjectStorage {
    store: Arc<dyn ObjectStore>,
    /// The same storage, whose requests are never repeated.
    single: Arc<dyn ObjectStore>,
    public_url: String,
    timeout: Duration,
    local: bool,
    served: bool,
}

impl fmt::Debug for ObjectStorage {
    /// Formats the storage without its credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStorage").field("local", &self.local).finish_non_exhaustive()
    }
}

/// Adapter that makes the storage library use the server's own HTTP client, so that the library does not open
/// connections itself.
#[derive(Debug)]
struct OwnClient(reqwest::Client);

impl HttpConnector for OwnClient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Self(self.0.clone())))
    }
}

#[async_trait]
impl HttpService for OwnClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let failed = |kind: HttpErrorKind| move |error: reqwest::Error| HttpError::new(kind, error.without_url());
        let (parts, body) = request.into_parts();
        let call = self.0.request(parts.method, parts.uri.to_string()).headers(parts.headers);
        let answer = call.body(reqwest::Body::wrap(body)).send().await;
        let mut answer = answer.map_err(|error| {
            let kind = if error.is_timeout() { HttpErrorKind::Timeout } else { HttpErrorKind::Connect };
            failed(kind)(error)
        })?;
        let mut response = HttpResponse::new(Bytes::new().into());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        let mut body = BytesMut::new();
        while let Some(piece) = answer.chunk().await.map_err(failed(HttpErrorKind::Interrupted))? {
            if body.len() + piece.len() > MAX_ANSWER_BYTES {
                return Err(HttpError::new(HttpErrorKind::Decode, StorageError::TooLarge));
            }
            body.extend_from_slice(&piece);
        }
        *response.body_mut() = body.freeze().into();
        Ok(response)
    }
}

impl ObjectStorage {
    /// Creates storage in a local directory, which is created if it does not exist. `public_url` is the URL at which
    /// the server serves the storage's files.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be used.
    pub fn folder(folder: &FolderPath, public_url: String) -> Result<Self, std::io::Error> {
        std::fs::create_dir_all(folder)?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(std::io::Error::other)?;
        let store: Arc<dyn ObjectStore> = Arc::new(store.with_fsync(true));
        let timeout = Duration::from_secs(10);
        Ok(Self { single: store.clone(), store, public_url, timeout, local: true, served: true })
    }

    /// Creates storage in memory, for simulations. Unlike the others, it neither waits nor works on threads.
    pub fn in_memory(public_url: String) -> Self {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let timeout = Duration::from_secs(10);
        Self { single: store.clone(), store, public_url, timeout, local: false, served: true }
    }

    /// Creates storage in a bucket, which is accessed through the given HTTP client.
    ///
    /// # Errors
    ///
    /// Returns an error if the settings are invalid.
    pub fn bucket(settings: &BucketSettings, client: reqwest::Client) -> Result<Self, StorageError> {
        let retry = RetryConfig { backoff: BackoffConfig::default(), max_retries: 2, retry_timeout: settings.timeout };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&settings.bucket)
            .with_region(&settings.region)
            .with_access_key_id(&settings.access_key_id)
            .with_secret_access_key(&settings.secret_access_key)
            .with_allow_http(true)
            .with_http_connector(OwnClient(client));
        if !settings.endpoint.is_empty() {
            builder = builder.with_endpoint(&settings.endpoint).with_virtual_hosted_style_request(false);
        }
        let never = RetryConfig { max_retries: 0, ..retry.clone() };
        let build = |retry: RetryConfig| {
            let store = builder.clone().with_retry(retry).build();
            let store = store.map_err(|error| StorageError::Failed(error.to_string()))?;
            Ok::<Arc<dyn ObjectStore>, StorageError>(Arc::new(store))
        };
        let (store, single) = (build(retry)?, build(never)?);
        let public_url = settings.public_url.trim_end_matches('/').to_owned();
        Ok(Self { store, single, public_url, timeout: settings.timeout, local: false, served: false })
    }

    /// Returns the part of the storage whose keys begin with the given path.
    pub fn below(&self, path: &str) -> Self {
        let below = |store: &Arc<dyn ObjectStore>| Arc::new(PrefixStore::new(store.clone(), path));
        Self { store: below(&self.store), single: below(&self.single), ..self.clone() }
    }

    /// Returns the storage with the URL at which the server itself serves its objects.
    pub fn served_at(self, public_url: String) -> Self {
        Self { public_url, served: true, ..self }
    }

    /// Returns whether the storage is a local directory.
    pub fn is_local(&self) -> bool {
        self.local
    }

    /// Returns whether the server itself serves the storage's objects.
    pub fn is_served(&self) -> bool {
        self.served
    }

    /// Returns the URL at which the object under the given key can be read publicly, now or once it has been stored.
    pub fn url(&self, key: &str) -> String {
        format!("{}/{key}", self.public_url)
    }

    /// Returns whether an object is stored under the given key. With an access key that lacks permission to list
    /// objects, missing objects cannot be detected; every object is then treated as missing and can be stored again.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be determined whether the object exists.
    pub async fn has(&self, key: &str) -> Result<bool, StorageError> {
        match self.within(self.store.head(&Path::from(key))).await {
            Ok(_) => Ok(true),
            Err(StorageError::Missing | StorageError::Denied(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Requests an object that does not exist, to check that the service responds and accepts the access key. Changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the service does not respond or rejects the request, which is also the case if the access
    /// key may store objects but not read them.
    pub async fn probe(&self) -> Result<(), StorageError> {
        match self.within(self.store.head(&Path::from("printfloor-check"))).await {
            Ok(_) | Err(StorageError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Stores, reads and removes an object, to check that the service responds and the access key may do all of this.
    /// Leaves nothing behind.
    ///
    /// # Errors
    ///
    /// Returns an error if the service does not respond, or rejects one of the requests.
    pub async fn check_writable(&self) -> Result<(), StorageError> {
        // Servers that check the same bucket at the same time have an object each.
        let key = format!("printfloor-check-{}", hex::encode(secret_bytes::<8>()));
        let content = Bytes::from_static(b"check");
        self.store(&key, "text/plain", content.clone()).await?;
        let stored = self.get(&key).await;
        self.remove(&key).await?;
        if stored? == content {
            Ok(())
        } else {
            Err(StorageError::Failed("an object is not what was stored before".to_owned()))
        }
    }

    /// Stores a document. A key always has the same content, so an existing object is simply replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the document was not stored, or the outcome is unknown.
    pub async fn store(&self, key: &str, media: &'static str, content: Bytes) -> Result<(), StorageError> {
        let time = self.transfer_time(content.len() as u64);
        let payload = PutPayload::from_bytes(content);
        let path = Path::from(key);
        let put = within(time, self.store.put_opts(&path, payload, self.put_options(media)));
        put.await.map(drop).map_err(no_bucket)
    }

    /// Returns the options of a request to store an object of the given type.
    fn put_options(&self, media: &'static str) -> PutOptions {
        // A directory keeps no attributes; the server that hands its files out names the type.
        let attributes =
            if self.local { Attributes::new() } else { Attributes::from_iter([(Attribute::ContentType, media)]) };
        PutOptions { attributes, ..PutOptions::default() }
    }

    /// Reads a document.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such document, or the storage does not respond.
    pub async fn get(&self, key: &str) -> Result<Bytes, StorageError> {
        let path = Path::from(key);
        self.within(async { self.store.get(&path).await?.bytes().await }).await
    }

    async fn within<T>(&self, work: impl Future<Output = object_store::Result<T>>) -> Result<T, StorageError> {
        within(self.timeout, work).await
    }

    /// Returns the time limit for a request, in addition to the time in which contents are sent or received.
    pub fn time_limit(&self) -> Duration {
        self.timeout
    }

    /// Returns the time limit for a request that sends or receives the given number of bytes.
    fn transfer_time(&self, bytes: u64) -> Duration {
        self.timeout + Duration::from_secs(bytes.div_ceil(MIN_BYTES_PER_SECOND))
    }
}

async fn within<T>(time: Duration, work: impl Future<Output = object_store::Result<T>>) -> Result<T, StorageError> {
    match tokio::time::timeout(time, work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(StorageError::Silent("no response in time".to_owned())),
    }
}

/// Returns the error for a request to store an object, in which a missing resource is the bucket.
fn no_bucket(error: StorageError) -> StorageError {
    match error {
        StorageError::Missing => StorageError::Failed("the bucket does not exist".to_owned()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
