//! The socket in the data folder whose callers are the owner of the machine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// Name of the socket in the data folder.
pub const CONTROL_SOCKET: &str = "control.sock";

/// Longest path of a socket, in bytes: Linux has 108 for it, the last of which is zero; the BSDs have 104.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Permissions of the socket: the account of the server, and nobody else.
const SOCKET_MODE: u32 = 0o600;

/// A path by which the system accepts the socket, however long the data folder's own path is.
#[derive(Debug)]
pub(crate) struct SocketPath {
    path: PathBuf,
    /// The data folder, which a short path names by its descriptor; it must stay open as long as the path is used.
    _folder: Option<File>,
}

impl SocketPath {
    /// Finds such a path; fails when the folder cannot be opened.
    pub(crate) fn in_folder(data: &Path) -> io::Result<Self> {
        let path = data.join(CONTROL_SOCKET);
        if !cfg!(target_os = "linux") || fits(path.as_os_str()) {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(data)?;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&folder);
        let path = PathBuf::from(format!("/proc/self/fd/{descriptor}")).join(CONTROL_SOCKET);
        Ok(Self { path, _folder: Some(folder) })
    }

    /// Returns the path, which names the socket as long as this value lives.
    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }

    /// Connects to the server that listens on it.
    pub(crate) async fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.path).await
    }

    /// Replaces what an earlier server left there by a socket that only the account of the server can use.
    pub(crate) fn bind(&self) -> io::Result<UnixListener> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&self.path)?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(SOCKET_MODE))?;
        Ok(listener)
    }
}

/// Returns whether the system accepts this path for a socket.
fn fits(path: &OsStr) -> bool {
    path.as_bytes().len() <= MAX_SOCKET_PATH_BYTES
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[tokio::test]
    async fn a_folder_with_a_long_path_has_its_socket_too() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["short".to_owned(), "long".repeat(50)] {
            let data = root.path().join(folder);
            fs::create_dir(&data).unwrap();
            let socket = SocketPath::in_folder(&data).unwrap();
            let listener = socket.bind().unwrap();
            assert_eq!(fs::metadata(data.join(CONTROL_SOCKET)).unwrap().permissions().mode() & 0o777, SOCKET_MODE);
            let (connected, accepted) = tokio::join!(socket.connect(), listener.accept());
            assert!(connected.is_ok() && accepted.is_ok(), "{}", data.display());
        }
    }
}
