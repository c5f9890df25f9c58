//! Chart of the stock on hand over time, for the ledger, rendered on the server as SVG. The numbers are in a table next
//! to it.

use maud::{Markup, html};

use domain::amount::Amount;
use domain::material::{MaterialType, stock_amount};
use domain::notation::date;
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use words::Language;
use words::staff::stock as texts;

/// Width and height of the chart, in SVG units; the page scales it.
const CHART_SIZE: (f64, f64) = (600.0, 160.0);
/// Height, in SVG units, reserved for text at the top and at the bottom.
const WORDS_HEIGHT: f64 = 18.0;

/// Start time of a step, and the stock on hand from that time on.
pub(super) type StockStep = (Timestamp, Amount);

/// Data of a stock chart.
pub(super) struct StockChart<'a> {
    /// Language of the page.
    pub(super) language: Language,
    /// Changes in the stock, oldest first.
    pub(super) steps: &'a [StockStep],
    /// Time at which the chart ends.
    pub(super) until: Timestamp,
    pub(super) reorder_point: Amount,
    /// Type of the material, which determines the unit of all amounts.
    pub(super) kind: MaterialType,
    /// Shop clock, in whose time zone days are shown.
    pub(super) clock: ShopClock,
}

impl StockChart<'_> {
    /// Returns the highest amount in the chart.
    fn most(&self) -> Amount {
        let amounts = self.steps.iter().map(|(_, amount)| *amount);
        amounts.chain([self.reorder_point, Amount::units(1)]).max().unwrap_or_default()
    }

    fn y(&self, amount: Amount) -> f64 {
        let room = CHART_SIZE.1 - 2.0 * WORDS_HEIGHT;
        let share = amount.max(Amount::ZERO).0 as f64 / self.most().0 as f64;
        CHART_SIZE.1 - WORDS_HEIGHT - share * room
    }

    fn x(&self, at: Timestamp) -> f64 {
        let Some((begins, _)) = self.steps.first() else { return 0.0 };
        let whole = self.until.since(*begins).max(1);
        at.since(*begins).clamp(0, whole) as f64 / whole as f64 * CHART_SIZE.0
    }

    /// Returns the SVG path for the stock line, a step function that is horizontal until each change, then vertical.
    fn line(&self) -> String {
        let steps = self.steps.iter().enumerate().map(|(n, (at, amount))| {
            let (x, y) = (self.x(*at), self.y(*amount));
            if n == 0 { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1}V{y:.1}") }
        });
        let parts: Vec<String> = steps.chain([format!("H{:.1}", CHART_SIZE.0)]).collect();
        parts.concat()
    }

    /// Returns the chart's text alternative for screen readers.
    fn words(&self) -> String {
        let amounts = || self.steps.iter().map(|(_, amount)| *amount);
        let (least, most) = (amounts().min().unwrap_or_default(), amounts().max().unwrap_or_default());
        let begins = self.steps.first().map_or(self.until, |(at, _)| *at);
        texts::chart_summary(
            self.language,
            &self.date(begins),
            &self.date(self.until),
            &self.amount(least),
            &self.amount(most),
            &self.amount(self.reorder_point),
        )
    }

    fn date(&self, at: Timestamp) -> String {
        date(self.language, &self.clock, at)
    }

    /// Formats an amount with its unit.
    fn amount(&self, amount: Amount) -> String {
        stock_amount(self.language, amount, self.kind)
    }

    /// Renders the chart; renders nothing if the stock has never changed.
    pub(super) fn html(&self) -> Markup {
        let (width, height) = CHART_SIZE;
        let begins = self.steps.first().map(|(at, _)| *at);
        html! {
            @if let Some(begins) = begins {
                svg class="chart" viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(self.words()) {
                    line class="ground" x1="0" x2=(width) y1=(self.y(Amount::ZERO)) y2=(self.y(Amount::ZERO)) {}
                    @if self.reorder_point > Amount::ZERO {
                        @let y = format!("{:.1}", self.y(self.reorder_point));
                        line class="point" x1="0" x2=(width) y1=(y) y2=(y) {}
                    }
                    path class="line" d=(self.line()) {}
                    text x="2" y="13" { (self.amount(self.most())) }
                    text x="2" y=(height - 4.0) { (self.date(begins)) }
                    text class="end" x=(width - 2.0) y=(height - 4.0) { (self.date(self.until)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(steps: &[StockStep]) -> StockChart<'_> {
        StockChart {
            language: Language::English,
            steps,
            until: Timestamp(4_000),
            reorder_point: Amount::units(50),
            kind: MaterialType::Filament,
            clock: ShopClock::default(),
        }
    }

    #[test]
    fn the_line_goes_across_and_then_up_or_down() {
        let steps = [
            (Timestamp(0), Amount::units(100)),
            (Timestamp(1_000), Amount::ZERO),
            (Timestamp(2_000), Amount::units(50)),
        ];
        assert_eq!(chart(&steps).line(), "M0.0 18.0H150.0V142.0H300.0V80.0H600.0");
        let words = chart(&steps).words();
        assert_eq!(
            words,
            "Stock on hand from 1 Jan 1970 to 1 Jan 1970: between 0 g and 100 g; the reorder point is 50 g"
        );
        let german = StockChart { language: Language::German, ..chart(&steps) }.words();
        assert_eq!(
            german,
            "Bestand vom 1. Januar 1970 bis zum 1. Januar 1970: zwischen 0 g und 100 g; der Meldebestand ist 50 g"
        );
        let html = chart(&steps).html().into_string();
        assert!(html.contains(&words) && html.contains("y1=\"80.0\"") && html.contains("100 g"), "{html}");
    }

    #[test]
    fn nothing_is_outside_the_picture() {
        let odd = [(Timestamp(9_000), Amount::units(-5)), (Timestamp(1_000), Amount(i64::MAX))];
        let (first, last) = (odd[0].0, odd[1].0);
        let chart = chart(&odd);
        for x in [chart.x(first), chart.x(last)] {
            assert!((0.0..=CHART_SIZE.0).contains(&x), "{x}");
        }
        for y in odd.map(|(_, amount)| chart.y(amount)) {
            assert!((WORDS_HEIGHT..=CHART_SIZE.1 - WORDS_HEIGHT).contains(&y), "{y}");
        }
        assert_eq!(StockChart { steps: &[], ..chart }.html().into_string(), "");
    }
}
