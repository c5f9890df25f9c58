//! Readable messages for operating system errors, without their error numbers.

use std::io;

/// Returns the message for an operating system error, without its error number.
pub fn io_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied for this user".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
        io::ErrorKind::NotADirectory => "part of its path is a file, not a folder".to_owned(),
        io::ErrorKind::InvalidData => "it is not valid UTF-8 text".to_owned(),
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::AddrInUse => "the address is already in use".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this server does not have that address".to_owned(),
        _ => {
            let words = error.to_string();
            words.split(" (os error").next().unwrap_or(&words).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_shown() {
        for number in [1, 2, 13, 17, 20, 21, 28, 30, 98, 99, 111, 113] {
            let words = io_words(&io::Error::from_raw_os_error(number));
            assert!(!words.is_empty() && !words.contains("os error"), "{number}: {words}");
        }
        assert_eq!(io_words(&io::Error::other("odd")), "odd");
    }
}
