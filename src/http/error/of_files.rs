//! Error responses for disk failures and for failures to read or store files.

use std::io::{self, ErrorKind};

use axum::http::StatusCode;

use super::ApiError;
use domain::customer_space::SpaceRefusal;
use files::turns::ReadersBusy;
use services::object_storage::StorageError;
use store::Unavailable;

/// `Retry-After` value, in seconds, for a customer whose upload is rejected because disk space is short.
const ROOM_RETRY_SECONDS: u32 = 600;
/// `Retry-After` value, in seconds, if too many models are being uploaded or pictures drawn at the same time.
const TURN_RETRY_SECONDS: u32 = 5;
/// `Retry-After` value, in seconds, after a disk or bucket error, which an operator has to resolve.
const DISK_RETRY_SECONDS: u32 = 30;

impl From<SpaceRefusal> for ApiError {
    fn from(refusal: SpaceRefusal) -> Self {
        let error = Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", refusal.to_string());
        error.retry_after(ROOM_RETRY_SECONDS)
    }
}

impl From<ReadersBusy> for ApiError {
    fn from(busy: ReadersBusy) -> Self {
        match busy {
            ReadersBusy::All | ReadersBusy::Drawings => {
                Self::unavailable("overloaded", busy.to_string(), TURN_RETRY_SECONDS)
            }
            ReadersBusy::Mailbox => Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", busy.to_string())
                .retry_after(TURN_RETRY_SECONDS),
        }
    }
}

impl From<io::Error> for ApiError {
    fn from(error: io::Error) -> Self {
        let error = match error.downcast::<ReadersBusy>() {
            Ok(busy) => return busy.into(),
            Err(error) => error,
        };
        let error = match error.downcast::<StorageError>() {
            Ok(error) => return of_bucket(error),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Unavailable::DiskFull.into(),
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                tracing::error!(%error, "the file storage is not writable");
                let words = "the server cannot write files; an operator must check the disk";
                Self::unavailable("read_only", words, DISK_RETRY_SECONDS)
            }
            // What no disk says: a content that is gone, and what the program itself is wrong about.
            ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::UnexpectedEof
            | ErrorKind::Unsupported
            | ErrorKind::Other => Self::internal(error),
            // Many errors of a disk, EIO among them, have no kind of their own.
            _ => {
                tracing::error!(%error, "the disk for files is failing");
                let words = "the server's disk for files is failing; try again in a moment";
                Self::unavailable("storage_unavailable", words, DISK_RETRY_SECONDS)
            }
        }
    }
}

/// Returns the error response for a request that needs a file in the bucket.
fn of_bucket(error: StorageError) -> ApiError {
    match error {
        StorageError::Silent(_) | StorageError::Unavailable(_) => error.into(),
        StorageError::Missing => ApiError::internal(error),
        StorageError::Denied(_) | StorageError::Failed(_) | StorageError::TooLarge => {
            tracing::error!(%error, "the bucket for files rejects requests");
            let words = "the bucket for files rejects requests; an operator must check it";
            ApiError::unavailable("storage_unavailable", words, DISK_RETRY_SECONDS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_says_is_for_later_and_what_we_say_is_a_fault() {
        // ENOSPC, EDQUOT, EROFS, EACCES, EIO, ENOTDIR, EMFILE, ESTALE.
        let codes = [
            (28, "disk_full"),
            (122, "disk_full"),
            (30, "read_only"),
            (13, "read_only"),
            (5, "storage_unavailable"),
            (20, "storage_unavailable"),
            (24, "storage_unavailable"),
            (116, "storage_unavailable"),
        ];
        for (number, code) in codes {
            let error = ApiError::from(io::Error::from_raw_os_error(number));
            assert_eq!((error.status().as_u16(), error.code()), (503, code), "{number}");
            // Some layers keep the kind alone.
            let error = ApiError::from(io::Error::from(io::Error::from_raw_os_error(number).kind()));
            assert_eq!((error.status().as_u16(), error.code()), (503, code), "the kind of {number}");
        }
        assert_eq!(ApiError::from(io::Error::from_raw_os_error(2)).status(), 500, "a content that is gone");
        assert_eq!(ApiError::from(io::Error::other("a thread is gone")).status(), 500);
        let busy = ApiError::from(io::Error::new(ErrorKind::ResourceBusy, ReadersBusy::Mailbox));
        assert_eq!((busy.status().as_u16(), busy.code()), (429, "rate_limited"));
    }

    #[test]
    fn a_bucket_that_fails_is_for_later() {
        let errors = [StorageError::Silent, StorageError::Unavailable, StorageError::Denied, StorageError::Failed];
        for error in errors.map(|error| error(String::new())) {
            let error = ApiError::from(io::Error::new(ErrorKind::HostUnreachable, error));
            assert_eq!((error.status().as_u16(), error.code()), (503, "storage_unavailable"));
        }
    }
}
