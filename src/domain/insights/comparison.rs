//! Comparison of a period with the preceding one, and noteworthy findings about a period.

use crate::id::Id;
use crate::shop_clock::ShopClock;
use crate::time::Timestamp;

/// Minimum number of prints required to judge a printer's yield.
const MIN_PRINTS: i64 = 5;
/// Maximum change reported, in percent; a larger value would not be informative.
const MAX_PERCENT: f64 = 9_999.0;

/// Returns the start and end of the period before a period of whole days according to a clock. The last of these days
/// may have just begun: both periods are equally long, so that a morning is compared with a morning.
pub fn span_before(from: Timestamp, to: Timestamp, days: i64, clock: &ShopClock) -> (Timestamp, Timestamp) {
    let start = clock.day_start_before(from, days);
    (start, start.plus_ms(to.since(from)).min(from))
}

/// Change of a number compared with the preceding period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpanChange {
    /// No comparison is possible.
    Incomparable,
    /// The rounded numbers are equal.
    Equal,
    /// Change in percent of the earlier number.
    Percent(i64),
    /// Change of a percentage, in tenths of a percentage point.
    PointTenths(i64),
}

impl SpanChange {
    /// Compares two amounts.
    pub fn between_amounts(now: Option<i64>, before: Option<i64>) -> Self {
        let (Some(now), Some(before)) = (now, before) else { return Self::Incomparable };
        if now == before {
            return Self::Equal;
        }
        if before <= 0 {
            return Self::Incomparable;
        }
        let percent = (now as f64 - before as f64) / before as f64 * 100.0;
        match percent.clamp(-MAX_PERCENT, MAX_PERCENT).round() as i64 {
            0 => Self::Equal,
            percent => Self::Percent(percent),
        }
    }

    /// Compares two proportions, each between 0 and 1.
    pub fn between_shares(now: Option<f64>, before: Option<f64>) -> Self {
        let (Some(now), Some(before)) = (now, before) else { return Self::Incomparable };
        match ((now - before) * 1000.0).round() as i64 {
            0 => Self::Equal,
            tenths => Self::PointTenths(tenths),
        }
    }

    /// Returns whether the number grew; `None` if it is unchanged or cannot be compared.
    pub fn is_growth(self) -> Option<bool> {
        match self {
            Self::Incomparable | Self::Equal => None,
            Self::Percent(change) | Self::PointTenths(change) => Some(change > 0),
        }
    }
}

/// First-pass yield of a printer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PrinterYield<'a> {
    /// Identifier of the printer.
    pub id: Id,
    /// Name of the printer.
    pub name: &'a str,
    /// Fraction of good parts from first attempts, excluding reprints, from 0 to 1.
    pub first_pass_yield: f64,
    /// Number of prints that were signed off.
    pub prints: i64,
}

/// Cost of the rejected parts of a SKU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkuScrap<'a> {
    /// Identifier of the SKU.
    pub id: Id,
    /// Name of the SKU.
    pub name: &'a str,
    /// Cost of the material in rejected parts, in minor units.
    pub cost_cents: i64,
    /// Number of rejected parts.
    pub parts: i64,
}

/// Number of parts that were rejected for a reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReasonCount<'a> {
    /// Reason entered at the sign-off, such as `warping`.
    pub reason: &'a str,
    /// Number of rejected parts.
    pub parts: i64,
}

/// Figures of a period that findings are derived from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FindingBasis<'a> {
    /// Printers that made parts.
    pub printers: Vec<PrinterYield<'a>>,
    /// SKUs with rejected parts whose cost can be calculated.
    pub skus: Vec<SkuScrap<'a>>,
    /// Reasons for which parts were rejected.
    pub reasons: Vec<ReasonCount<'a>>,
    /// Reasons for which parts were rejected in the preceding period.
    pub earlier_reasons: Vec<ReasonCount<'a>>,
}

/// Noteworthy finding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Finding<'a> {
    /// Printer with the lowest first-pass yield.
    LowestYield(PrinterYield<'a>),
    /// SKU whose rejected parts cost most.
    CostliestScrap(SkuScrap<'a>),
    /// Reason for which more parts were rejected than in the preceding period, and more than for any other reason.
    GrowingReason {
        /// Reason with the number of parts in this period.
        now: ReasonCount<'a>,
        /// Number of parts in the preceding period.
        before: i64,
    },
}

/// Returns at most three findings: a printer, a SKU and a reason. Printers with few prints are never named.
pub fn findings<'a>(basis: &FindingBasis<'a>) -> Vec<Finding<'a>> {
    let printers = basis.printers.iter().filter(|one| one.prints >= MIN_PRINTS && one.first_pass_yield < 1.0);
    let printer = printers
        .min_by(|one, other| {
            one.first_pass_yield.total_cmp(&other.first_pass_yield).then(other.prints.cmp(&one.prints))
        })
        .map(|one| Finding::LowestYield(*one));
    let sku = basis
        .skus
        .iter()
        .filter(|one| one.cost_cents > 0)
        .max_by_key(|one| (one.cost_cents, one.parts))
        .map(|one| Finding::CostliestScrap(*one));
    [printer, sku, growing_reason(basis)].into_iter().flatten().collect()
}

fn growing_reason<'a>(basis: &FindingBasis<'a>) -> Option<Finding<'a>> {
    let before = |reason: &str| {
        let earlier = basis.earlier_reasons.iter().filter(|one| one.reason == reason);
        earlier.map(|one| one.parts).sum::<i64>()
    };
    let growths = basis.reasons.iter().map(|now| (now, before(now.reason)));
    let growing = growths.filter(|(now, before)| now.parts > *before);
    let (now, before) = growing.max_by_key(|(now, before)| (now.parts - before, now.parts))?;
    Some(Finding::GrowingReason { now: *now, before })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;
    use crate::testing::id;
    use crate::time::{DAY_MS, HOUR_MS};

    fn printer(name: &'static str, first_pass_yield: f64, prints: i64) -> PrinterYield<'static> {
        PrinterYield { id: id(1), name, first_pass_yield, prints }
    }

    fn sku(name: &'static str, cost_cents: i64, parts: i64) -> SkuScrap<'static> {
        SkuScrap { id: id(2), name, cost_cents, parts }
    }

    fn reason(reason: &'static str, parts: i64) -> ReasonCount<'static> {
        ReasonCount { reason, parts }
    }

    #[test]
    fn the_span_before_ends_at_the_same_time_of_its_last_day() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (from, to) = (at("2026-11-23T00:00:00Z"), at("2026-11-29T09:30:00Z"));
        let before = span_before(from, to, 7, &ShopClock::default());
        assert_eq!(before, (at("2026-11-16T00:00:00Z"), at("2026-11-22T09:30:00Z")));
    }

    #[test]
    fn amounts_are_compared_in_whole_percent() {
        use SpanChange as C;
        for (now, before, change) in [
            (Some(112), Some(100), C::Percent(12)),
            (Some(50), Some(100), C::Percent(-50)),
            (Some(1_001), Some(1_000), C::Equal),
            (Some(0), Some(0), C::Equal),
            (Some(3), Some(0), C::Incomparable),
            (Some(0), Some(3), C::Percent(-100)),
            (None, Some(3), C::Incomparable),
            (Some(3), None, C::Incomparable),
            (Some(i64::MAX), Some(1), C::Percent(9_999)),
        ] {
            assert_eq!(C::between_amounts(now, before), change, "{now:?} after {before:?}");
        }
    }

    #[test]
    fn shares_are_compared_in_percentage_points() {
        use SpanChange as C;
        assert_eq!(C::between_shares(Some(0.964), Some(0.956)), C::PointTenths(8));
        assert_eq!(C::between_shares(Some(0.91), Some(0.94)), C::PointTenths(-30));
        assert_eq!(C::between_shares(Some(0.5), Some(0.5001)), C::Equal);
        assert_eq!(C::between_shares(None, Some(0.5)), C::Incomparable);
        let changes = [C::PointTenths(8), C::Percent(-1), C::Equal, C::Incomparable];
        assert_eq!(changes.map(C::is_growth), [Some(true), Some(false), None, None]);
    }

    #[test]
    fn a_printer_a_sku_and_a_reason_are_named() {
        let basis = FindingBasis {
            printers: vec![printer("few", 0.1, 4), printer("left", 0.9, 40), printer("right", 0.8, 6)],
            skus: vec![sku("many cheap", 10, 9), sku("dear", 90, 1)],
            reasons: vec![reason("warping", 9), reason("adhesion", 4), reason("layer_shift", 5)],
            earlier_reasons: vec![reason("warping", 8), reason("adhesion", 7)],
        };
        let named = [
            Finding::LowestYield(printer("right", 0.8, 6)),
            Finding::CostliestScrap(sku("dear", 90, 1)),
            Finding::GrowingReason { now: reason("layer_shift", 5), before: 0 },
        ];
        assert_eq!(findings(&basis), named);
    }

    #[test]
    fn nothing_is_named_when_all_is_well() {
        let basis = FindingBasis {
            printers: vec![printer("left", 1.0, 40)],
            skus: vec![sku("free", 0, 3)],
            reasons: vec![reason("warping", 2)],
            earlier_reasons: vec![reason("warping", 2)],
        };
        assert_eq!(findings(&basis), Vec::new());
        assert_eq!(findings(&FindingBasis::default()), Vec::new());
    }

    proptest! {
        /// Checks that a span and the one before it never overlap and are equally long, unless a clock change made the
        /// earlier one shorter.
        #[test]
        fn spans_do_not_overlap(day in 400i64..40_000, days in 1i64..366, hours in 0i64..24) {
            let from = Timestamp(day * DAY_MS);
            let to = from.plus_ms((days - 1) * DAY_MS + hours * HOUR_MS + 1);
            let (start, end) = span_before(from, to, days, &ShopClock::default());
            prop_assert!(start < end && end <= from);
            prop_assert_eq!(end.since(start), to.since(from));
        }

        /// Checks that, of any numbers, at most three facts are named, and that the reason did grow.
        #[test]
        fn at_most_three_facts_are_named(counts in prop::collection::vec((0i64..50, 0i64..50), 0..6)) {
            let names = ["a", "b", "c", "d", "e", "f"];
            let pairs = || names.iter().copied().zip(&counts);
            let basis = FindingBasis {
                printers: pairs().map(|(name, (a, b))| printer(name, *a as f64 / 50.0, *b)).collect(),
                skus: pairs().map(|(name, (a, b))| sku(name, *a, *b)).collect(),
                reasons: pairs().map(|(name, (a, _))| reason(name, *a)).collect(),
                earlier_reasons: pairs().map(|(name, (_, b))| reason(name, *b)).collect(),
            };
            let named = findings(&basis);
            prop_assert!(named.len() <= 3);
            let growth = counts.iter().map(|(now, before)| now - before).max().unwrap_or(0);
            let reported = named.iter().find_map(|finding| match finding {
                Finding::GrowingReason { now, before } => Some(now.parts - before),
                _ => None,
            });
            prop_assert_eq!(reported, (growth > 0).then_some(growth));
        }
    }
}
