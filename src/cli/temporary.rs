//! Temporary directory of a command.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{env, process};

use super::{CliError, output};

/// Permissions of the directory: only the user of the command has access.
const FOLDER_MODE: u32 = 0o700;

/// Directory of one run of a command, removed on drop.
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Creates the directory.
    pub fn create() -> Result<Self, CliError> {
        let path = env::temp_dir().join(format!("printfloor-temporary-{}", process::id()));
        let cannot = |error: io::Error| {
            let doing = format!("{} cannot be created; set TMPDIR to another directory", path.display());
            CliError::io(doing)(error)
        };
        // A killed process that had the same ID may have left it.
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
            _ => {}
        }
        DirBuilder::new().mode(FOLDER_MODE).create(&path).map_err(cannot)?;
        Ok(Self { path })
    }

    /// Returns the path of a file in the directory.
    pub fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            output::note(&format!("the temporary directory {} cannot be removed: {error}", self.path.display()));
        }
    }
}
