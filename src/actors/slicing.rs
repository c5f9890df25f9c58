//! Produces G-code from models. Each combination of model, profile and slicer version is sliced once, and the result is
//! stored as a file.
//!
//! The file ID is derived from the inputs. The same inputs are therefore never sliced twice, even across restarts, and
//! only one file is created even if the server is killed halfway and slices again.

mod turns;

use std::sync::Arc;
use std::sync::Mutex as BlockingMutex;
use std::sync::PoisonError;
use std::{fmt, io};

use async_trait::async_trait;
use dashmap::DashMap;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio::sync::Mutex;
use uuid::Uuid;

use self::turns::SlicerQueue;
use domain::customer_space::SpaceRefusal;
use domain::file::{File, FileCommand, FileKind};
use domain::gcode::{ContentType, Extents};
use domain::id::Id;
use domain::slice_source::SliceSource;
use files::blobs::{Blobs, is_lost};
use files::turns::FileOwner;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use services::slicer::{SliceError, SliceRequest, Slicer};
use store::rows::LoadError;

/// Version of the slicing procedure. Must be incremented whenever a change to the server results in different G-code
/// for the same model and profile.
const RECIPE_VERSION: &str = "2";
/// Size of each read of a result, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;
/// Maximum number of characters of the model's name used in the G-code's name.
const MAX_STEM_CHARS: usize = 80;

/// Reason that slicing produced no file.
#[derive(Debug)]
pub enum SlicingFailure {
    /// A prerequisite, described by the text, is not available yet.
    Waits(String),
    /// Other models take precedence, or there is no space; slicing is requested again later. Occurs only for customers'
    /// draft quotes.
    NotNow(String),
    /// The model cannot be sliced with the profile; the text is from the slicer.
    Failed(String),
    /// Transient failure of this server; slicing is retried.
    Trouble(String),
}

impl From<SliceError> for SlicingFailure {
    fn from(error: SliceError) -> Self {
        match error {
            SliceError::Absent(words) => Self::Waits(words),
            SliceError::Refused(words) => Self::Failed(words),
            SliceError::Disk(error) => error.into(),
        }
    }
}

impl From<io::Error> for SlicingFailure {
    fn from(error: io::Error) -> Self {
        Self::Trouble(error.to_string())
    }
}

impl From<LoadError> for SlicingFailure {
    fn from(error: LoadError) -> Self {
        Self::Trouble(error.to_string())
    }
}

impl From<AskError> for SlicingFailure {
    fn from(error: AskError) -> Self {
        Self::Trouble(error.to_string())
    }
}

/// Limit on the storage used by customer files and by the files produced from them.
#[async_trait]
pub trait CustomerQuota: fmt::Debug + Send + Sync + 'static {
    /// Returns the reason that no more customer files can be stored; `None` while there is space.
    ///
    /// # Errors
    ///
    /// Fails if the database does not respond.
    async fn refusal(&self) -> Result<Option<SpaceRefusal>, LoadError>;
    /// Adds the given number of bytes, which have just been stored, to the storage in use.
    fn note_stored(&self, bytes: u64);
}

/// Purpose for which G-code is produced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlicingPurpose {
    /// Jobs of an order.
    Order,
    /// Price of a draft quote, which may use a model that a customer sent.
    Draft {
        /// Mailbox of the quote's customer; empty if there is no customer.
        mailbox: String,
    },
}

impl SlicingPurpose {
    /// Returns the party that the slicer runs for. Models for drafts made by staff belong to the shop.
    fn owner(&self, model: &File) -> FileOwner {
        match self {
            Self::Draft { mailbox } if model.customer_upload.is_some() => FileOwner::Customer(mailbox.clone()),
            Self::Draft { .. } | Self::Order => FileOwner::Shop,
        }
    }
}

/// Slicing service, which turns each model into G-code only once.
#[derive(Debug)]
pub struct SlicingService {
    slicer: Slicer,
    blobs: Arc<Blobs>,
    turns: SlicerQueue,
    room: Arc<dyn CustomerQuota>,
    /// Locks held while the file with the given ID is being created. The map is only used for lookups, so its order
    /// does not matter.
    making: DashMap<Id, Arc<Mutex<()>>>,
    /// Description of the missing prerequisite at the last call to [`Self::gcode`], if any.
    waits: BlockingMutex<Option<String>>,
}

impl SlicingService {
    /// Creates the service for slicing files whose contents are in `blobs`. `room` limits the storage used by files
    /// produced from customer models.
    pub fn new(slicer: Slicer, blobs: Arc<Blobs>, room: Arc<dyn CustomerQuota>) -> Self {
        let turns = SlicerQueue::new(slicer.settings().parallel);
        Self { slicer, blobs, turns, room, making: DashMap::new(), waits: BlockingMutex::new(None) }
    }

    /// Returns a human-readable description of the missing prerequisite for slicing, if any is known.
    pub fn waits_for(&self) -> Option<String> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the G-code file for a source, slicing the source if there is none yet.
    ///
    /// # Errors
    ///
    /// Fails if there is no G-code and it cannot be produced.
    pub async fn gcode(
        &self,
        files: &Directory<File>,
        source: &SliceSource,
        purpose: &SlicingPurpose,
    ) -> Result<Id, SlicingFailure> {
        let outcome = self.find_or_make(files, source, purpose).await;
        let waits = match &outcome {
            // Nothing is missing, and whether something is was not found out.
            Err(SlicingFailure::NotNow(_)) => return outcome,
            Err(SlicingFailure::Waits(words)) => Some(words.clone()),
            _ => None,
        };
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner) = waits;
        outcome
    }

    async fn find_or_make(
        &self,
        files: &Directory<File>,
        source: &SliceSource,
        purpose: &SlicingPurpose,
    ) -> Result<Id, SlicingFailure> {
        let model = files.present(source.model_file_id).await?;
        let Some(model) = model.as_ref().and_then(|state| state.present()) else {
            return Err(SlicingFailure::Failed("the model was deleted".to_owned()));
        };
        let profile = self.slicer.profile(&source.profile).await?;
        let version = self.slicer.version().await?;
        let of = format!(
            "{RECIPE_VERSION}\n{version}\n{}\n{}\n{}",
            model.sha256,
            source.copies,
            hex::encode(profile.sha256())
        );
        let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, &Sha256::digest(of.as_bytes())));
        if files.present(id).await?.is_some() {
            return Ok(id);
        }
        // The turn comes before the lock: whoever holds the lock waits for nobody.
        let owner = purpose.owner(model);
        let mut turn = self.turns.take(&owner).await?;
        let sliced_from = matches!(owner, FileOwner::Customer(_)).then_some(model.id);
        let lock = self.making.entry(id).or_default().clone();
        let making = async {
            let _making = lock.lock().await;
            match files.present(id).await? {
                Some(_) => Ok(id),
                None => {
                    let content = self.blobs.local(&model.sha256).await.map_err(unreadable)?;
                    let request = SliceRequest { model: content.path(), profile: &profile, copies: source.copies };
                    let name = gcode_name(&model.name, &source.profile);
                    self.make(files, id, name, sliced_from, request).await.map(|()| id)
                }
            }
        };
        let outcome = tokio::select! {
            biased; // what is done in this moment is kept
            outcome = making => outcome,
            () = turn.is_wanted_back() => Err(SlicingFailure::NotNow("models for orders are sliced first".to_owned())),
        };
        drop(lock);
        // Whoever waits for it holds the lock as well.
        self.making.remove_if(&id, |_, lock| Arc::strong_count(lock) == 1);
        outcome
    }

    /// Slices a model and records the result with the given ID. `sliced_from` is the model if it belongs to a customer,
    /// in which case the G-code is included in the storage used by customers.
    async fn make(
        &self,
        files: &Directory<File>,
        id: Id,
        name: String,
        sliced_from: Option<Id>,
        request: SliceRequest<'_>,
    ) -> Result<(), SlicingFailure> {
        if sliced_from.is_some()
            && let Some(refusal) = self.room.refusal().await?
        {
            return Err(SlicingFailure::NotNow(refusal.to_string()));
        }
        let sliced = self.slicer.slice(request).await?;
        let (mut incoming, mut extents) = (self.blobs.begin().await?, Extents::default());
        let (mut result, mut chunk) = (tokio::fs::File::open(&sliced.path).await?, vec![0; CHUNK_BYTES]);
        loop {
            match result.read(&mut chunk).await? {
                0 => break,
                read => {
                    extents.push(&chunk[..read]);
                    incoming.write(&chunk[..read]).await?;
                }
            }
        }
        drop(sliced);
        let mut description = incoming.describe(&FileOwner::Shop).await?;
        // A slicer may end without an error and without a print.
        let printable = description.content == Some(ContentType::Gcode)
            && description.metadata.filament_mm.is_some_and(|mm| mm > 0.0);
        if !printable {
            return Err(SlicingFailure::Failed(
                "the slicer did not produce G-code that states its filament usage at the end".to_owned(),
            ));
        }
        if let Some(words) = extents.beyond_bed() {
            return Err(SlicingFailure::Failed(format!("the print exceeds the bed: {words}")));
        }
        description.metadata.size = description.metadata.size.or(extents.size());
        let size = description.metadata.size;
        description.plates.iter_mut().for_each(|one| one.plate.dimensions = one.plate.dimensions.or(size));
        let recording = self.blobs.production_recording();
        let blob = incoming.keep(&recording).await?;
        let metadata = Box::new(self.blobs.keep_metadata(description, &recording).await?);
        let bytes = blob.size;
        let (kind, size, photo_of) = (FileKind::Gcode, i64::try_from(bytes).unwrap_or(i64::MAX), None);
        let create = FileCommand::Create { name, kind, size, sha256: blob.sha256, metadata, photo_of, sliced_from };
        // One that was deleted is made anew under its ID.
        match files.read(id).await? {
            Some(_) => files.ask(id, CommandOrigin::system(), create).await?,
            None => files.create_as(id, CommandOrigin::system(), create).await?,
        };
        if sliced_from.is_some() {
            self.room.note_stored(bytes);
        }
        Ok(())
    }
}

/// Returns the failure for a model whose content cannot be read.
fn unreadable(error: io::Error) -> SlicingFailure {
    if is_lost(&error) { SlicingFailure::Failed(error.to_string()) } else { error.into() }
}

/// Returns the file name for G-code sliced from a model.
fn gcode_name(model: &str, profile: &str) -> String {
    let stem = model.rsplit_once('.').map_or(model, |(stem, _)| stem);
    let stem: String = stem.chars().take(MAX_STEM_CHARS).collect();
    format!("{stem} ({profile}).gcode")
}
