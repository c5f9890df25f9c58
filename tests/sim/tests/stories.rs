//! Stories of seeds.

use sim::{SimError, run};

#[test]
fn an_order_is_paid_printed_and_ready() -> Result<(), SimError> {
    for seed in 1..=5 {
        let report = run(seed)?;
        assert!(report.fault.is_none(), "seed {seed}:\n{}", report.story);
    }
    Ok(())
}

#[test]
fn the_same_seed_tells_the_same_story() -> Result<(), SimError> {
    for seed in 1..=3 {
        assert_eq!(run(seed)?.story, run(seed)?.story, "seed {seed}");
    }
    assert_ne!(run(1)?.story, run(2)?.story);
    Ok(())
}
