//! Uploaded file. The content is stored on disk under its hash; this aggregate describes it.

mod plate;

pub use crate::gcode_form::GcodeForm;
pub use plate::{MAX_FILAMENTS, MAX_PLATES, Plate, PlateFilament};

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult, NewAggregate};
use crate::amount::Amount;
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::requirement::{Referenced, Requirement};
use crate::sku::Dimensions;
use crate::time::Timestamp;

/// Kind of an uploaded file: G-code, model or image.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// G-code to be printed.
    Gcode,
    /// Model to be sliced.
    Model,
    /// Image: PNG, JPEG, WebP or HEIC.
    Image,
}

/// Metadata read from a file's content. `None` means unknown, because nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileMetadata {
    /// Name and version of the slicer.
    pub slicer: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// Weight of the material in grams.
    pub grams: Option<Amount>,
    /// Length of the filament in millimetres.
    pub filament_mm: Option<f64>,
    /// SHA-256 of the thumbnail in hexadecimal, under which it is stored on disk.
    pub thumbnail: Option<String>,
    /// Number of layers; `None` if the slicer does not state it.
    #[serde(default)]
    pub layers: Option<u32>,
    /// Size of the print in millimetres.
    #[serde(default)]
    pub size: Option<Dimensions>,
    /// Format of the G-code; `None` for other files.
    #[serde(default)]
    pub form: Option<GcodeForm>,
    /// Plates of a sliced file, by number; empty for any other file, and for files uploaded by releases that did not
    /// read plates.
    #[serde(default)]
    pub plates: Vec<Plate>,
}

impl FileMetadata {
    /// Returns the plate with the given number, if any.
    pub fn plate(&self, number: u32) -> Option<&Plate> {
        self.plates.iter().find(|plate| plate.plate == number)
    }

    /// Returns the hashes of the images stored in addition to the content: the thumbnails of the file and of its
    /// plates.
    pub fn pictures(&self) -> impl Iterator<Item = &String> {
        self.thumbnail.iter().chain(self.plates.iter().filter_map(|plate| plate.thumbnail.as_ref()))
    }
}

/// Print whose end a photo shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhotoSubject {
    /// Order that the job belongs to.
    pub order: Id,
    /// Printed job.
    pub job: Id,
    /// Attempt that ended.
    pub attempt: Id,
}

/// Purpose of a file that a customer uploaded before the shop had reviewed anything, or that was generated from such a
/// file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CustomerUpload {
    /// Model to be priced.
    Model,
    /// Photo for the custom request with the given ID.
    PhotoOf(Id),
    /// G-code that the server sliced from the uploaded model with the given ID to calculate a price.
    GcodeOf(Id),
}

/// Uploaded file: name, kind and metadata. The content is stored separately, by its hash.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Identifier of the file.
    pub id: Id,
    /// File name at upload, without a path.
    pub name: String,
    /// Kind of the file, detected from its content.
    pub kind: FileKind,
    /// Size of the content in bytes.
    pub size: i64,
    /// SHA-256 of the content in hexadecimal, under which it is stored on disk; identical contents are stored only
    /// once.
    pub sha256: String,
    /// Metadata read from the content.
    pub metadata: FileMetadata,
    /// Print whose end the photo shows, if the server took the photo; `None` for uploaded files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_of: Option<PhotoSubject>,
    /// Purpose of a customer's upload; `None` for the shop's own files, and for files uploaded before this field
    /// existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_upload: Option<CustomerUpload>,
    /// `true` if the file was deleted; the record is kept for the history of jobs.
    pub archived: bool,
    /// Time of the upload.
    pub created_at: Timestamp,
}

impl File {
    /// Builds the file for a custom request's photo whose content is already on disk.
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

/// Commands that change a file.
#[derive(Clone, Debug)]
pub enum FileCommand {
    /// Creates the record of a file whose content is already on disk.
    Create {
        /// File name at upload, without a path.
        name: String,
        /// Kind of the file.
        kind: FileKind,
        /// Size of the content in bytes.
        size: i64,
        /// SHA-256 of the content in hexadecimal.
        sha256: String,
        /// Metadata read from the content.
        metadata: Box<FileMetadata>,
        /// Print whose end the photo shows, if the server took the photo.
        photo_of: Option<PhotoSubject>,
        /// Customer's model that the file was sliced from to price a draft; `None` for all other files.
        sliced_from: Option<Id>,
    },
    /// Deletes the file, unless a SKU or an unfinished order or job refers to it.
    Archive,
}

impl Aggregate for File {
    const KIND: &'static str = "file";
    type Row = Infallible;
    type Created = Infallible;
    type Effect = ();

    fn is_archived(&self) -> bool {
        self.archived
    }
}

impl Command<File> for FileCommand {
    type Answer = File;

    fn decide(&self, this: Option<&File>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<File, Self::Answer> {
        let next = match (this.filter(|file| !file.archived), self) {
            (None, FileCommand::Create { name, kind, size, sha256, metadata, photo_of, sliced_from }) => File {
                id,
                name: name.clone(),
                kind: *kind,
                size: *size,
                sha256: sha256.clone(),
                metadata: (**metadata).clone(),
                photo_of: *photo_of,
                customer_upload: match (sliced_from, cx.by) {
                    (Some(model), _) => Some(CustomerUpload::GcodeOf(*model)),
                    (None, Principal::Customer { .. }) => Some(CustomerUpload::Model),
                    (None, _) => None,
                },
                archived: false,
                created_at: cx.now,
            },
            (Some(file), FileCommand::Archive) => File { archived: true, ..file.clone() },
            (Some(_), FileCommand::Create { .. }) => {
                return Err(Refusal::conflict("exists", "this file already exists"));
            }
            (None, FileCommand::Archive) => return Err(Refusal::not_found(File::KIND)),
        };
        let unused = matches!(self, FileCommand::Archive).then_some(Requirement::Unused { what: Referenced::File, id });
        Ok(Decision::to(next.clone(), next).requires(unused))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            FileCommand::Create { .. } => AuditedAct::FileCreate,
            FileCommand::Archive => AuditedAct::FileDelete,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::testing::{Bench, id};

    fn create(sliced_from: Option<Id>) -> FileCommand {
        FileCommand::Create {
            name: "vase.gcode".to_owned(),
            kind: FileKind::Gcode,
            size: 7,
            sha256: "ab".to_owned(),
            metadata: Box::default(),
            photo_of: None,
            sliced_from,
        }
    }

    #[test]
    fn a_file_is_described_until_it_is_deleted_unused() {
        let (bench, mut file) = (Bench::new(), None::<File>);
        assert_eq!(bench.tell(&mut file, id(1), &FileCommand::Archive).unwrap_err().code, "file_not_found");
        assert!(bench.tell(&mut file, id(1), &create(None)).unwrap().requirements.is_empty());
        let described = file.clone().unwrap();
        assert_eq!(
            (described.id, described.name.as_str(), described.kind, described.size),
            (id(1), "vase.gcode", FileKind::Gcode, 7)
        );
        assert!(!described.is_archived());
        assert_eq!(bench.tell(&mut file, id(1), &create(None)).unwrap_err().code, "exists");
        let deleted = bench.tell(&mut file, id(1), &FileCommand::Archive).unwrap();
        assert_eq!(deleted.requirements, [Requirement::Unused { what: Referenced::File, id: id(1) }]);
        assert_eq!(deleted.answer, File { archived: true, ..described });
        assert!(deleted.answer.is_archived());
        assert_eq!(bench.tell(&mut file, id(1), &FileCommand::Archive).unwrap_err().code, "file_not_found");
    }

    #[test]
    fn what_a_customer_uploads_is_marked() {
        let bench = Bench::new();
        let customer = Principal::Customer { id: id(4), email: "ann@example.org".to_owned() };
        let sliced = Some(CustomerUpload::GcodeOf(id(5)));
        for (by, sliced_from, upload) in [
            (&customer, None, Some(CustomerUpload::Model)),
            (&customer, Some(id(5)), sliced),
            (&Principal::Machine, None, None),
            (&Principal::Machine, Some(id(5)), sliced),
        ] {
            let cx = DecisionContext { by, ..bench.cx() };
            let uploaded = create(sliced_from).decide(None, id(1), &cx).unwrap().answer;
            assert_eq!(uploaded.customer_upload, upload, "{by} {sliced_from:?}");
        }
        let photo = File::photo(&bench.cx(), id(6), "a.jpg".to_owned(), "cd".to_owned(), 9);
        assert_eq!((photo.kind, photo.customer_upload), (FileKind::Image, Some(CustomerUpload::PhotoOf(id(6)))));
        assert_eq!((NewAggregate::kind(&photo), NewAggregate::id(&photo)), ("file", photo.id));
    }

    #[test]
    fn a_plate_is_found_by_its_number_and_has_a_picture_of_its_own() {
        let plate = |plate, picture: Option<&str>| {
            let thumbnail = picture.map(str::to_owned);
            Plate { plate, thumbnail, ..Plate::default() }
        };
        let plates = vec![plate(1, None), plate(3, Some("b"))];
        let metadata = FileMetadata { thumbnail: Some("a".to_owned()), plates, ..FileMetadata::default() };
        assert_eq!((metadata.plate(3), metadata.plate(2)), (metadata.plates.last(), None));
        assert_eq!(metadata.pictures().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_plate_takes_what_all_of_its_filaments_take_if_each_is_known() {
        let of = |amounts: &[Option<i64>]| {
            let filament = |grams: Option<i64>| PlateFilament {
                grams: grams.map(Amount::units),
                mm: grams.map(|grams| grams as f64 * 100.0),
                ..PlateFilament::default()
            };
            let plate = Plate { filaments: amounts.iter().copied().map(filament).collect(), ..Plate::default() };
            (plate.grams(), plate.filament_mm())
        };
        assert_eq!(of(&[Some(3), Some(4)]), (Some(Amount::units(7)), Some(700.0)));
        assert_eq!((of(&[]), of(&[Some(3), None])), ((None, None), (None, None)));
    }
}
