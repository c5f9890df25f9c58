//! API keys that were checked against the current state of access, so that a client's next request with the same key
//! needs neither the key's HMAC nor a new principal.
//!
//! An entry counts only for the very state of access for which the key was checked: whatever is committed to access,
//! such as a revocation, makes the next request check its key again. Keys themselves are not kept, but a digest of each
//! that depends on a secret of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::state_cache::{CacheBounds, StateCache};
use domain::access::Access;
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::principal::Principal;
use domain::time::Timestamp;
use platform::secrets::random::secret_bytes;

/// Bounds of the keys. One that was forgotten is checked once more.
const BOUNDS: CacheBounds = CacheBounds { entries: 4096, bytes: 4 * 1024 * 1024 };
/// Number of secret bytes in front of a key: a whole block of the hash function, which is computed only once.
const SECRET_BYTES: usize = 64;
/// Time after which another use of a key is noted. The time of the last use is accurate to about a minute.
const NOTE_INTERVAL_MS: i64 = 1000;

/// Keyed digest of an API key.
pub(super) type ApiKeyDigest = [u8; 32];

/// API keys by their digest.
pub struct CheckedKeys {
    /// Hash function that has already read this process's secret.
    keyed: Sha256,
    /// Entries by the first bytes of their digest.
    entries: StateCache<u64, Versioned<Access>, CheckedKey>,
}

/// Result of checking an API key.
pub(super) struct CheckedKey {
    /// Keyed digest of the whole key.
    pub digest: ApiKeyDigest,
    /// Time at which the key expires, if it does.
    pub expires_at: Option<Timestamp>,
    /// ID of the key.
    pub id: Id,
    /// Principal of requests with the key.
    pub principal: Arc<Principal>,
    /// Time of the last use that was noted, in milliseconds.
    pub noted_at: AtomicI64,
}

impl CheckedKey {
    /// Returns the bytes that it has on the heap.
    fn heap_bytes(&self) -> usize {
        let text_bytes = if let Principal::Key { name, customer_email, .. } = &*self.principal {
            name.len() + customer_email.as_ref().map_or(0, String::len)
        } else {
            0
        };
        size_of::<Principal>() + text_bytes
    }

    /// Returns whether a use at `now` is to be noted, and remembers that it is. Others within the same second are not.
    fn notes_use(&self, now: Timestamp) -> bool {
        // A clock that was set back counts as another second.
        let is_due =
            now.since(Timestamp(self.noted_at.load(Relaxed))).unsigned_abs() >= NOTE_INTERVAL_MS.unsigned_abs();
        if is_due {
            self.noted_at.store(now.0, Relaxed);
        }
        is_due
    }
}

impl Default for CheckedKeys {
    fn default() -> Self {
        Self { keyed: Sha256::new_with_prefix(secret_bytes::<SECRET_BYTES>()), entries: StateCache::new(BOUNDS) }
    }
}

impl CheckedKeys {
    /// Returns the keyed digest of an API key. It never leaves this module's callers, so the secret in front of the key
    /// needs no second hash around both.
    pub(super) fn digest(&self, key: &str) -> ApiKeyDigest {
        self.keyed.clone().chain_update(key).finalize().into()
    }

    /// Returns the principal of a key that was found valid in the given state of access and has not expired. Calls
    /// `note` with the key's ID about once a second while the key is used.
    pub(super) fn find(
        &self,
        digest: &ApiKeyDigest,
        state: &Arc<Versioned<Access>>,
        now: Timestamp,
        note: impl FnOnce(Id),
    ) -> Option<Arc<Principal>> {
        self.entries.find(&place(digest), state, |key| {
            let is_same: bool = key.digest.ct_eq(digest).into();
            let is_valid = is_same && key.expires_at.is_none_or(|at| at > now);
            if !is_valid {
                return None;
            }
            if key.notes_use(now) {
                note(key.id);
            }
            Some(key.principal.clone())
        })
    }

    /// Remembers a key that is valid in the given state of access.
    pub(super) fn remember(&self, state: &Arc<Versioned<Access>>, key: CheckedKey) {
        let (place, heap_bytes) = (place(&key.digest), key.heap_bytes());
        self.entries.insert(place, state, key, heap_bytes);
    }
}

/// Returns the place of a digest in the table. Two digests with the same place take turns.
fn place(digest: &ApiKeyDigest) -> u64 {
    digest.iter().take(8).fold(0, |place, byte| place << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    type AccessSnapshot = Arc<Versioned<Access>>;

    fn state() -> AccessSnapshot {
        Arc::new(Versioned::nothing())
    }

    fn remember(keys: &CheckedKeys, key: &str, state: &AccessSnapshot, expires_at: Option<Timestamp>) {
        let (digest, principal) = (keys.digest(key), Arc::new(Principal::Machine));
        let (id, noted_at) = (domain::testing::id(7), AtomicI64::new(NOW.0));
        keys.remember(state, CheckedKey { digest, expires_at, id, principal, noted_at });
    }

    fn is_found(keys: &CheckedKeys, key: &str, state: &AccessSnapshot, now: Timestamp) -> bool {
        keys.find(&keys.digest(key), state, now, |_| {}).is_some()
    }

    #[test]
    fn a_key_counts_only_for_the_very_state_of_access_for_which_it_was_checked() {
        // All of them have the same version, as after a restore.
        let (keys, before, after) = (CheckedKeys::default(), state(), state());
        assert!(!is_found(&keys, "key_live_a", &before, NOW));
        remember(&keys, "key_live_a", &before, None);
        assert!(is_found(&keys, "key_live_a", &before, NOW) && is_found(&keys, "key_live_a", &before.clone(), NOW));
        assert!(!is_found(&keys, "key_live_b", &before, NOW), "another key");
        assert!(!is_found(&keys, "key_live_a", &after, NOW), "it may have been revoked");
        remember(&keys, "key_live_a", &after, None);
        assert!(is_found(&keys, "key_live_a", &after, NOW) && !is_found(&keys, "key_live_a", &before, NOW));
        // A state that has left memory leaves its address to no other one.
        drop(after);
        for _ in 0..100 {
            assert!(!is_found(&keys, "key_live_a", &state(), NOW));
        }
    }

    #[test]
    fn a_key_that_expires_counts_until_then() {
        let (keys, state) = (CheckedKeys::default(), state());
        remember(&keys, "key_live_a", &state, Some(Timestamp(NOW.0 + 10)));
        assert!(is_found(&keys, "key_live_a", &state, Timestamp(NOW.0 + 9)));
        assert!(!is_found(&keys, "key_live_a", &state, Timestamp(NOW.0 + 10)));
    }

    #[test]
    fn digests_depend_on_the_process_and_on_the_whole_key() {
        let ([one, other], state) = ([(); 2].map(|()| CheckedKeys::default()), state());
        assert_eq!(one.digest("key_live_a"), one.digest("key_live_a"));
        assert_ne!(one.digest("key_live_a"), other.digest("key_live_a"), "each process has a secret of its own");
        assert_ne!(one.digest("key_live_a"), one.digest("key_live_b"));
        // A digest in the same place as that of another key does not stand for it.
        let mut near = one.digest("key_live_a");
        near[31] ^= 1;
        remember(&one, "key_live_a", &state, None);
        assert!(one.find(&near, &state, NOW, |_| {}).is_none());
    }

    #[test]
    fn the_use_of_a_key_is_noted_once_a_second_and_when_the_clock_was_set_back() {
        let (keys, state) = (CheckedKeys::default(), state());
        remember(&keys, "key_live_a", &state, None);
        let notes = |at: i64| {
            let mut noted = false;
            keys.find(&keys.digest("key_live_a"), &state, Timestamp(at), |id| noted = id == domain::testing::id(7));
            noted
        };
        let at = [NOW.0, NOW.0 + 999, NOW.0 + 1000, NOW.0 + 1500, NOW.0 + 2000, NOW.0 - 5000, NOW.0 - 4500];
        assert_eq!(at.map(notes), [false, false, true, false, true, true, false]);
    }

    #[test]
    fn keys_are_bounded_in_number() {
        let (keys, state) = (CheckedKeys::default(), state());
        for number in 0..3 * BOUNDS.entries {
            remember(&keys, &number.to_string(), &state, None);
        }
        assert!(keys.entries.len() <= BOUNDS.entries);
        assert!(is_found(&keys, &(3 * BOUNDS.entries - 1).to_string(), &state, NOW));
    }

    #[test]
    fn keys_of_earlier_states_make_room_first() {
        let (keys, before, after) = (CheckedKeys::default(), state(), state());
        remember(&keys, "key_live_a", &after, None);
        for number in 1..BOUNDS.entries {
            remember(&keys, &number.to_string(), &before, None);
        }
        drop(before);
        remember(&keys, "key_live_b", &after, None);
        assert!(["key_live_a", "key_live_b"].iter().all(|key| is_found(&keys, key, &after, NOW)));
        assert_eq!(keys.entries.len(), 2);
    }
}
