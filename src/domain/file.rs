//! An uploaded file. Its content is on disk under its hash; this aggregate describes it.

mod plate;

pub use crate::domain::gcode_form::GcodeForm;
pub use plate::{MAX_FILAMENTS, MAX_PLATES, Plate, PlateFilament};

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext, NewAggregate};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::refusal::Refusal;
use crate::domain::requirement::{Referenced, Requirement};
use crate::domain::sku::Dimensions;
use crate::domain::time::Timestamp;

/// The use of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// G-code, to be printed.
    Gcode,
    /// A model, to be sliced.
    Model,
    /// A picture: PNG, JPEG, WebP or HEIC.
    Image,
}

/// What was read from a file's content. `None` is unknown: nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileMetadata {
    /// Name and version of the slicer.
    pub slicer: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// Weight of material in grams.
    pub grams: Option<Amount>,
    /// Length of filament in millimetres.
    pub filament_mm: Option<f64>,
    /// SHA-256 of the thumbnail in hexadecimal, under which it is stored on disk.
    pub thumbnail: Option<String>,
    /// Number of layers; `None` where the slicer does not state it.
    #[serde(default)]
    pub layers: Option<u32>,
    /// Size of the print in millimetres.
    #[serde(default)]
    pub size: Option<Dimensions>,
    /// Format of the G-code; `None` for other files.
    #[serde(default)]
    pub form: Option<GcodeForm>,
    /// The plates of sliced files, by their numbers; empty for other files, and for those that were uploaded before
    /// plates were read.
    #[serde(default)]
    pub plates: Vec<Plate>,
}

impl FileMetadata {
    /// The plate with this number.
    pub fn plate(&self, number: u32) -> Option<&Plate> {
        self.plates.iter().find(|plate| plate.plate == number)
    }

    /// Hashes of the pictures that are stored beside the content: the file's own and those of its plates.
    pub fn pictures(&self) -> impl Iterator<Item = &String> {
        self.thumbnail.iter().chain(self.plates.iter().filter_map(|plate| plate.thumbnail.as_ref()))
    }
}

/// The print whose end a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhotoOf {
    /// The order of the job.
    pub order: Id,
    /// The job that was printed.
    pub job: Id,
    /// The attempt that ended.
    pub attempt: Id,
}

/// What a customer sent a file for, before anybody of the shop had looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CustomerUpload {
    /// To have it priced.
    Model,
    /// As a photo of this custom request.
    PhotoOf(Id),
}

/// An uploaded file: its name, use and facts. Its content is stored apart, by its hash.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Identifier of the file.
    pub id: Id,
    /// Name at the upload, without a path.
    pub name: String,
    /// Its use, found from the content.
    pub kind: FileKind,
    /// Size of the content in bytes.
    pub size: i64,
    /// SHA-256 of the content in hexadecimal, under which it is stored on disk; equal contents are stored once.
    pub sha256: String,
    /// What was read from the content.
    pub metadata: FileMetadata,
    /// The print of whose end it is a picture that the server took; `None` for files that somebody brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_of: Option<PhotoOf>,
    /// What a customer sent it for; `None` for the shop's own files, and for those from before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_upload: Option<CustomerUpload>,
    /// Whether it was deleted; the record stays for the history of jobs.
    pub archived: bool,
    /// When it was uploaded.
    pub created_at: Timestamp,
}

impl File {
    /// Describes a photo of a custom request, whose content is on disk already.
    pub fn photo(cx: &DecisionContext<'_>, request: Id, name: String, sha256: String, size: i64) -> Self {
        Self {
            id: cx.ids.id(),
            name,
            kind: FileKind::Image,
            size,
            sha256,
            metadata: FileMetadata::default(),
            photo_of: None,
            customer_upload: Some(CustomerUpload::PhotoOf(request)),
            archived: false,
            created_at: cx.now,
        }
    }
}

impl NewAggregate for File {
    fn kind(&self) -> &'static str {
        <Self as Aggregate>::KIND
    }
    fn id(&self) -> Id {
        self.id
    }
}

/// What can be asked of a file.
#[derive(Clone, Debug)]
pub enum FileCommand {
    /// Describes a file whose content is on disk already.
    Create {
        /// Name at the upload, without a path.
        name: String,
        /// What it is for.
        kind: FileKind,
        /// Size of the content in bytes.
        size: i64,
        /// SHA-256 of the content in hexadecimal.
        sha256: String,
        /// What was read from the content.
        metadata: Box<FileMetadata>,
        /// The print of whose end it is a picture that the server took.
        photo_of: Option<PhotoOf>,
    },
    /// Deletes the file, unless a SKU or an unfinished order or job names it.
    Archive,
}

impl Aggregate for File {
    const KIND: &'static str = "file";
    type Command = FileCommand;
    type Answer = Self;
    type Row = Infallible;
    type Created = Infallible;
    type Effect = ();

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &FileCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let next = match (this.filter(|file| !file.archived), command) {
            (None, FileCommand::Create { name, kind, size, sha256, metadata, photo_of }) => Self {
                id,
                name: name.clone(),
                kind: *kind,
                size: *size,
                sha256: sha256.clone(),
                metadata: (**metadata).clone(),
                photo_of: *photo_of,
                customer_upload: matches!(cx.by, Principal::Customer { .. }).then_some(CustomerUpload::Model),
                archived: false,
                created_at: cx.now,
            },
            (Some(file), FileCommand::Archive) => Self { archived: true, ..file.clone() },
            (Some(_), FileCommand::Create { .. }) => {
                return Err(Refusal::conflict("exists", "this file exists already"));
            }
            (None, FileCommand::Archive) => return Err(Refusal::not_found(Self::KIND)),
        };
        let unused =
            matches!(command, FileCommand::Archive).then_some(Requirement::Unused { what: Referenced::File, id });
        Ok(Decision::to(next.clone(), next).requires(unused))
    }

    fn name(command: &FileCommand) -> &'static str {
        match command {
            FileCommand::Create { .. } => "file.create",
            FileCommand::Archive => "file.delete",
        }
    }
}
