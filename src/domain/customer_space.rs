//! How much of the disk customers may take: they send models and photos before anybody of the shop has looked, so what
//! nobody has answered yet is bounded in all, and some of the disk stays free for the shop's own work.

/// Bounds of what customers may store; 0 is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpaceLimits {
    /// Most bytes of models and photos that the shop has not answered yet.
    pub unclaimed_max_bytes: u64,
    /// Bytes of the disk that they leave free.
    pub reserved_bytes: u64,
}

/// What is stored at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpaceUse {
    /// Bytes of models and photos that the shop has not answered yet.
    pub unclaimed_bytes: u64,
    /// Free bytes of the disk; `None` where the operating system does not tell.
    pub free_bytes: Option<u64>,
}

/// Why a customer's file is not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpaceRefusal {
    /// Too much waits for an answer.
    #[error("the shop has too many files to answer and takes no more for now; try again later")]
    Unclaimed,
    /// The disk is nearly full.
    #[error("the shop has no room for more files now; try again later")]
    Disk,
}

impl SpaceLimits {
    /// Returns why `growth` more bytes are not taken; `None` where they are.
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
        /// However files come, what is taken never passes the bounds.
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
