//! Values derived from the state of an aggregate in memory, such as its JSON. A value is valid only for the exact state
//! from which it was derived: after any commit to the aggregate, the next reader derives it again.
//!
//! Memory is bounded in bytes. Values of states that have left memory are forgotten whenever the bytes have doubled, so
//! that a cache takes about as much as its values of present states do.

use std::hash::Hash;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use dashmap::DashMap;

/// Number of bytes up to which nothing is forgotten: looking through all entries would cost more than it frees.
const MIN_CLEANUP_BYTES: usize = 256 * 1024;

/// Bounds of a [`StateCache`]. If one is exceeded, the values of earlier states are forgotten or, if that does not make
/// room, all.
#[derive(Clone, Copy)]
pub(crate) struct CacheBounds {
    /// Maximum number of values.
    pub entries: usize,
    /// Maximum total size of all values, in bytes, including their keys and their heap memory.
    pub bytes: usize,
}

/// Values of type `V` by their keys, each derived from a state of type `S`.
pub(crate) struct StateCache<K, S, V> {
    bounds: CacheBounds,
    entries: DashMap<K, StateEntry<S, V>>,
    /// Bytes of all entries; more while an entry is being inserted, never fewer.
    bytes: AtomicUsize,
    /// Number of bytes above which values of earlier states are forgotten: twice the number that remained last time.
    cleanup_bytes: AtomicUsize,
}

/// Value derived from one state.
struct StateEntry<S, V> {
    /// State that the value was derived from. Held weakly, so that an old state can leave memory.
    state: Weak<S>,
    value: V,
    /// Bytes that the entry counts for.
    bytes: usize,
}

impl<K: Hash + Eq, S, V> StateCache<K, S, V> {
    /// Size of an entry, in bytes, without its heap memory.
    const ENTRY_BYTES: usize = size_of::<K>() + size_of::<StateEntry<S, V>>();

    /// Creates an empty cache.
    pub(crate) fn new(bounds: CacheBounds) -> Self {
        let cleanup_bytes = MIN_CLEANUP_BYTES.min(bounds.bytes).into();
        Self { bounds, entries: DashMap::new(), bytes: AtomicUsize::new(0), cleanup_bytes }
    }

    /// Returns what `read` makes of the value with the given key, if there is one that was derived from this very
    /// state.
    pub(crate) fn find<T>(&self, key: &K, state: &Arc<S>, read: impl FnOnce(&V) -> Option<T>) -> Option<T> {
        let entry = self.entries.get(key)?;
        // The weak reference keeps the address from being used again for another state.
        let is_current = ptr::eq(entry.state.as_ptr(), Arc::as_ptr(state));
        if is_current { read(&entry.value) } else { None }
    }

    /// Remembers a value that was derived from the given state. `heap_bytes` are those that it has outside of itself.
    pub(crate) fn insert(&self, key: K, state: &Arc<S>, value: V, heap_bytes: usize) {
        let bytes = Self::ENTRY_BYTES + heap_bytes;
        if bytes > self.bounds.bytes {
            return;
        }
        self.make_room(bytes);
        self.bytes.fetch_add(bytes, Relaxed);
        if let Some(former) = self.entries.insert(key, StateEntry { state: Arc::downgrade(state), value, bytes }) {
            self.bytes.fetch_sub(former.bytes, Relaxed);
        }
    }

    /// Forgets values so that one of the given size can be inserted within the bounds.
    fn make_room(&self, bytes: usize) {
        let has_room =
            |bound: usize| self.bytes.load(Relaxed) + bytes <= bound && self.entries.len() < self.bounds.entries;
        if has_room(self.cleanup_bytes.load(Relaxed)) {
            return;
        }
        self.forget(|entry| entry.state.strong_count() == 0);
        if !has_room(self.bounds.bytes) {
            self.forget(|_| true);
        }
        let doubled = self.bytes.load(Relaxed).saturating_mul(2);
        self.cleanup_bytes.store(doubled.max(MIN_CLEANUP_BYTES).min(self.bounds.bytes), Relaxed);
    }

    fn forget(&self, is_obsolete: impl Fn(&StateEntry<S, V>) -> bool) {
        self.entries.retain(|_, entry| {
            let is_kept = !is_obsolete(entry);
            if !is_kept {
                self.bytes.fetch_sub(entry.bytes, Relaxed);
            }
            is_kept
        });
    }

    /// Returns the number of values.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of bytes of all values.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;
    const BOUNDS: CacheBounds = CacheBounds { entries: 10_000, bytes: 4 * KIB * KIB };

    type Cache = StateCache<usize, u8, usize>;

    /// Returns the bytes of all entries as they are.
    fn stored_bytes(cache: &Cache) -> usize {
        cache.entries.iter().map(|entry| entry.bytes).sum()
    }

    fn find(cache: &Cache, key: usize, state: &Arc<u8>) -> Option<usize> {
        cache.find(&key, state, |value| Some(*value))
    }

    #[test]
    fn a_value_counts_for_the_very_state_that_it_was_derived_from() {
        let (cache, before, after) = (Cache::new(BOUNDS), Arc::new(1), Arc::new(1));
        cache.insert(1, &before, 10, 0);
        assert_eq!((find(&cache, 1, &before), find(&cache, 1, &before.clone())), (Some(10), Some(10)));
        assert_eq!((find(&cache, 1, &after), find(&cache, 2, &before)), (None, None));
        // A state that has left memory leaves its address to no other one.
        drop(before);
        assert!((0..100).all(|_| find(&cache, 1, &Arc::new(1)).is_none()));
    }

    #[test]
    fn values_are_bounded_in_bytes() {
        let (cache, state) = (Cache::new(BOUNDS), Arc::new(1));
        for number in 0..2000 {
            cache.insert(number, &state, number, 16 * KIB);
            assert!(stored_bytes(&cache) <= BOUNDS.bytes && stored_bytes(&cache) == cache.bytes());
            assert_eq!(find(&cache, number, &state), Some(number));
        }
        cache.insert(0, &state, 7, BOUNDS.bytes);
        assert_eq!(find(&cache, 0, &state), None, "one that is too large by itself makes nothing leave");
        assert!(cache.len() > 1);
    }

    #[test]
    fn values_are_bounded_in_number() {
        let (cache, state) = (Cache::new(CacheBounds { entries: 100, ..BOUNDS }), Arc::new(1));
        (0..1000).for_each(|number| cache.insert(number, &state, number, 0));
        assert!(cache.len() <= 100);
        assert_eq!(find(&cache, 999, &state), Some(999));
    }

    #[test]
    fn values_of_earlier_states_leave_memory_whenever_the_bytes_have_doubled() {
        let (cache, state) = (Cache::new(BOUNDS), Arc::new(1));
        cache.insert(0, &state, 7, 0);
        for number in 1..1000 {
            // The state leaves memory at once, as that of an aggregate that changes all the time.
            cache.insert(number, &Arc::new(1), number, 16 * KIB);
            assert!(cache.bytes() <= MIN_CLEANUP_BYTES, "{} bytes", cache.bytes());
        }
        assert_eq!(find(&cache, 0, &state), Some(7));
    }

    #[test]
    fn a_value_that_replaces_another_counts_once() {
        let (cache, state) = (Cache::new(BOUNDS), Arc::new(1));
        cache.insert(1, &state, 1, 10 * KIB);
        cache.insert(1, &state, 2, KIB);
        assert_eq!((cache.len(), cache.bytes()), (1, stored_bytes(&cache)));
        assert_eq!(find(&cache, 1, &state), Some(2));
    }

    #[test]
    fn values_of_present_states_stay_until_nothing_else_makes_room() {
        let (cache, present, before) = (Cache::new(BOUNDS), Arc::new(1), Arc::new(1));
        cache.insert(0, &present, 7, KIB);
        (1..4000).for_each(|number| cache.insert(number, &before, number, KIB / 2));
        drop(before);
        (4000..8000).for_each(|number| cache.insert(number, &Arc::new(1), number, KIB / 2));
        assert_eq!(find(&cache, 0, &present), Some(7));
    }
}
