//! What is left of a price once the parts are printed: the real weight and hours of all attempts, at the rates that
//! were frozen with the quote, beside the costs that were reckoned with.

use super::Quote;
use crate::domain::amount::Amount;
use crate::domain::job::Job;
use crate::domain::order::Order;
use crate::domain::pricing::{Costs, PrintWork};

/// The money of one line of a quote that was printed from a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineMargin {
    /// Index of the line in the quote.
    pub line: usize,
    /// What the customer pays for it without tax, in minor units.
    pub price_cents: i64,
    /// What it was reckoned to cost.
    pub quoted: Costs,
    /// What the attempts so far took; prints that failed are in it, so there is no share for them.
    pub work: PrintWork,
    /// What they cost.
    pub actual: Costs,
    /// Whether no job of the line will print any more.
    pub is_final: bool,
}

impl LineMargin {
    /// What was to be left, in minor units.
    pub fn quoted_margin_cents(&self) -> i64 {
        self.price_cents.saturating_sub(self.quoted.sum_cents())
    }

    /// What is left so far, in minor units.
    pub fn actual_margin_cents(&self) -> i64 {
        self.price_cents.saturating_sub(self.actual.sum_cents())
    }
}

/// What the attempts of a job took: grams, seconds, and how many prints were taken off a machine. A print of which
/// nobody knows how long it took counts with the time that its file states.
fn taken(job: &Job) -> (Amount, i64, u32) {
    let printed = job.attempts.iter().filter(|attempt| attempt.printed());
    let stated = job.estimated_seconds.unwrap_or(0);
    let none = (Amount::ZERO, 0_i64, 0_u32);
    printed.fold(none, |(grams, seconds, parts), attempt| {
        let took = attempt.took_ms().map_or(stated, |ms| ms.max(0) / 1000);
        (grams + attempt.used, seconds.saturating_add(took), parts.saturating_add(1))
    })
}

/// The margins of the lines that are printed from models, as far as the order of the quote is printed. The lines of the
/// order are those of the quote, in their order.
pub fn margins(quote: &Quote, order: &Order) -> Vec<LineMargin> {
    let of_line = |(at, line): (usize, &super::QuoteLine)| {
        let model = line.model.as_ref()?;
        let jobs = || order.jobs.values().filter(move |job| job.line as usize == at);
        let (grams, seconds, parts) = jobs().map(|job| taken(job)).fold((Amount::ZERO, 0_i64, 0_u32), |all, one| {
            (all.0 + one.0, all.1.saturating_add(one.1), all.2.saturating_add(one.2))
        });
        let work = PrintWork { grams, seconds, parts };
        let actual = Costs::of(&quote.rates, model.material_cents_per_kg, &work)?;
        Some(LineMargin {
            line: at,
            price_cents: line.unit_price_cents.saturating_mul(i64::from(line.quantity)),
            quoted: model.costs,
            work,
            actual: Costs { failure_cents: 0, ..actual },
            is_final: order.paid_at.is_some() && jobs().all(|job| job.over()),
        })
    };
    quote.lines.iter().enumerate().filter_map(of_line).collect()
}
