//! Disk space limits for customers. Customers upload models and photos before the shop has reviewed anything, so the
//! total size of files awaiting the shop's response is limited, and some disk space is reserved for the shop's own
//! work.

/// Storage limits for customers; 0 means unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpaceLimits {
    /// Maximum total size, in bytes, of models and photos awaiting the shop's response.
    pub unclaimed_max_bytes: u64,
    /// Disk space that customers must leave free, in bytes.
    pub reserved_bytes: u64,
}

/// Current storage usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpaceUse {
    /// Total size, in bytes, of models and photos awaiting the shop's response.
    pub unclaimed_bytes: u64,
    /// Free disk space, in bytes; `None` if the operating system does not report it.
    pub free_bytes: Option<u64>,
}

/// Reason why a customer's file is not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpaceRefusal {
    /// The total size of the files awaiting the shop's response would be too large.
    #[error("the shop has too many unanswered files to accept more; try again later")]
    Unclaimed,
    /// Too little disk space is left.
    #[error("the shop has no storage space for more files; try again later")]
    Disk,
}

impl SpaceLimits {
    /// Returns the reason why a file of `growth` bytes cannot be stored, if any.
    pub fn refusal(&self, stored: SpaceUse, growth: u64) -> Option<SpaceRefusal> {
        let unclaimed = stored.unclaimed_bytes.saturating_add(growth);
        if self.unclaimed_max_bytes > 0 && unclaimed > self.unclaimed_max_bytes {
            return Some(SpaceRefusal::Unclaimed);
        }
        let left = stored.free_bytes.map(|free| free.saturating_sub(growth));
        (self.reserved_bytes > 0 && left.is_some_and(|left| left < self.reserved_bytes)).then_some(SpaceRefusal::Disk)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: SpaceLimits = SpaceLimits { unclaimed_max_bytes: 100, reserved_bytes: 50 };

    #[test]
    fn both_bounds_hold_and_zero_is_none() {
        let used = |unclaimed_bytes, free_bytes| SpaceUse { unclaimed_bytes, free_bytes };
        assert_eq!(LIMITS.refusal(used(90, Some(60)), 10), None);
        assert_eq!(LIMITS.refusal(used(90, Some(1000)), 11), Some(SpaceRefusal::Unclaimed));
        assert_eq!(LIMITS.refusal(used(0, Some(60)), 11), Some(SpaceRefusal::Disk));
        assert_eq!(LIMITS.refusal(used(0, None), 11), None, "a disk that tells nothing stops nobody");
        let none = SpaceLimits { unclaimed_max_bytes: 0, reserved_bytes: 0 };
        assert_eq!(none.refusal(used(u64::MAX, Some(0)), 1), None);
    }

    proptest! {
        /// Checks that, however files arrive, the accepted ones never exceed the limits.
        #[test]
        fn what_is_taken_stays_within_the_bounds(sizes in prop::collection::vec(0_u64..40, 0..30), free in 0_u64..300) {
            let mut stored = SpaceUse { unclaimed_bytes: 0, free_bytes: Some(free) };
            for size in sizes {
                if LIMITS.refusal(stored, size).is_none() {
                    stored.unclaimed_bytes += size;
                    stored.free_bytes = stored.free_bytes.map(|free| free - size);
                    prop_assert!(stored.free_bytes >= Some(LIMITS.reserved_bytes));
                }
            }
            prop_assert!(stored.unclaimed_bytes <= LIMITS.unclaimed_max_bytes);
        }
    }
}
