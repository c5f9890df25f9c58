//! Data directory of the demo, with the state stored between starts.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::DEFAULT_PRINTERS;
use crate::error::DemoError;
use crate::random::{secret_bytes, signing_secret};

/// File that marks a directory as the data directory of a demo.
const MARKER_FILE: &str = "demo.json";
/// Permissions of the data directory: only for the account that runs the demo.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// State that a demo stores between starts, so that printers keep their addresses and signatures stay valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DemoState {
    /// First port of the webhook receiver and the simulated printers; `None` before the first start.
    pub base_port: Option<u16>,
    /// Number of printers in the last run.
    pub printers: usize,
    /// Password of the account [`super::setup::ADMIN`].
    pub password: String,
    /// Secret used to sign payment events.
    pub payment_secret: String,
    /// Secret used to sign webhooks.
    pub webhook_secret: String,
}

/// Data directory of a demo.
#[derive(Debug)]
pub struct Folder {
    /// Absolute path of the directory.
    pub path: PathBuf,
    /// Stored state; written to disk by [`Folder::keep`].
    pub memory: DemoState,
}

impl Folder {
    /// Opens a demo's data directory, or creates one. A directory with other contents is rejected, because it may
    /// belong to a real shop.
    pub fn open(path: &Path) -> Result<Self, DemoError> {
        let failed = || DemoError::io(format!("{} cannot be used", path.display()));
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path).map_err(failed())?;
        let path = path.canonicalize().map_err(failed())?;
        let memory = match fs::read_to_string(path.join(MARKER_FILE)) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                DemoError::Failed(format!("{} cannot be read: {error}", path.join(MARKER_FILE).display()))
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::read_dir(&path).map_err(failed())?.next().is_some() {
                    let words = format!("{} is not empty and does not belong to a demo", path.display());
                    return Err(DemoError::Failed(format!("{words}; choose another directory with --data DIR")));
                }
                DemoState {
                    base_port: None,
                    printers: DEFAULT_PRINTERS,
                    password: hex::encode(secret_bytes::<6>()),
                    payment_secret: signing_secret(),
                    webhook_secret: signing_secret(),
                }
            }
            Err(error) => return Err(failed()(error)),
        };
        let folder = Self { path, memory };
        folder.keep()?;
        Ok(folder)
    }

    /// Applies the base port from the command line. A port other than the one used at the first start is rejected,
    /// because the shop has stored the printers' addresses with their ports.
    pub fn choose_base_port(&mut self, chosen: Option<u16>) -> Result<(), DemoError> {
        match (self.memory.base_port, chosen) {
            (Some(stored), Some(chosen)) if stored != chosen => Err(DemoError::Failed(format!(
                "this demo's printers use the ports from {stored}; omit --base-port, or choose another directory with \
                 --data DIR"
            ))),
            (stored, chosen) => {
                self.memory.base_port = stored.or(chosen);
                Ok(())
            }
        }
    }

    /// Writes the state to disk, readable only by its owner.
    pub fn keep(&self) -> Result<(), DemoError> {
        let text = serde_json::to_string_pretty(&self.memory).unwrap_or_default() + "\n";
        let path = self.path.join(MARKER_FILE);
        replace(&path, &text).map_err(DemoError::io(format!("{} cannot be written", path.display())))
    }
}

/// Replaces a file atomically, so that a crash leaves either the old or the new one; the file is readable only by its
/// owner.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("tmp");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The rename itself must survive a power cut, too.
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_demo_finds_its_memory_again() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("new");
        let mut first = Folder::open(&path).unwrap();
        first.memory.base_port = Some(17_000);
        first.keep().unwrap();
        assert_eq!(Folder::open(&path).unwrap().memory, first.memory);
    }

    #[test]
    fn a_demo_keeps_the_ports_of_its_first_start() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(&parent.path().join("new")).unwrap();
        folder.choose_base_port(None).unwrap();
        assert_eq!(folder.memory.base_port, None, "the first free range");
        folder.choose_base_port(Some(20_000)).unwrap();
        folder.choose_base_port(Some(20_000)).unwrap();
        folder.choose_base_port(None).unwrap();
        assert_eq!(folder.memory.base_port, Some(20_000));
        let refused = folder.choose_base_port(Some(21_000)).unwrap_err().to_string();
        assert!(refused.contains("use the ports from 20000; omit --base-port"), "{refused}");
    }

    #[test]
    fn a_folder_with_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("printfloor.db"), "a real shop").unwrap();
        let error = Folder::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("does not belong to a demo"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
