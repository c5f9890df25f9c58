//! Margin that remains once the parts are printed: the actual weight and hours of all attempts, at the rates frozen in
//! the quote, compared with the quoted costs.

use super::Quote;
use crate::amount::Amount;
use crate::job::Job;
use crate::order::Order;
use crate::pricing::{Costs, PrintWork};

/// Price, costs and margin of a quote line printed from a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineMargin {
    /// Index of the line in the quote.
    pub line: usize,
    /// Net price that the customer pays for the line, in minor units.
    pub price_cents: i64,
    /// Costs at the time when the quote was made.
    pub quoted: Costs,
    /// Work for all attempts so far, including failed prints, which is why no surcharge for failed prints is added.
    pub work: PrintWork,
    /// Costs of the work so far.
    pub actual: Costs,
    /// `true` once none of the line's jobs will be printed again.
    pub is_final: bool,
}

impl LineMargin {
    /// Returns the margin at the quoted costs, in minor units.
    pub fn quoted_margin_cents(&self) -> i64 {
        self.price_cents.saturating_sub(self.quoted.sum_cents())
    }

    /// Returns the margin at the actual costs so far, in minor units.
    pub fn actual_margin_cents(&self) -> i64 {
        self.price_cents.saturating_sub(self.actual.sum_cents())
    }
}

/// Returns the work for a job's attempts: grams, seconds, and number of prints removed from a machine. If the duration
/// of a print is unknown, the time stated in its file is used.
fn actual_work(job: &Job) -> (Amount, i64, u32) {
    let printed = job.attempts.iter().filter(|attempt| attempt.printed());
    let stated = job.estimated_seconds.unwrap_or(0);
    let none = (Amount::ZERO, 0_i64, 0_u32);
    printed.fold(none, |(grams, seconds, parts), attempt| {
        let took = attempt.took_ms().map_or(stated, |ms| ms.max(0) / 1000);
        (grams + attempt.used, seconds.saturating_add(took), parts.saturating_add(1))
    })
}

/// Returns the margins of the lines printed from models, based on the prints made so far for the quote's order. The
/// order must have the quote's lines in the same sequence.
pub fn margins(quote: &Quote, order: &Order) -> Vec<LineMargin> {
    let of_line = |(at, line): (usize, &super::QuoteLine)| {
        let model = line.model.as_ref()?;
        let jobs = || order.jobs.values().filter(move |job| job.line as usize == at);
        let (grams, seconds, parts) =
            jobs().map(|job| actual_work(job)).fold((Amount::ZERO, 0_i64, 0_u32), |all, one| {
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
