//! An uploaded file: content-addressed on disk, described here.

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::sku::Dimensions;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// What a file is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// For printers.
    Gcode,
    /// For slicers.
    Model,
    /// For people.
    Image,
}

/// The forms that G-code comes in; printers tell them by the ending of a file's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum GcodeForm {
    /// Text.
    #[default]
    #[serde(rename = "gcode")]
    Text,
    /// The binary form, with checksums.
    #[serde(rename = "bgcode")]
    Binary,
    /// A 3MF package with sliced plates.
    #[serde(rename = "gcode.3mf")]
    Package,
}

impl GcodeForm {
    /// What a file's name ends with on a printer.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Text => "gcode",
            Self::Binary => "bgcode",
            Self::Package => "gcode.3mf",
        }
    }
}

/// What the content says of itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileMetadata {
    /// Program that made it.
    pub slicer: Option<String>,
    /// Print time, seconds.
    pub seconds: Option<i64>,
    /// Material used, grams.
    pub grams: Option<Amount>,
    /// Filament used, millimetres.
    pub filament_mm: Option<f64>,
    /// SHA-256 of the thumbnail's bytes, kept beside the file.
    pub thumbnail: Option<String>,
    /// Layers of the print.
    #[serde(default)]
    pub layers: Option<u32>,
    /// What the print takes of the build volume, mm.
    #[serde(default)]
    pub size: Option<Dimensions>,
    /// In which form G-code is; none for other files.
    #[serde(default)]
    pub form: Option<GcodeForm>,
}

/// An uploaded file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Identifier.
    pub id: Id,
    /// As uploaded, without path.
    pub name: String,
    /// What it is for.
    pub kind: FileKind,
    /// Bytes.
    pub size: i64,
    /// Hex SHA-256 of the content; its address on disk.
    pub sha256: String,
    /// What the content says of itself.
    pub metadata: FileMetadata,
    /// Deleted: the description stays for history.
    pub archived: bool,
    /// When it came.
    pub created_at: Timestamp,
}

/// What is asked of a file.
#[derive(Clone, Debug)]
pub enum FileCommand {
    /// Its content is on disk: describes it. The id in it is not looked at.
    Create {
        /// As uploaded.
        name: String,
        /// What it is for.
        kind: FileKind,
        /// Bytes.
        size: i64,
        /// Hex SHA-256.
        sha256: String,
        /// What the content says.
        metadata: Box<FileMetadata>,
    },
    /// Deletes it; the edge has made sure that nothing unfinished names it.
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
            (None, FileCommand::Create { name, kind, size, sha256, metadata }) => Self {
                id,
                name: name.clone(),
                kind: *kind,
                size: *size,
                sha256: sha256.clone(),
                metadata: (**metadata).clone(),
                archived: false,
                created_at: cx.now,
            },
            (Some(file), FileCommand::Archive) => Self { archived: true, ..file.clone() },
            (Some(_), FileCommand::Create { .. }) => return Err(Refusal::conflict("exists", "this file exists")),
            (None, FileCommand::Archive) => return Err(Refusal::not_found(Self::KIND)),
        };
        Ok(Decision::to(next.clone(), next))
    }

    fn name(command: &FileCommand) -> &'static str {
        match command {
            FileCommand::Create { .. } => "file.create",
            FileCommand::Archive => "file.delete",
        }
    }
}
