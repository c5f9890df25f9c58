//! Rules for the passwords that staff members choose: long enough, not blank, not among the most common passwords, and
//! not the account's own email address. Any characters are allowed. Hashing is implemented elsewhere.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Minimum length of a password, in characters.
pub const MIN_PASSWORD_CHARS: usize = 10;
/// Maximum length of a password, in bytes, which limits the hashing time.
pub const MAX_PASSWORD_BYTES: usize = 1024;

/// Most common passwords of sufficient length, in lowercase (`assets/passwords/README.md`).
static COMMON: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../../assets/passwords/common.txt").lines().collect());

/// Returns the problem with a new password that does not depend on the account, if any.
pub fn password_fault(password: &str) -> Option<String> {
    if password.chars().count() < MIN_PASSWORD_CHARS {
        Some(format!("must be at least {MIN_PASSWORD_CHARS} characters"))
    } else if password.len() > MAX_PASSWORD_BYTES {
        Some(format!("must be at most {MAX_PASSWORD_BYTES} bytes"))
    } else if password.trim().is_empty() {
        Some("must not be only whitespace".to_owned())
    } else if COMMON.contains(password.trim().to_lowercase().as_str()) {
        Some("must not be one of the most common passwords".to_owned())
    } else {
        None
    }
}

/// Returns the problem with a new password for the account with the given email address, in addition to those that
/// [`password_fault`] checks, if any.
pub fn own_password_fault(password: &str, email: &str) -> Option<String> {
    let (password, email) = (password.trim().to_lowercase(), email.trim().to_lowercase());
    let name = email.split('@').next().unwrap_or_default();
    let is_own = password == email || (!name.is_empty() && password == name);
    is_own.then(|| "must not be the account's own email address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_neither_short_nor_endless() {
        assert_eq!(password_fault("ten chars!"), None);
        // Characters count, not bytes.
        assert!(password_fault("ääääääääa").is_some());
        assert_eq!(password_fault(&"x".repeat(MAX_PASSWORD_BYTES)), None);
        assert!(password_fault(&"x".repeat(MAX_PASSWORD_BYTES + 1)).is_some());
    }

    #[test]
    fn common_and_blank_passwords_are_refused() {
        for common in
            ["password123", "Password123", " qwertyuiop ", "1234567890", "          ", "\u{a0}\t        \u{2003}"]
        {
            assert!(password_fault(common).is_some(), "{common:?}");
        }
        for fine in ["correct horse battery", "password123 and more", "kreis elf treppe"] {
            assert_eq!(password_fault(fine), None);
        }
    }

    #[test]
    fn the_list_is_whole_and_could_be_typed() {
        assert!(COMMON.len() >= 3_000, "{}", COMMON.len());
        let fits =
            |one: &&str| one.chars().count() >= MIN_PASSWORD_CHARS && one.trim() == *one && one.to_lowercase() == *one;
        assert_eq!(COMMON.iter().find(|one| !fits(one)), None);
    }

    #[test]
    fn the_own_address_is_no_password() {
        for own in ["sam.miller@shop.example", "Sam.Miller@Shop.Example ", "sam.miller"] {
            assert!(own_password_fault(own, "sam.miller@shop.example").is_some(), "{own}");
        }
        assert_eq!(own_password_fault("sam.miller's horse", "sam.miller@shop.example"), None);
        assert_eq!(own_password_fault("correct horse", ""), None);
    }

    #[test]
    fn a_refusal_says_what_a_password_must_be() {
        let (long, blank) = ("x".repeat(1025), " ".repeat(10));
        for (password, words) in [
            ("too short", "must be at least 10 characters"),
            (long.as_str(), "must be at most 1024 bytes"),
            (blank.as_str(), "must not be only whitespace"),
            ("password123", "must not be one of the most common passwords"),
        ] {
            assert_eq!(password_fault(password).as_deref(), Some(words));
        }
        let own = own_password_fault("sam.miller", "sam.miller@shop.example");
        assert_eq!(own.as_deref(), Some("must not be the account's own email address"));
    }
}
