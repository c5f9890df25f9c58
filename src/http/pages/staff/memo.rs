//! [`Memo`]: values that are derived from a state of the shop once for all viewers.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of states whose values are remembered, most recently used first. More than one, so that a slow viewer
/// of an earlier state takes nothing from the viewers of the present one.
const MAX_STATES: usize = 4;

/// Values that are derived from the state of the shop. `S` tells states apart, `K` the values of a state, and `C` is
/// the cell of a value: `std::sync::OnceLock`, or `tokio::sync::OnceCell` for a value whose derivation waits or fails.
///
/// A memo hands out cells and derives nothing, so its lock is never held for long. Of all who want to fill a cell, one
/// does, and the others wait for the value; the cell of a value whose derivation fails stays empty.
pub(super) struct Memo<S, K, C> {
    /// Maximum number of values that are remembered for a state.
    max_values: usize,
    states: Mutex<VecDeque<StateCells<S, K, C>>>,
}

/// Values that were derived from the same state.
struct StateCells<S, K, C> {
    state: S,
    cells: HashMap<K, Arc<C>>,
}

impl<S: PartialEq, K: Hash + Eq, C: Default> Memo<S, K, C> {
    /// Creates an empty memo, which remembers a maximum number of values for each of the latest states.
    pub(super) fn new(max_values: usize) -> Self {
        Self { max_values, states: Mutex::default() }
    }

    /// Returns the cell of a value in a state. The state must have been noted before anything is read from which the
    /// value is derived: what changes meanwhile then makes another state. If the maximum number is reached, the cell is
    /// an empty one that is not remembered.
    pub(super) fn cell(&self, state: S, key: K) -> Arc<C> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = states.iter().position(|one| one.state == state).and_then(|index| states.remove(index));
        let latest = earlier.unwrap_or_else(|| StateCells { state, cells: HashMap::new() });
        states.truncate(MAX_STATES - 1);
        states.push_front(latest);
        let Some(StateCells { cells, .. }) = states.front_mut() else { return Arc::default() };
        if cells.len() >= self.max_values && !cells.contains_key(&key) {
            return Arc::default();
        }
        cells.entry(key).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::{Barrier, OnceLock};
    use std::thread;

    use tokio::sync::OnceCell;

    use super::*;

    type Numbers = Memo<i64, &'static str, OnceLock<i64>>;

    /// Returns a value, which is `value` if it has not been derived before.
    fn number(memo: &Numbers, state: i64, key: &'static str, value: i64) -> i64 {
        *memo.cell(state, key).get_or_init(|| value)
    }

    #[test]
    fn a_value_is_derived_once_for_each_state_and_key() {
        let memo = Numbers::new(10);
        assert_eq!([number(&memo, 1, "a", 1), number(&memo, 1, "a", 2)], [1, 1]);
        assert_eq!([number(&memo, 1, "b", 3), number(&memo, 2, "a", 4)], [3, 4]);
        assert_eq!([number(&memo, 1, "b", 5), number(&memo, 2, "a", 6)], [3, 4]);
    }

    #[test]
    fn an_earlier_state_takes_nothing_from_the_present_one() {
        let memo = Numbers::new(10);
        assert_eq!(number(&memo, 9, "a", 9), 9);
        for earlier in [8, 7, 6] {
            assert_eq!([number(&memo, earlier, "a", earlier), number(&memo, 9, "a", 0)], [earlier, 9]);
        }
    }

    #[test]
    fn states_and_values_are_bounded_in_number() {
        let memo = Numbers::new(2);
        for state in 0..100 {
            for (key, again) in [("a", 1), ("b", 1), ("c", 2), ("d", 2)] {
                number(&memo, state, key, 1);
                assert_eq!(number(&memo, state, key, 2), again, "{state} {key}");
            }
        }
        let states = memo.states.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(states.iter().map(|one| one.state).collect::<Vec<_>>(), [99, 98, 97, 96]);
        assert!(states.iter().all(|one| one.cells.len() == 2));
    }

    #[test]
    fn values_are_derived_beside_each_other_and_the_same_one_by_a_single_viewer() {
        let (memo, both) = (Numbers::new(10), Barrier::new(2));
        let derived = Mutex::new(Vec::new());
        // Each derivation waits for the other one, which a lock around them would prevent.
        let derive = |key| {
            let derive = || {
                both.wait();
                derived.lock().unwrap_or_else(PoisonError::into_inner).push(key);
                7
            };
            *memo.cell(1, key).get_or_init(derive)
        };
        let derive = &derive;
        thread::scope(|scope| {
            let viewers = ["a", "b", "a", "b"].map(|key| scope.spawn(move || derive(key)));
            for viewer in viewers {
                assert!(viewer.join().is_ok_and(|value| value == 7));
            }
        });
        assert_eq!(derived.lock().unwrap_or_else(PoisonError::into_inner).len(), 2);
    }

    #[tokio::test]
    async fn a_failure_is_not_remembered() {
        let memo = Memo::<i64, (), OnceCell<i64>>::new(1);
        let tries = Cell::new(0);
        let value = async |outcome: Result<i64, &'static str>| {
            let derive = || async {
                tries.set(tries.get() + 1);
                tokio::task::yield_now().await;
                outcome
            };
            memo.cell(1, ()).get_or_try_init(derive).await.copied()
        };
        let both = futures::future::join(value(Err("no database")), value(Ok(1))).await;
        assert_eq!((both, tries.get()), ((Err("no database"), Ok(1)), 2), "the one who waited tries as well");
        assert_eq!((value(Err("no database")).await, tries.get()), (Ok(1), 2));
    }
}
