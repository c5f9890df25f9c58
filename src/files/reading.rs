//! Reads what stored files say, off the async threads, few at a time and within a time limit.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::domain::gcode::{Content, Found, GcodeReader, read_package};
use crate::domain::mesh::{self, MeasureError, MeshFacts, MeshFault};
use crate::files::blobs::Blobs;

/// Files that are read at the same time: reading takes a processor as long as it lasts, and others want one too.
pub(super) const MAX_READERS: usize = 1;
/// Longest time to read one file. A gigabyte of G-code takes some seconds.
const READING_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

impl Blobs {
    /// What a file is, and what a slicer wrote into it. Waits for its turn.
    pub(super) async fn describe(&self, path: &Path) -> io::Result<Found> {
        let _turn = self.readers.acquire().await.map_err(io::Error::other)?;
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || describe(&path, Instant::now() + READING_TIMEOUT))
            .await
            .map_err(io::Error::other)?
    }
}

impl Blobs {
    /// What a stored model measures. Waits for its turn.
    ///
    /// # Errors
    ///
    /// When it is no model that can be measured, or cannot be read.
    pub async fn measure_stored(&self, sha256: &str) -> Result<MeshFacts, MeasureError> {
        let path = self.path(sha256);
        let found = self.describe(&path).await.map_err(MeasureError::Io)?;
        self.measure(&path, found.content.ok_or(MeshFault::NotAMesh)?).await
    }

    /// What a model of this kind measures. Waits for its turn.
    pub(super) async fn measure(&self, path: &Path, content: Content) -> Result<MeshFacts, MeasureError> {
        let closed = |error| MeasureError::Io(io::Error::other(error));
        let _turn = self.readers.acquire().await.map_err(closed)?;
        let path = path.to_owned();
        let measured = tokio::task::spawn_blocking(move || {
            let until = Instant::now() + READING_TIMEOUT;
            let file = File::open(&path).map_err(MeasureError::Io)?;
            mesh::measure(BufReader::new(file), content, &mut || Instant::now() <= until)
        });
        measured.await.map_err(|error| MeasureError::Io(io::Error::other(error)))?
    }
}

fn describe(path: &Path, until: Instant) -> io::Result<Found> {
    let mut file = File::open(path)?;
    let (mut reader, mut chunk) = (GcodeReader::new(), vec![0; CHUNK_BYTES]);
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            length => reader.push(&chunk[..length]),
        }
        if Instant::now() > until {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the file takes too long to read"));
        }
    }
    let mut found = reader.finish();
    if found.content == Some(Content::SlicedThreeMf) {
        match read_package(File::open(path)?) {
            Ok((metadata, plates)) => (found.metadata, found.plates) = (metadata, plates),
            Err(damage) => found.damage = Some(damage),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn a_stored_file_is_described_and_a_slow_reading_ends() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path()).unwrap();
        let mut incoming = blobs.begin().unwrap();
        incoming.write(b"; estimated printing time (normal mode) = 1m\nG28\n").await.unwrap();
        let found = incoming.describe().await.unwrap();
        assert_eq!((found.content, found.metadata.seconds), (Some(Content::Gcode), Some(60)));
        let kept = incoming.keep(&blobs.recording().await).await.unwrap();
        let over = describe(&blobs.path(&kept.sha256), Instant::now()).unwrap_err();
        assert_eq!(over.kind(), io::ErrorKind::TimedOut);
    }
}
