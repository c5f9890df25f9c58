//! Verdict on a run, based on the evidence of printers, processor and API: which promises were kept, and which were
//! broken.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use simulator::printer::PhysicalEvent;
use simulator::processor::Balance;

use crate::customers::ChaosSale;
use crate::hall::Deeds;
use crate::json::{amount, items, number, text};
use crate::staff::StaffRecords;

/// Tolerance for amounts of material, which have three decimals, in grams.
const NEAR_GRAMS: f64 = 0.005;

/// Final state of an order, with its jobs and the processor's balance.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Sale as its customer planned it.
    pub sale: ChaosSale,
    /// Order as the API shows it.
    pub order: Value,
    /// Jobs of the order.
    pub jobs: Vec<Value>,
    /// Payments and refunds according to the processor's books.
    pub balance: Balance,
}

/// Promise of the server, with all violations.
#[derive(Clone, Debug)]
struct JudgedPromise {
    words: String,
    problems: Vec<String>,
}

/// All promises that were checked.
#[derive(Clone, Debug, Default)]
pub struct ChaosVerdict {
    promises: Vec<JudgedPromise>,
}

impl ChaosVerdict {
    /// Adds a promise, which is broken if there are problems.
    pub fn add(&mut self, words: impl Into<String>, problems: Vec<String>) {
        self.promises.push(JudgedPromise { words: words.into(), problems });
    }

    /// Returns whether no promise is broken.
    pub fn is_good(&self) -> bool {
        self.promises.iter().all(|promise| promise.problems.is_empty())
    }

    /// Formats the verdict as text lines.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for JudgedPromise { words, problems } in &self.promises {
            lines.push(format!("{}  {words}", if problems.is_empty() { "kept  " } else { "BROKEN" }));
            lines.extend(problems.iter().map(|problem| format!("          {problem}")));
        }
        lines
    }
}

/// Returns the files that printers started more than once.
pub fn repeated_starts(events: &[PhysicalEvent]) -> Vec<String> {
    let mut starts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        if let PhysicalEvent::Started { filename } = event {
            *starts.entry(filename).or_default() += 1;
        }
    }
    let repeated = starts.into_iter().filter(|(_, count)| *count > 1);
    repeated.map(|(file, count)| format!("{file} was started {count} times")).collect()
}

/// Returns the problems with the payments of an order.
pub fn money_problems(outcome: &Outcome) -> Vec<String> {
    let Outcome { sale, order, balance, .. } = outcome;
    let mut problems = Vec::new();
    let expected = balance.took - balance.gave_back + sale.cash_cents;
    if number(order, "keptCents") != expected {
        problems.push(format!("{:?}: {expected} cents were kept of {order}", sale.plan));
    }
    let payments = items(order, "payments").iter();
    let by_card = payments.filter(|payment| payment["method"] == "processor" && number(payment, "amountCents") > 0);
    let by_card = by_card.count();
    if by_card != balance.payments {
        problems.push(format!("{:?}: the processor has {} payments of {order}", sale.plan, balance.payments));
    }
    problems
}

/// Returns the problems with the parts of an order that was to be produced.
pub fn part_problems(outcome: &Outcome) -> Vec<String> {
    let Outcome { sale, order, jobs, .. } = outcome;
    let mut problems = Vec::new();
    if !sale.plan.is_made() {
        return problems;
    }
    // The parts of a kit have lines of their own.
    for (place, line) in items(order, "lines").iter().enumerate().filter(|(_, line)| line["completeSets"].is_null()) {
        let plate = jobs.iter().filter(|job| job["line"] == place).map(|job| number(job, "plateParts")).max();
        let (ordered, good) = (number(line, "quantity"), number(line, "good"));
        let is_whole = (ordered..ordered + plate.unwrap_or_default()).contains(&good);
        if !is_whole || number(line, "missing") != 0 || number(line, "running") != 0 {
            problems.push(format!("line {place} has {good} good parts of {ordered}: {order}"));
        }
    }
    problems
}

/// Returns the jobs in an order that are shown as completed but were not printed, or that were printed again although
/// no one had requested it.
pub fn print_problems(
    outcome: &Outcome,
    deeds: &BTreeMap<String, Deeds>,
    decided_jobs: &BTreeSet<String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for job in outcome.jobs.iter().filter(|job| job["state"] == "COMPLETED") {
        let attempts = items(job, "attempts").iter().filter_map(|attempt| deeds.get(text(attempt, "id")));
        let finishes: usize = attempts.map(|deeds| deeds.finishes).sum();
        let is_decided = decided_jobs.contains(text(job, "id"));
        if finishes == 0 || (finishes > 1 && !is_decided) {
            problems.push(format!("printers finished {finishes} prints of {job}"));
        }
    }
    problems
}

/// Returns the acknowledged sign-offs that the jobs of an order do not show.
pub fn sign_off_problems(outcome: &Outcome, verdicts: &BTreeMap<String, i64>) -> Vec<String> {
    let attempts = outcome.jobs.iter().flat_map(|job| items(job, "attempts"));
    let mut problems = Vec::new();
    for attempt in attempts {
        let Some(good) = verdicts.get(text(attempt, "id")) else { continue };
        if attempt["signOff"]["goodCount"] != *good {
            problems.push(format!("{good} parts were signed off of {attempt}"));
        }
    }
    problems
}

/// Returns the problems with the stock, which was `first_grams` at the start.
pub fn stock_problems(material: &Value, outcomes: &[Outcome], first_grams: f64, records: &StaffRecords) -> Vec<String> {
    let needs = outcomes.iter().flat_map(|outcome| &outcome.jobs).flat_map(|job| items(job, "needs"));
    let consumed: f64 = needs.map(|need| amount(need, "consumed")).sum();
    let expected = first_grams + f64::from(records.delivered_grams) - consumed;
    let is_right = (amount(material, "quantity") - expected).abs() < NEAR_GRAMS;
    if is_right { Vec::new() } else { vec![format!("{expected} g must be there: {material}")] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::PurchasePlan;

    /// Builds a paid order for two parts, each of which was printed once.
    fn outcome() -> Outcome {
        let job = |id: &str, attempt: &str| {
            let attempts = json!([{"id": attempt, "printerId": "p", "signOff": {"goodCount": 1}}]);
            json!({
                "id": id, "line": 0, "plateParts": 1, "state": "COMPLETED", "attempts": attempts,
                "needs": [{"consumed": 2.5}],
            })
        };
        let order = json!({
            "keptCents": 2500, "payments": [{"method": "processor", "amountCents": 2500}],
            "lines": [{"quantity": 2, "good": 2, "running": 0, "missing": 0}],
        });
        Outcome {
            sale: ChaosSale { order: "o".to_owned(), plan: PurchasePlan::Card, cash_cents: 0 },
            order,
            jobs: vec![job("one", "a"), job("two", "b")],
            balance: Balance { took: 2500, gave_back: 0, payments: 1 },
        }
    }

    fn deeds(finishes: [usize; 2]) -> BTreeMap<String, Deeds> {
        let deeds = finishes.map(|finishes| Deeds { starts: finishes, finishes, breaks: 0 });
        ["a", "b"].map(str::to_owned).into_iter().zip(deeds).collect()
    }

    #[test]
    fn a_good_run_breaks_nothing() {
        let (good, verdicts) = (outcome(), BTreeMap::from([("a".to_owned(), 1)]));
        assert_eq!(money_problems(&good), Vec::<String>::new());
        assert_eq!(part_problems(&good), Vec::<String>::new());
        assert_eq!(print_problems(&good, &deeds([1, 1]), &BTreeSet::new()), Vec::<String>::new());
        assert_eq!(sign_off_problems(&good, &verdicts), Vec::<String>::new());
        let stock = json!({"quantity": 105});
        let records = StaffRecords { delivered_grams: 10, ..StaffRecords::default() };
        assert_eq!(stock_problems(&stock, &[good], 100.0, &records), Vec::<String>::new());
    }

    #[test]
    fn money_that_the_processor_or_the_till_has_and_the_order_does_not_is_noticed() {
        let back = Outcome { balance: Balance { took: 2500, gave_back: 100, payments: 1 }, ..outcome() };
        let twice = Outcome { balance: Balance { took: 5000, gave_back: 2500, payments: 2 }, ..outcome() };
        let sale = ChaosSale { cash_cents: 5, ..outcome().sale };
        let cash = Outcome { sale, ..outcome() };
        assert!([back, twice, cash].iter().all(|outcome| money_problems(outcome).len() == 1));
    }

    #[test]
    fn too_few_and_too_many_parts_are_noticed_unless_nothing_was_to_be_made() {
        for (good, missing, count) in [(1, 1, 1), (2, 0, 0), (3, 0, 1)] {
            let mut wrong = outcome();
            wrong.order["lines"][0]["good"] = json!(good);
            wrong.order["lines"][0]["missing"] = json!(missing);
            assert_eq!(part_problems(&wrong).len(), count, "{good}");
            wrong.sale.plan = PurchasePlan::AllBack;
            assert_eq!(part_problems(&wrong).len(), 0);
        }
    }

    #[test]
    fn prints_that_never_were_and_second_ones_are_noticed() {
        let decided = BTreeSet::from(["two".to_owned()]);
        let count = |finishes, decided: &BTreeSet<String>| print_problems(&outcome(), &deeds(finishes), decided).len();
        assert_eq!((count([0, 1], &decided), count([1, 0], &decided)), (1, 1));
        assert_eq!((count([1, 2], &BTreeSet::new()), count([1, 2], &decided)), (1, 0));
        let started = |file: &str| PhysicalEvent::Started { filename: file.to_owned() };
        let events = [started("a"), started("b"), PhysicalEvent::Finished { filename: "a".to_owned() }, started("a")];
        assert_eq!(repeated_starts(&events), ["a was started 2 times"]);
    }

    #[test]
    fn lost_sign_offs_and_lost_stock_are_noticed() {
        let verdicts = BTreeMap::from([("b".to_owned(), 0), ("of another job".to_owned(), 1)]);
        assert_eq!(sign_off_problems(&outcome(), &verdicts).len(), 1);
        let records = StaffRecords::default();
        assert_eq!(stock_problems(&json!({"quantity": 94}), &[outcome()], 100.0, &records).len(), 1);
    }

    #[test]
    fn one_broken_promise_breaks_the_run() {
        let mut verdict = ChaosVerdict::default();
        verdict.add("one", Vec::new());
        assert!(verdict.is_good());
        verdict.add("two", vec!["because".to_owned()]);
        assert!(!verdict.is_good());
        assert_eq!(verdict.lines(), ["kept    one", "BROKEN  two", "          because"]);
    }
}
