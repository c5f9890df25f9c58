//! Stores the thumbnails contained in a file, and builds the file's metadata.

use std::io;

use super::blobs::{Blobs, Recording};
use domain::file::{FileMetadata, GcodeForm};
use domain::gcode::{ContentType, DetectedPlate, GcodeContents, Metadata};

impl Blobs {
    /// Builds a file's metadata, including the hashes of its thumbnails, and stores the thumbnails.
    ///
    /// # Errors
    ///
    /// Returns an error if a thumbnail cannot be written.
    pub async fn keep_metadata(&self, description: GcodeContents, recording: &Recording) -> io::Result<FileMetadata> {
        let form = match description.content {
            Some(ContentType::Gcode) => Some(GcodeForm::Text),
            Some(ContentType::BinaryGcode) => Some(GcodeForm::Binary),
            Some(ContentType::SlicedThreeMf) => Some(GcodeForm::Package),
            _ => None,
        };
        let Metadata { slicer, seconds, grams, filament_mm, thumbnail, layers, size } = description.metadata;
        let thumbnail = match thumbnail {
            Some(picture) => Some(self.store(&picture.png, recording).await?.sha256),
            None => None,
        };
        let mut plates = Vec::with_capacity(description.plates.len());
        // The picture of plain G-code is that of its one plate.
        let shared = thumbnail.clone().filter(|_| description.plates.len() == 1);
        for DetectedPlate { mut plate, thumbnail: picture } in description.plates {
            plate.thumbnail = match picture {
                Some(picture) => Some(self.store(&picture.png, recording).await?.sha256),
                None => shared.clone(),
            };
            plates.push(plate);
        }
        Ok(FileMetadata { slicer, seconds, grams, filament_mm, thumbnail, layers, size, form, plates })
    }
}
