//! Sales tax: the rate for a destination, and the tax on a net amount.

use crate::address::Address;
use crate::region::region_code;
use crate::rules::Rules;

/// Returns the tax rate for a destination, in basis points: the rate of its region, if any, otherwise the rate of its
/// country; 0 without an address. Regions are compared by their ISO 3166-2 codes.
pub(super) fn tax_bps(rules: &Rules, to: Option<&Address>) -> i64 {
    let Some(to) = to else { return 0 };
    let region = to.region.as_deref().map(|region| region_code(&to.country, region));
    let in_country = rules.tax_rates.iter().filter(|rate| rate.country.eq_ignore_ascii_case(&to.country));
    let mut for_all = 0;
    for rate in in_country {
        match (&rate.region, &region) {
            (None, _) => for_all = rate.bps,
            (Some(rated), Some(region)) if region_code(&rate.country, rated).eq_ignore_ascii_case(region) => {
                return rate.bps;
            }
            (Some(_), _) => {}
        }
    }
    for_all
}

/// Calculates the tax on a net amount at the given rate, rounded half up to minor units. Returns `None` on overflow.
pub fn tax_of(net_cents: i64, bps: i64) -> Option<i64> {
    i64::try_from((i128::from(net_cents) * i128::from(bps) + 5_000).div_euclid(10_000)).ok()
}

/// Formats a rate in basis points as a percentage: `19`, `7.25`.
pub fn percent_text(bps: i64) -> String {
    let (whole, rest) = (bps / 100, bps % 100);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{}", format!("{rest:02}").trim_end_matches('0')) }
}

/// Parses a percentage as written by [`percent_text`] and returns it in basis points. Returns `None` if the text is not
/// a rate, or is finer than a basis point.
pub fn percent_of(text: &str) -> Option<i64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str, most: usize| part.len() <= most && part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole, 4) || !is_number(rest, 2) {
        return None;
    }
    format!("{whole}{rest:0<2}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::TaxRate;
    use crate::testing::Bench;

    #[test]
    fn a_rate_that_is_typed_reads_back() {
        for (bps, text) in [(0, "0"), (1900, "19"), (725, "7.25"), (770, "7.7"), (5, "0.05"), (10_000, "100")] {
            assert_eq!((percent_text(bps).as_str(), percent_of(text)), (text, Some(bps)));
        }
        assert_eq!(percent_of("7.70"), Some(770));
        for wrong in ["", ".5", "1.005", "-1", "19 %", "x", "123456", "1,5"] {
            assert_eq!(percent_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_rate_of_a_region_comes_before_that_of_its_country() {
        let mut rules = Bench::new().rules;
        let rate = |country: &str, region: Option<&str>, bps| TaxRate {
            country: country.to_owned(),
            region: region.map(str::to_owned),
            bps,
        };
        rules.tax_rates = vec![
            rate("US", Some("California"), 725),
            rate("us", None, 100),
            rate("US", Some("NY"), 400),
            rate("DE", None, 1900),
        ];
        let of = |country: &str, region: Option<&str>| {
            let to = Address {
                line1: "1 Main Street".to_owned(),
                line2: None,
                city: "Springfield".to_owned(),
                region: region.map(str::to_owned),
                postal_code: "1".to_owned(),
                country: country.to_owned(),
            };
            tax_bps(&rules, Some(&to))
        };
        assert_eq!(
            [Some("CA"), Some("us-ca"), Some("New York"), Some("TX"), None].map(|region| of("US", region)),
            [725, 725, 400, 100, 100]
        );
        assert_eq!((of("de", Some("CA")), of("FR", None), tax_bps(&rules, None)), (1900, 0, 0));
    }

    #[test]
    fn tax_is_rounded_half_up() {
        for (net, bps, tax) in [
            (100, 1900, 19),
            (0, 1900, 0),
            (10, 500, 1),
            (9, 500, 0),
            (-10, 500, 0),
            (-11, 500, -1),
            (99, 725, 7),
            (i64::MAX, 10_000, i64::MAX),
        ] {
            assert_eq!(tax_of(net, bps), Some(tax), "{net} {bps}");
        }
        assert_eq!(tax_of(i64::MAX, 10_001), None);
    }
}
