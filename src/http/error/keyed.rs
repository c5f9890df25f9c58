//! Failures of commands sent with an idempotency key, which can be retried.

use super::ApiError;
use kernel::handle::AskError;

/// Message for an unknown outcome that a retry will reveal.
const REPEATABLE_MESSAGE: &str =
    "the outcome is unknown; repeat the request with the same Idempotency-Key, which is safe and tells the outcome";

impl ApiError {
    /// Converts the failure of a command sent with an idempotency key. If the outcome is unknown, a retry with the same
    /// key reveals it and does not change anything twice.
    pub fn of_keyed(error: AskError) -> Self {
        match error {
            AskError::Unknown => Self::unavailable("unknown_outcome", REPEATABLE_MESSAGE, 1),
            error => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_an_idempotency_key_a_repeat_is_safe_and_tells_the_outcome() {
        let (keyed, plain) = (ApiError::of_keyed(AskError::Unknown), ApiError::from(AskError::Unknown));
        assert_eq!((keyed.status(), keyed.code()), (plain.status(), plain.code()));
        assert_eq!(keyed.code(), "unknown_outcome");
        assert!(keyed.message().contains("repeat the request with the same Idempotency-Key"), "{}", keyed.message());
        assert!(!keyed.message().contains("check whether"), "{}", keyed.message());
        assert!(plain.message().contains("check whether the change was made"), "{}", plain.message());
        for error in [AskError::Timeout, AskError::Closed, AskError::Overloaded] {
            assert_eq!(ApiError::of_keyed(error.clone()), ApiError::from(error));
        }
    }
}
