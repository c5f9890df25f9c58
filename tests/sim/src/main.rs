//! Runs seeds of the simulation: `sim --seed 7` prints the story of one, `sim --seeds 1000 --from 5` runs many on all
//! cores and counts failures, and `sim --plants` shows that each planted fault is detected. With `--day`, a seed is a
//! whole day.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser};
use rustix::time::{ClockId, clock_gettime};
use sim::{Cut, FaultKind, PlanPart, Plant, SimError, Size, run_all, run_sized, seeds_to_catch, shrink_sized};

/// Milliseconds in a day.
const DAY_MS: f64 = 86_400_000.0;

/// Runs the shop on virtual time.
#[derive(Parser)]
struct Arguments {
    /// Seed of the run to print in full.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    omissions: Omissions,
    /// Number of seeds to run and summarize.
    #[arg(long)]
    seeds: Option<u64>,
    /// First of these seeds.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Runs whole days of a shop with twenty printers.
    #[arg(long)]
    day: bool,
    /// Stops at the first seed that fails, and prints how many seeds were run.
    #[arg(long, requires = "seeds")]
    until_first: bool,
    /// Plants each fault, and prints how many seeds it takes to detect it.
    #[arg(long)]
    plants: bool,
}

/// Parts of the plan to leave out of the story, each a list separated by commas, as the shorter story of a failing seed
/// names them. Numbers are those in the whole plan.
#[derive(Args)]
struct Omissions {
    /// Names of faults.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Numbers of orders.
    #[arg(long, value_delimiter = ',')]
    without_orders: Vec<usize>,
    /// Numbers of staff tasks.
    #[arg(long, value_delimiter = ',')]
    without_tasks: Vec<usize>,
    /// Numbers of changes to the shop's settings.
    #[arg(long, value_delimiter = ',')]
    without_rules: Vec<usize>,
    /// Numbers of parcels.
    #[arg(long, value_delimiter = ',')]
    without_parcels: Vec<usize>,
    /// Numbers of invoices without an order.
    #[arg(long, value_delimiter = ',')]
    without_invoices: Vec<usize>,
    /// Numbers of webhook endpoints.
    #[arg(long, value_delimiter = ',')]
    without_endpoints: Vec<usize>,
    /// Numbers of other shops.
    #[arg(long, value_delimiter = ',')]
    without_shops: Vec<usize>,
    /// Numbers of changes of spools.
    #[arg(long, value_delimiter = ',')]
    without_spools: Vec<usize>,
    /// Numbers of crashes.
    #[arg(long, value_delimiter = ',')]
    without_crashes: Vec<usize>,
    /// Numbers of spool managers; the only one is number 0.
    #[arg(long, value_delimiter = ',')]
    without_spool_managers: Vec<usize>,
}

/// Part of a plan with the given number.
type PlanPartOf = fn(usize) -> PlanPart;

impl Omissions {
    fn cut(&self) -> Result<Cut, SimError> {
        let lists: [(&[usize], PlanPartOf); 10] = [
            (&self.without_orders, PlanPart::Order),
            (&self.without_tasks, PlanPart::Task),
            (&self.without_rules, PlanPart::Rule),
            (&self.without_parcels, PlanPart::Parcels),
            (&self.without_invoices, PlanPart::Invoice),
            (&self.without_endpoints, PlanPart::Endpoint),
            (&self.without_shops, PlanPart::Shop),
            (&self.without_spools, PlanPart::Spool),
            (&self.without_crashes, PlanPart::Crash),
            (&self.without_spool_managers, PlanPart::SpoolManager),
        ];
        let mut cut = Cut::default();
        for word in &self.without {
            cut.0.insert(PlanPart::Fault(FaultKind::of_word(word)?));
        }
        for (numbers, part) in lists {
            cut.0.extend(numbers.iter().copied().map(part));
        }
        Ok(cut)
    }
}

impl Arguments {
    fn size(&self) -> Size {
        if self.day { Size::Day } else { Size::Story }
    }
}

fn main() -> Result<ExitCode, SimError> {
    let arguments = Arguments::parse();
    let is_green = match arguments.seeds {
        _ if arguments.plants => run_plants(arguments.from, arguments.seeds.unwrap_or(60))?,
        Some(count) if arguments.until_first => run_until_first(arguments.size(), arguments.from, count)?,
        Some(count) => run_many(arguments.size(), arguments.from, count)?,
        None => tell_one(&arguments)?,
    };
    Ok(if is_green { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the story of a seed. Returns whether no check failed.
fn tell_one(arguments: &Arguments) -> Result<bool, SimError> {
    let report = run_sized(arguments.size(), arguments.seed, &arguments.omissions.cut()?, None)?;
    print!("{}", report.story);
    Ok(report.fault.is_none())
}

/// Runs seeds and prints those that failed, each with its shortest story and what was tried to find it, and how fast
/// it was. Returns whether none failed.
fn run_many(size: Size, first: u64, count: u64) -> Result<bool, SimError> {
    let (began, cpu_began, mut failed, mut virtual_ms) = (Instant::now(), cpu_time(), 0_u64, 0_i64);
    run_all(size, first, count, |seed, report| {
        virtual_ms += report.virtual_ms;
        if let Some(fault) = report.fault {
            failed += 1;
            println!("seed {seed}: {fault}");
            if let Some(short) = shrink_sized(size, seed, None, |line| println!("  {line}"))? {
                println!("  shorter: {short}: {}", short.fault);
            }
        }
        Ok(())
    })?;
    let (days, minutes) = (virtual_ms as f64 / DAY_MS, cpu_time().saturating_sub(cpu_began).as_secs_f64() / 60.0);
    println!(
        "seeds {first} to {}: {failed} failed; {days:.1} days in {:.0} s and {minutes:.2} CPU minutes: \
         {:.0} days a minute",
        first.saturating_add(count).saturating_sub(1),
        began.elapsed().as_secs_f64(),
        days / minutes
    );
    Ok(failed == 0)
}

/// Runs at most `most` seeds until one fails, and prints how many were run. Returns whether none failed.
fn run_until_first(size: Size, first: u64, most: u64) -> Result<bool, SimError> {
    for count in 1..=most {
        let seed = first + count - 1;
        if let Some(fault) = run_sized(size, seed, &Cut::default(), None)?.fault {
            println!("seed {seed}: {fault}\nfailed after {count} seeds");
            return Ok(false);
        }
    }
    println!("none of {most} seeds failed");
    Ok(true)
}

/// Plants each fault in seeds from `first` on, three times, and prints the median number of seeds until it was
/// detected, of at most `most`. Returns whether all faults were detected.
fn run_plants(first: u64, most: u64) -> Result<bool, SimError> {
    let mut all_caught = true;
    for plant in Plant::ALL {
        let mut counts = Vec::new();
        for turn in 0..3 {
            counts.push(seeds_to_catch(plant, first + turn * most, most)?.unwrap_or(u64::MAX));
        }
        counts.sort_unstable();
        let is_caught = counts.iter().all(|count| *count <= most);
        all_caught &= is_caught;
        let words = if is_caught { format!("caught after {} seeds (median)", counts[1]) } else { "MISSED".to_owned() };
        println!("{plant}: {words}");
    }
    Ok(all_caught)
}

/// Returns the processor time of this process.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
