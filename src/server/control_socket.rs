//! The control socket in the data directory, whose callers have the rights of the machine's owner.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// File name of the socket in the data directory.
pub const CONTROL_SOCKET: &str = "control.sock";

/// Maximum length of a socket path, in bytes. Linux reserves 108 bytes, including a terminating zero; the BSDs reserve
/// 104.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Socket permissions: accessible only to the server's own account.
const SOCKET_MODE: u32 = 0o600;

/// Path at which the system accepts the socket, even if the path of the data directory itself is too long.
#[derive(Debug)]
pub(crate) struct SocketPath {
    path: PathBuf,
    /// Open data directory that a short path refers to by descriptor; must remain open for as long as the path is used.
    _folder: Option<File>,
}

impl SocketPath {
    /// Finds a usable path for the socket; fails if the directory cannot be opened.
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

    /// Returns the path, which is valid only as long as this value lives.
    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }

    /// Connects to the server that is listening on the socket.
    pub(crate) async fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect(&self.path).await
    }

    /// Binds a socket that only the server's own account can use, replacing one left by an earlier server.
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

/// Returns whether the system accepts the given path for a socket.
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
