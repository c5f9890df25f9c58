//! Free space on the disk that contains a directory.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

/// Directory that Linux creates at the root of a new volume. Only root may read it, and it contains nothing from this
/// server.
pub const LOST_FOUND: &str = "lost+found";

/// Capacity, in bytes, of the disk that contains a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskCapacity {
    /// Number of bytes that the server can still write.
    pub free_bytes: u64,
    /// Total capacity of the disk in bytes.
    pub total_bytes: u64,
}

impl DiskCapacity {
    /// Queries the operating system for the capacity, which may take a while, so it must not run on the async runtime's
    /// threads.
    ///
    /// # Errors
    ///
    /// Returns an error if the query fails, for example because the directory no longer exists.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let disk = statvfs(folder)?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        Ok(Self { free_bytes: bytes(disk.f_bavail), total_bytes: bytes(disk.f_blocks) })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn there_is_no_more_room_than_the_disk_has() {
        let folder = tempfile::tempdir().unwrap();
        let room = DiskCapacity::of(folder.path()).unwrap();
        assert!(room.free_bytes <= room.total_bytes && room.total_bytes > 0, "{room:?}");
        assert!(DiskCapacity::of(&folder.path().join("nothing")).is_err());
    }
}
