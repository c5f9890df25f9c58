//! Reads the contents of stored files off the async runtime's threads, with limits on concurrency and time (`turns`).

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::blobs::{Blobs, TransferClass};
use super::picture::{PictureCleaner, PictureFault};
use super::turns::{FileOwner, RunningRead};
use domain::file::FileKind;
use domain::gcode::{ContentType, Damage, GcodeContents, GcodeReader, read_package};
use domain::mesh::{self, MeasureError, MeshFacts, MeshFault};

/// Number of bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

impl Blobs {
    /// Determines the type of a file and the metadata that a slicer wrote into it. Waits for a free slot.
    pub(super) async fn describe(&self, path: &Path, owner: &FileOwner) -> io::Result<GcodeContents> {
        let path = path.to_owned();
        self.turns.read(owner, move |reading| describe(&path, &mut || reading.goes_on())).await?
    }

    /// Measures a stored model. Waits for a free slot for the shop's files.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a model that can be measured, or cannot be read.
    pub async fn measure_stored(&self, sha256: &str) -> Result<MeshFacts, MeasureError> {
        let file = self.local_of(sha256, TransferClass::Other).await.map_err(MeasureError::Io)?;
        let description = self.describe(file.path(), &FileOwner::Shop).await.map_err(MeasureError::Io)?;
        let content = description.content.ok_or(MeshFault::NotAMesh)?;
        self.measure(file.path(), content, &FileOwner::Shop).await
    }

    /// Measures a model of the given type. Waits for a free slot.
    pub(super) async fn measure(
        &self,
        path: &Path,
        content: ContentType,
        owner: &FileOwner,
    ) -> Result<MeshFacts, MeasureError> {
        let path = path.to_owned();
        let measure = move |reading: &mut RunningRead| {
            let file = File::open(&path).map_err(MeasureError::Io)?;
            mesh::measure(BufReader::new(file), content, &mut || reading.goes_on())
        };
        self.turns.read(owner, measure).await.map_err(MeasureError::Io)?
    }
}

pub(super) fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "reading the file took too long")
}

/// Reader that fails once its time limit is reached or its request has been cancelled.
pub(super) struct TimedFile<'a> {
    pub(super) file: File,
    pub(super) may_go_on: &'a mut dyn FnMut() -> bool,
    pub(super) is_over: &'a mut bool,
}

impl Read for TimedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        *self.is_over |= !(self.may_go_on)();
        if *self.is_over { Err(timed_out()) } else { self.file.read(buffer) }
    }
}

impl Seek for TimedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn describe(path: &Path, may_go_on: &mut dyn FnMut() -> bool) -> io::Result<GcodeContents> {
    let (mut reader, mut chunk, mut is_over) = (GcodeReader::new(), vec![0; CHUNK_BYTES], false);
    let mut file = TimedFile { file: File::open(path)?, may_go_on, is_over: &mut is_over };
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            length => reader.push(&chunk[..length]),
        }
    }
    let mut description = reader.finish();
    if description.content.is_some_and(|content| content.kind() == FileKind::Image) {
        file.rewind()?;
        if has_too_many_pixels(&mut file)? {
            description.damage = Some(Damage::TooManyPixels);
        }
    }
    if description.content == Some(ContentType::SlicedThreeMf) {
        file.rewind()?;
        match read_package(file) {
            Ok((metadata, plates)) => (description.metadata, description.plates) = (metadata, plates),
            // A package that is not read to its end looks damaged.
            Err(_) if is_over => return Err(timed_out()),
            Err(damage) => description.damage = Some(damage),
        }
    }
    Ok(description)
}

/// Returns whether a picture has more pixels than a viewer should have to decode. Does not check whether the picture is
/// complete.
fn has_too_many_pixels(file: &mut impl Read) -> io::Result<bool> {
    let (mut picture, mut chunk, mut output) = (PictureCleaner::new(), vec![0; CHUNK_BYTES], Vec::new());
    loop {
        let length = file.read(&mut chunk)?;
        if length == 0 {
            return Ok(false);
        }
        output.clear();
        if let Err(fault) = picture.push(&chunk[..length], &mut output) {
            return Ok(fault == PictureFault::TooManyPixels);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn a_stored_file_is_described_and_a_slow_reading_ends() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path()).unwrap();
        let mut incoming = blobs.begin().await.unwrap();
        incoming.write(b"; estimated printing time (normal mode) = 1m\nG28\n").await.unwrap();
        let description = incoming.describe(&FileOwner::Shop).await.unwrap();
        assert_eq!((description.content, description.metadata.seconds), (Some(ContentType::Gcode), Some(60)));
        let stored = incoming.keep(&blobs.recording()).await.unwrap();
        let over = describe(&blobs.path(&stored.sha256), &mut || false).unwrap_err();
        assert_eq!(over.kind(), io::ErrorKind::TimedOut);
    }
}
