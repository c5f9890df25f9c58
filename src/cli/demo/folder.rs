//! The demo's folder, and what it remembers from one start to the next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::PRINTERS;
use crate::actors::kernel::environment::secret_bytes;
use crate::cli::CliError;
use crate::config::dotenv;
use crate::domain::signing::generate_secret;
use crate::server::make_data_folder;

/// The file that marks a folder as one of the demo.
const FILE: &str = "demo.json";

/// What a demo must find again: its virtual printers keep their addresses, its people their secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// First port of the virtual printers and the webhook receiver; none before the first start.
    pub base_port: Option<u16>,
    /// How many printers.
    pub printers: usize,
    /// The admin's password.
    pub password: String,
    /// What payment events are signed with.
    pub payment_secret: String,
    /// What webhooks are signed with.
    pub webhook_secret: String,
}

/// A folder of the demo.
#[derive(Debug)]
pub struct Folder {
    /// Absolute.
    pub path: PathBuf,
    /// What is remembered; [`Folder::keep`] writes it.
    pub memory: Memory,
}

impl Folder {
    /// Opens a folder of the demo, or makes one. A folder with anything else in it is refused: it may be a real shop's.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let failed = || CliError::io(format!("{} cannot be used", path.display()));
        make_data_folder(path).map_err(failed())?;
        let path = path.canonicalize().map_err(failed())?;
        let memory = match fs::read_to_string(path.join(FILE)) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| CliError::Failed(format!("{} cannot be read: {error}", path.join(FILE).display())))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::read_dir(&path).map_err(failed())?.next().is_some() {
                    let words = format!("{} is not a folder of the demo, and not empty", path.display());
                    return Err(CliError::Failed(format!("{words}: name another with --data DIR")));
                }
                Memory {
                    base_port: None,
                    printers: PRINTERS,
                    password: hex::encode(secret_bytes::<6>()),
                    payment_secret: generate_secret(secret_bytes()),
                    webhook_secret: generate_secret(secret_bytes()),
                }
            }
            Err(error) => return Err(failed()(error)),
        };
        let folder = Self { path, memory };
        folder.keep()?;
        Ok(folder)
    }

    /// Writes down what is remembered, readable by its owner only.
    pub fn keep(&self) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(&self.memory).unwrap_or_default() + "\n";
        let path = self.path.join(FILE);
        dotenv::write(&path, &text).map_err(CliError::io(format!("{} cannot be written", path.display())))
    }
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
    fn a_folder_with_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("printfloor.db"), "a real shop").unwrap();
        let error = Folder::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("not a folder of the demo"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
