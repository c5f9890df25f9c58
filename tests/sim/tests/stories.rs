//! Stories of seeds, with all generated content.

use std::ops::RangeInclusive;

use sim::{
    Cut, Plant, SeedReport, ShortStory, SimError, Size, run, run_all, run_cut, run_sized, seeds_to_catch, shrink,
    shrink_sized,
};

/// Seeds of small stories in each run.
const SEEDS: RangeInclusive<u64> = 1..=60;
/// Seeds of days in each run, besides [`TWICE_TOLD_DAY`].
const DAYS: RangeInclusive<u64> = 1..=1;
/// Seed of the day that is run twice.
const TWICE_TOLD_DAY: u64 = 2;
/// Maximum number of seeds until each planted fault is detected.
const SEEDS_TO_CATCH: u64 = 40;

/// Runs seeds, and fails with the shortest stories of those that fail.
fn hold(seeds: RangeInclusive<u64>) -> Result<(), SimError> {
    let mut failures = Vec::new();
    for seed in seeds {
        if let Some(fault) = run(seed)?.fault {
            let short = shrink(seed, None)?.map(|short| short.to_string()).unwrap_or_default();
            failures.push(format!("seed {seed}: {fault}\n    cargo run -p sim -- {short}"));
        }
    }
    assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), failures.join("\n"));
    Ok(())
}

/// Runs days of a shop with twenty printers on all cores, and fails with those that failed.
fn hold_all_day(seeds: RangeInclusive<u64>) -> Result<(), SimError> {
    let mut failures = Vec::new();
    let count = seeds.end() - seeds.start() + 1;
    run_all(Size::Day, *seeds.start(), count, |seed, report| {
        if let Some(fault) = report.fault {
            // Which makes its story shorter: that takes dozens of days.
            let command = format!("cargo run --release -p sim -- --day --seeds 1 --from {seed}");
            failures.push(format!("seed {seed}: {fault}\n    {command}"));
        }
        Ok(())
    })?;
    assert!(failures.is_empty(), "{} days failed:\n{}", failures.len(), failures.join("\n"));
    Ok(())
}

#[test]
fn everything_holds_in_all_seeds() -> Result<(), SimError> {
    hold(SEEDS)
}

#[test]
fn everything_holds_all_day() -> Result<(), SimError> {
    hold_all_day(DAYS)
}

mod long {
    use std::ops::RangeInclusive;

    use sim::SimError;

    /// Seeds of small stories in a run before a release.
    const SEEDS: RangeInclusive<u64> = 61..=2_200;
    /// Seeds of days in a run before a release.
    const DAYS: RangeInclusive<u64> = 3..=60;

    #[test]
    fn everything_holds_in_all_seeds() -> Result<(), SimError> {
        super::hold(SEEDS)
    }

    #[test]
    fn everything_holds_all_day() -> Result<(), SimError> {
        super::hold_all_day(DAYS)
    }
}

#[test]
fn the_same_seed_tells_the_same_story() -> Result<(), SimError> {
    let (first, second) = (run(1)?, run(2)?);
    assert_eq!(run(1)?.story, first.story);
    assert_ne!(first.story, second.story);
    Ok(())
}

#[test]
fn the_same_day_tells_the_same_story() -> Result<(), SimError> {
    let day = || -> Result<SeedReport, SimError> { run_sized(Size::Day, TWICE_TOLD_DAY, &Cut::default(), None) };
    let first = day()?;
    assert!(first.story == day()?.story, "a day was told in two ways");
    assert!(first.fault.is_none(), "day {TWICE_TOLD_DAY}: {:?}", first.fault);
    Ok(())
}

#[test]
fn the_same_seeds_tell_the_same_stories_on_all_cores() -> Result<(), SimError> {
    let mut seeds = Vec::new();
    run_all(Size::Story, 1, 10, |seed, report| {
        assert_eq!(report.story, run(seed)?.story, "seed {seed}");
        seeds.push(seed);
        Ok(())
    })?;
    assert!(seeds.into_iter().eq(1..=10), "in order");
    Ok(())
}

#[test]
fn a_shorter_story_fails_as_the_whole_one_does() -> Result<(), SimError> {
    for plant in [Plant::LostDelivery, Plant::LostMaintenance] {
        let first = first_seed(plant);
        let Some(count) = seeds_to_catch(plant, first, SEEDS_TO_CATCH)? else { panic!("{plant} is not caught") };
        let seed = first + count - 1;
        let mut lines = Vec::new();
        let short = shrink_sized(Size::Story, seed, Some(plant), |line| lines.push(line.to_owned()))?;
        let Some(ShortStory { cut, fault, tries, .. }) = short else { panic!("{plant} is not caught again") };
        println!("{plant} is caught by seed {seed} {cut} after {tries} tries");
        let again = run_cut(seed, &cut, Some(plant))?.fault;
        assert!(again.is_some_and(|again| again.to_string() == fault.to_string()), "{plant}: {cut}");
        assert!(cut != Cut::default(), "{plant} needs everything: {lines:?}");
        assert!((1..=Size::Story.most_tries()).contains(&tries) && lines.len() >= tries, "{plant}: {lines:?}");
        assert!(lines[0].starts_with("try 1 of 60: --without-"), "{plant}: {lines:?}");
    }
    Ok(())
}

/// Returns the seed whose story detects a planted fault first, as far as is known: if plans are drawn differently, a
/// later seed detects it, and the search takes longer.
fn first_seed(plant: Plant) -> u64 {
    match plant {
        Plant::LostCommit
        | Plant::LostSignOff
        | Plant::LeakedTask
        | Plant::DeafPrinter
        | Plant::DoubledRefund
        | Plant::LostRefund
        | Plant::LostMovement => 1,
        Plant::ForgottenCommit
        | Plant::RepeatedStart
        | Plant::KeptFile
        | Plant::UnknownCharge
        | Plant::SkippedNumber
        | Plant::StoppedEndpoint
        | Plant::LostFulfillment
        | Plant::LostUse
        | Plant::LostParcel
        | Plant::DoubledParcel => 3,
        Plant::RepeatedPayment | Plant::LostPayment => 4,
        Plant::UnknownClaim | Plant::DeafSettings => 5,
        Plant::LostMaintenance => 6,
        Plant::RejectedCounted => 7,
        Plant::LostCancel => 9,
        _ => 2,
    }
}

#[test]
fn every_planted_fault_is_caught() -> Result<(), SimError> {
    let mut missed = Vec::new();
    for plant in Plant::ALL {
        let first = first_seed(plant);
        match seeds_to_catch(plant, first, SEEDS_TO_CATCH)? {
            Some(count) => {
                let seed = first + count - 1;
                println!("{plant} is caught by seed {seed}");
                assert!(SEEDS.contains(&seed), "{plant} is caught by seed {seed}, which is not told in each run");
            }
            None => missed.push(plant.to_string()),
        }
    }
    assert!(missed.is_empty(), "missed in {SEEDS_TO_CATCH} seeds: {missed:?}");
    Ok(())
}
