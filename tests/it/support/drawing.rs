//! Selection of cases where running all of them would take too long: it depends on the run's seed, so that successive
//! runs cover different cases.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use crate::chaos::from_env;

/// Seed if `PRINTFLOOR_TEST_SEED` is not set.
const USUAL_SEED: u64 = 1;

/// Returns the seed of the run.
pub fn run_seed() -> u64 {
    from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED)
}

/// Returns a number below this bound that depends on the case and the run's seed.
pub fn draw(case: impl Hash, bound: u64) -> u64 {
    draw_by(run_seed(), case, bound)
}

/// Returns a number below this bound that depends on the case and the given seed.
pub fn draw_by(seed: u64, case: impl Hash, bound: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, case).hash(&mut hasher);
    hasher.finish() % bound
}

/// Returns whether a test runs on PostgreSQL in a run with this seed, if each run uses one database for it.
pub fn draws_postgres(seed: u64, test: &str) -> bool {
    draw_by(seed, ("database", test), 2) == 1
}

/// Returns whether this is a run of the long profile, which covers all cases.
pub fn takes_all() -> bool {
    std::env::var("NEXTEST_PROFILE").is_ok_and(|profile| profile == "long")
}

#[test]
fn a_seed_draws_the_same_cases_again_and_a_third_of_many() {
    let draws = || (0..300).filter(|case| draw(("case", case), 3) == 0).collect::<Vec<u32>>();
    assert_eq!(draws(), draws());
    assert!((50..150).contains(&draws().len()), "{} of 300", draws().len());
}

#[test]
fn every_test_gets_either_database_by_some_seed_and_every_seed_draws_both() {
    let tests: Vec<String> = (0..20).map(|n| format!("machines::test_{n}")).collect();
    for test in &tests {
        let postgres = (1..=20).filter(|seed| draws_postgres(*seed, test)).count();
        assert!((1..20).contains(&postgres), "{test}: {postgres} of 20");
    }
    for seed in 1..=20 {
        let postgres = tests.iter().filter(|test| draws_postgres(seed, test)).count();
        assert!((1..20).contains(&postgres), "{seed}: {postgres} of 20");
    }
}
