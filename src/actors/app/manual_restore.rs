//! Detects a data directory that was manually unpacked from a backup: it contains the backup's manifest, which a server
//! never writes to a data directory. The first server started with the directory marks the shop as restored.

use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::backups::reading::{MANIFEST, MAX_MANIFEST_BYTES};
use super::backups::{MANIFEST_NAME, PRODUCT};
use super::start_error::ShopStartError;
use domain::time::Timestamp;
use store::connect::WriteConnection;
use store::restoring::{RestoredBackup, record};

/// Name to which the manifest is renamed when the restore has been recorded.
const RECORDED_NAME: &str = "manifest.restored.json";

/// Manifest fields that identify the backup.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManifestFacts {
    product: String,
    made_at: Timestamp,
}

/// Records a restore if the data directory was unpacked from a backup. Must be called before anything else is written.
///
/// # Errors
///
/// Fails if the manifest cannot be read or renamed, or the database cannot be written.
pub(super) async fn detect(data: &Path, writing: &mut WriteConnection, now: Timestamp) -> Result<(), ShopStartError> {
    let path = data.join(MANIFEST_NAME);
    let Some(backup) = unpacked(&path)? else { return Ok(()) };
    record(writing, &backup, now).await?;
    fs::rename(&path, data.join(RECORDED_NAME))?;
    tracing::warn!(made_at = %backup.made_at, "the data directory was restored from a backup; dispatch is on hold until an admin reviews the restore");
    Ok(())
}

/// Returns the backup whose manifest is at the given path; `None` if the file is missing or is not a manifest.
fn unpacked(path: &Path) -> io::Result<Option<RestoredBackup>> {
    let text = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if !metadata.is_file() || metadata.len() > MAX_MANIFEST_BYTES => return Ok(None),
        Err(error) => return Err(error),
        Ok(_) => fs::read(path)?,
    };
    let facts = bounded_json::read(&text, MANIFEST).and_then(serde_json::from_value::<ManifestFacts>).ok();
    let facts = facts.filter(|facts| facts.product == PRODUCT);
    Ok(facts.map(|facts| RestoredBackup { sha256: hex::encode(Sha256::digest(&text)), made_at: facts.made_at }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn only_the_manifest_of_a_backup_tells_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST_NAME);
        assert!(unpacked(&path).unwrap().is_none(), "no file");
        for other in ["", "{}", "[1]", r#"{"product": "Other", "madeAt": "2026-11-01T00:00:00.000Z"}"#] {
            fs::write(&path, other).unwrap();
            assert!(unpacked(&path).unwrap().is_none(), "{other}");
        }
        fs::write(&path, r#"{"product": "Printfloor", "madeAt": "2026-11-01T00:00:00.000Z", "members": []}"#).unwrap();
        assert_eq!(unpacked(&path).unwrap().unwrap().made_at.to_string(), "2026-11-01T00:00:00.000Z");
    }
}
