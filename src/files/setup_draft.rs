//! File with the setup wizard's encrypted draft, which exists until the draft is written to the settings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use config::dotenv;
use domain::setup::draft::SetupDraft;
use platform::secrets::encryption::SecretCipher;

/// File name in the data directory.
const FILE_NAME: &str = "setup-draft";

/// Draft file of a server.
pub struct DraftFile {
    path: PathBuf,
    cipher: SecretCipher,
}

impl DraftFile {
    /// Returns the draft file in the given data directory.
    pub fn new(data_dir: &Path, cipher: &SecretCipher) -> Self {
        Self { path: data_dir.join(FILE_NAME), cipher: cipher.clone() }
    }

    /// Reads the draft; returns an empty one if the file is missing or unreadable. Blocks.
    pub fn load(&self) -> SetupDraft {
        let Ok(text) = fs::read_to_string(&self.path) else { return SetupDraft::default() };
        let Ok(plain) = self.cipher.decrypt(&text) else { return SetupDraft::default() };
        let value = bounded_json::read(plain.as_bytes(), bounded_json::ANSWER);
        value.ok().and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// Replaces the file atomically; only its owner can read it. Blocks.
    pub fn store(&self, draft: &SetupDraft) -> io::Result<()> {
        let plain = serde_json::to_string(draft).map_err(io::Error::other)?;
        dotenv::write(&self.path, &self.cipher.encrypt_or_empty(&plain))
    }

    /// Encrypts the draft with the latest key if another one decrypts it. Blocks.
    pub fn renew(&self) -> io::Result<()> {
        let draft = self.load();
        if draft == SetupDraft::default() { Ok(()) } else { self.store(&draft) }
    }

    /// Removes the file if it exists. Blocks.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    fn key(fill: u8) -> String {
        BASE64_STANDARD.encode([fill; 32])
    }

    fn cipher(fill: u8) -> SecretCipher {
        SecretCipher::new(&key(fill)).unwrap()
    }

    #[test]
    fn a_draft_moves_to_a_new_key() {
        let folder = tempfile::tempdir().unwrap();
        let moving = DraftFile::new(folder.path(), &SecretCipher::with_former(&key(2), &key(1)).unwrap());
        moving.renew().unwrap();
        assert!(!folder.path().join(FILE_NAME).exists(), "there is none");
        let mut draft = SetupDraft::default();
        draft.keep("agent", &[], vec![("agent.token".to_owned(), "hunter2".to_owned())], "ok");
        DraftFile::new(folder.path(), &cipher(1)).store(&draft).unwrap();
        moving.renew().unwrap();
        assert!(DraftFile::new(folder.path(), &cipher(2)).load() == draft);
    }

    #[test]
    fn a_draft_is_kept_unreadable_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = DraftFile::new(folder.path(), &cipher(1));
        assert!(file.load() == SetupDraft::default());
        let mut draft = SetupDraft::default();
        draft.keep("agent", &[], vec![("agent.token".to_owned(), "hunter2".to_owned())], "ok");
        file.store(&draft).unwrap();
        assert!(file.load() == draft);
        assert!(!fs::read_to_string(folder.path().join(FILE_NAME)).unwrap().contains("hunter2"));
        let other = DraftFile::new(folder.path(), &cipher(2));
        assert!(other.load() == SetupDraft::default(), "another key opens nothing");
        file.remove().unwrap();
        file.remove().unwrap();
        assert!(file.load() == SetupDraft::default());
    }
}
