//! Slicer profiles: the `.ini` files in a directory, each a complete configuration exported from a slicer.
//!
//! A profile can run code, because `post_process` names programs that the slicer starts. Profiles with that key are
//! therefore rejected, and the key is disabled in the configuration passed to the slicer.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use tokio::fs;
use tokio::io::AsyncReadExt as _;

use super::SliceError;

/// Maximum size of a profile in bytes; complete configurations take about 20 kB.
const MAX_PROFILE_BYTES: u64 = 256 * 1024;
/// Maximum length of a profile name in characters.
const MAX_NAME_CHARS: usize = 100;
/// Key that names scripts to run.
const SCRIPTS_SETTING: &str = "post_process";
/// Key that enables binary G-code, which not every printer accepts.
const BINARY_SETTING: &str = "binary_gcode";
/// Settings appended to every profile, so that they take precedence.
const FORCED_SETTINGS: &str = "post_process = \nbinary_gcode = 0\n";

/// A validated profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlicerProfile(String);

impl SlicerProfile {
    /// Returns the configuration that is passed to the slicer.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the SHA-256 of the configuration.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    fn of(text: &str) -> Result<Self, String> {
        let mut settings = String::with_capacity(text.len() + FORCED_SETTINGS.len());
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                return Err("it contains sections: export a single configuration, not a bundle of presets".to_owned());
            }
            let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
            if key == SCRIPTS_SETTING && !value.trim_matches(['"', ';']).is_empty() {
                return Err(
                    "it runs scripts after slicing (post_process), which is not allowed; clear that field".to_owned()
                );
            }
            if key != SCRIPTS_SETTING && key != BINARY_SETTING {
                settings.push_str(line);
                settings.push('\n');
            }
        }
        settings.push_str(FORCED_SETTINGS);
        Ok(Self(settings))
    }
}

/// Returns whether a name is a valid profile name: one that contains no path and does not belong to a hidden file.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _-+.,@()".contains(c);
    !name.is_empty() && name.chars().count() <= MAX_NAME_CHARS && !name.starts_with('.') && name.chars().all(plain)
}

/// Reads the profile with the given name, which is its file name without `.ini`.
pub(super) async fn read(folder: &Path, name: &str) -> Result<SlicerProfile, SliceError> {
    let refused = |words: String| SliceError::Refused(format!("the slicer profile {name:?} cannot be used: {words}"));
    if !is_name(name) {
        return Err(refused("the name is not a valid file name".to_owned()));
    }
    let path = folder.join(format!("{name}.ini"));
    let file = match fs::File::open(&path).await {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = path.display();
            return Err(SliceError::Absent(format!("there is no slicer profile {name:?}: save it as {path}")));
        }
        Err(error) => return Err(refused(error.to_string())),
    };
    if !file.metadata().await?.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    let mut text = String::new();
    match file.take(MAX_PROFILE_BYTES + 1).read_to_string(&mut text).await {
        Ok(_) if text.len() as u64 > MAX_PROFILE_BYTES => {
            return Err(refused(format!("it is larger than {MAX_PROFILE_BYTES} bytes")));
        }
        Ok(_) => {}
        Err(error) => return Err(refused(error.to_string())),
    }
    SlicerProfile::of(&text).map_err(refused)
}

/// Returns the sorted names of the profiles in a directory; empty if the directory does not exist.
pub async fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(mut entries) = fs::read_dir(folder).await {
        while let Ok(Some(entry)) = entries.next_entry().await {
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(".ini")).filter(|name| is_name(name));
            names.extend(name.map(str::to_owned));
        }
    }
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn scripts_are_refused_and_switched_off() {
        let refused = SlicerProfile::of("layer_height = 0.2\npost_process = \"/tmp/x\"\n").unwrap_err();
        assert!(refused.contains("post_process"), "{refused}");
        for none in ["post_process =", "post_process = \"\"", "post_process=  "] {
            let profile =
                SlicerProfile::of(&format!("# exported\nlayer_height = 0.2\n{none}\nbinary_gcode = 1\n")).unwrap();
            assert_eq!(profile.text(), "# exported\nlayer_height = 0.2\npost_process = \nbinary_gcode = 0\n");
        }
        assert!(SlicerProfile::of("[print:fine]\nlayer_height = 0.1\n").is_err());
    }

    #[tokio::test]
    async fn a_profile_is_a_file_of_the_folder_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("profiles");
        fs::create_dir(&inside).await.unwrap();
        fs::write(inside.join("PLA 0.2.ini"), "a = 1\n").await.unwrap();
        fs::write(folder.path().join("outside.ini"), "a = 1\n").await.unwrap();
        fs::write(inside.join("large.ini"), "#".repeat(300_000)).await.unwrap();
        assert!(read(&inside, "PLA 0.2").await.is_ok());
        assert!(matches!(read(&inside, "none").await, Err(SliceError::Absent(_))));
        for bad in ["../outside", "", ".hidden", "a/b", "large", "a\u{0}b"] {
            assert!(matches!(read(&inside, bad).await, Err(SliceError::Refused(_))), "{bad:?}");
        }
        assert_eq!(names(&inside).await, ["PLA 0.2", "large"]);
    }
}
