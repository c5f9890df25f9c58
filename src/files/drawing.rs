//! Pictures of stored G-code without a thumbnail, drawn from its moves when first requested.
//!
//! A drawing is stored next to the contents, under their hash and the plate's number, and removed with them. G-code
//! that cannot be drawn is recorded as well. Drawings are derived from the contents: they are not backed up, and an
//! incomplete drawing is drawn again.

mod raster;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::fs;

use super::blobs::{Blobs, ContentUses, LocalContent, Recording, TransferClass, is_hash};
use super::reading::{TimedFile, timed_out};
use domain::gcode::read_toolpath;

/// Subdirectory that contains the drawings. The name must change whenever pictures are drawn differently.
const DRAWINGS_FOLDER: &str = "drawings-1";
/// File content that marks G-code that cannot be drawn.
const UNDRAWABLE: &[u8] = b"nothing to draw\n";
/// First bytes of every PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Last bytes of every PNG file: the checksum of its last chunk.
const PNG_END: &[u8] = b"IEND\xaeB`\x82";
/// Colour for a part whose filament colour is unknown.
const NEUTRAL: [u8; 3] = [0x8a, 0x9b, 0xae];

/// Reason why a picture is not drawn.
#[derive(Debug, thiserror::Error)]
enum DrawError {
    /// The time limit was reached, or no request is still waiting for the picture.
    #[error("drawing took too long")]
    Cancelled,
    /// The picture could not be encoded.
    #[error(transparent)]
    Encode(#[from] png::EncodingError),
}

/// Picture to be drawn.
#[derive(Debug)]
struct DrawingRequest {
    /// Hash of the G-code.
    sha256: String,
    /// G-code.
    content: LocalContent,
    /// Path under which the picture is stored.
    picture: PathBuf,
    plate: u32,
    color: [u8; 3],
}

impl Blobs {
    /// Returns the directory for drawings of the given contents.
    pub(super) fn drawings(&self, sha256: &str) -> PathBuf {
        self.dir.join(DRAWINGS_FOLDER).join(if is_hash(sha256) { sha256 } else { "none" })
    }

    /// Returns a PNG of a plate of stored G-code, drawn from its moves in a colour such as `#2e6f40`; `None` if nothing
    /// can be drawn. If the PNG is not stored yet, waits for a free slot and draws it. The G-code is received from a
    /// bucket in this slot too, because it may be large and by then no one may be waiting for the picture any more.
    ///
    /// # Errors
    ///
    /// Fails if too many pictures are waiting to be drawn, or the disk or the bucket with the contents fails.
    pub async fn drawn_picture(&self, sha256: &str, plate: u32, color: Option<&str>) -> io::Result<Option<Vec<u8>>> {
        let picture = self.drawings(sha256).join(format!("{plate}.png"));
        if let Some(stored) = read_stored(&picture).await {
            return Ok(stored);
        }
        let turn = self.turns.drawing_turn().await?;
        // Another request may have been before this one.
        if let Some(stored) = read_stored(&picture).await {
            return Ok(stored);
        }
        let content = match self.local_of(sha256, TransferClass::Other).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            content => content?,
        };
        let color = color.and_then(rgb).unwrap_or(NEUTRAL);
        let request = DrawingRequest { sha256: sha256.to_owned(), content, picture, plate, color };
        let uses = self.uses.clone();
        match turn.draw(move |reading| request.draw(&uses, &mut || reading.goes_on())).await? {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            other => other,
        }
    }

    /// Returns the hashes of all contents that have drawings.
    ///
    /// # Errors
    ///
    /// Fails if the disk fails.
    pub async fn drawn_contents(&self) -> io::Result<Vec<String>> {
        let mut drawn = Vec::new();
        let mut folders = match fs::read_dir(self.dir.join(DRAWINGS_FOLDER)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(drawn),
            folders => folders?,
        };
        while let Some(folder) = folders.next_entry().await? {
            let name = folder.file_name().to_string_lossy().into_owned();
            if is_hash(&name) {
                drawn.push(name);
            }
        }
        Ok(drawn)
    }

    /// Removes the drawings of contents, if there are any.
    ///
    /// # Errors
    ///
    /// Fails if the disk fails.
    pub async fn remove_drawings(&self, sha256: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.drawings(sha256)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

impl DrawingRequest {
    /// Draws the picture and stores it, unless another request has done so in the meantime.
    fn draw(&self, uses: &Arc<ContentUses>, may_go_on: &mut dyn FnMut() -> bool) -> io::Result<Option<Vec<u8>>> {
        if let Some(stored) = std::fs::read(&self.picture).ok().and_then(stored_picture) {
            return Ok(stored);
        }
        let file = match File::open(self.content.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let picture = self.draw_content(file, may_go_on)?;
        // Contents are not removed while the picture is stored, so none is left behind.
        let recording = Recording::new(uses.clone(), TransferClass::Other);
        if recording.try_add(&self.sha256)
            && self.content.path().exists()
            && let Err(error) = self.store(picture.as_deref().unwrap_or(UNDRAWABLE))
        {
            tracing::warn!(%error, "cannot store a picture drawn from G-code");
        }
        Ok(picture)
    }

    /// Draws the picture from opened contents.
    fn draw_content(&self, file: File, may_go_on: &mut dyn FnMut() -> bool) -> io::Result<Option<Vec<u8>>> {
        let mut is_over = false;
        let timed = TimedFile { file, may_go_on: &mut *may_go_on, is_over: &mut is_over };
        let path = read_toolpath(timed, self.plate);
        if is_over {
            return Err(timed_out());
        }
        let path = match path {
            Ok(path) if path.has_area() => path,
            // A failing disk, unlike a damaged file, may read it next time.
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Ok(_) | Err(_) => return Ok(None),
        };
        match raster::draw(&path, self.color, may_go_on) {
            Ok(png) => Ok(Some(png)),
            Err(DrawError::Cancelled) => Err(timed_out()),
            Err(DrawError::Encode(error)) => Err(io::Error::other(error)),
        }
    }

    fn store(&self, bytes: &[u8]) -> io::Result<()> {
        std::fs::create_dir_all(self.picture.parent().unwrap_or(Path::new("")))?;
        let incomplete = self.picture.with_extension("incomplete");
        std::fs::write(&incomplete, bytes)?;
        std::fs::rename(&incomplete, &self.picture)
    }
}

/// Reads the stored picture at a path, as [`stored_picture`] does.
async fn read_stored(picture: &Path) -> Option<Option<Vec<u8>>> {
    stored_picture(fs::read(picture).await.ok()?)
}

/// Reads a stored picture; `None` if it has to be drawn again, and `Some(None)` if nothing can be drawn.
fn stored_picture(bytes: Vec<u8>) -> Option<Option<Vec<u8>>> {
    if bytes == UNDRAWABLE {
        return Some(None);
    }
    (bytes.starts_with(PNG) && bytes.ends_with(PNG_END)).then_some(Some(bytes))
}

/// Parses a colour such as `#2e6f40`.
fn rgb(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    hex::decode(digits).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests;
