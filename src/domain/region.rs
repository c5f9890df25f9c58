//! Regions of countries by ISO 3166-2 code, so that "California", "ca" and "US-CA" are recognised as the same region.
//!
//! Contains the regions of countries whose taxes vary by region, and of countries whose addresses usually spell out the
//! region's name. Any other regions are used as written.

mod names;

use names::REGIONS;

/// Returns the code of a region within its country (`CA`), given its code or one of its names. An unknown region is
/// returned trimmed but otherwise unchanged.
pub fn region_code(country: &str, region: &str) -> String {
    let region = region.trim();
    let candidates =
        REGIONS.iter().filter(|(of, _)| of.eq_ignore_ascii_case(country)).flat_map(|(_, regions)| *regions);
    let plain_name = plain(region);
    let code =
        region.split_once('-').filter(|(of, _)| of.eq_ignore_ascii_case(country)).map_or(region, |(_, code)| code);
    for (own_code, names) in candidates {
        if own_code.eq_ignore_ascii_case(code.trim()) || names.iter().any(|name| plain(name) == plain_name) {
            return (*own_code).to_owned();
        }
    }
    region.to_owned()
}

/// Normalises a name for comparison: lowercase, without accents, dots and hyphens.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let unaccented = lower.chars().map(|c| match c {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ú' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        '-' => ' ',
        other => other,
    });
    let letters: String = unaccented.filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
    letters.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_codes_and_whole_codes_are_one_place() {
        for written in ["CA", "ca", " California ", "CALIFORNIA", "US-CA", "us-ca"] {
            assert_eq!(region_code("us", written), "CA", "{written}");
        }
        for (country, written, code) in [
            ("CA", "Québec", "QC"),
            ("CA", "quebec", "QC"),
            ("AU", "New South Wales", "NSW"),
            ("DE", "Bayern", "BY"),
            ("DE", "Bavaria", "BY"),
            ("US", "Washington, D.C.", "DC"),
            ("BR", "Sao Paulo", "SP"),
            ("GB", "Scotland", "SCT"),
            // One word is a region here and a country there.
            ("US", "Georgia", "GA"),
            ("FR", " Normandie ", "Normandie"),
            ("US", "Atlantis", "Atlantis"),
            ("US", "", ""),
        ] {
            assert_eq!(region_code(country, written), code, "{country} {written}");
        }
    }

    #[test]
    fn codes_and_names_of_a_country_are_distinct() {
        for (country, regions) in REGIONS {
            let mut codes: Vec<String> = regions.iter().map(|(code, _)| (*code).to_owned()).collect();
            let mut names: Vec<String> =
                regions.iter().flat_map(|(_, names)| names.iter().map(|name| plain(name))).collect();
            let many = (codes.len(), names.len());
            codes.sort();
            codes.dedup();
            names.sort();
            names.dedup();
            assert_eq!((codes.len(), names.len()), many, "{country}");
            assert!(regions.iter().all(|(code, names)| names.iter().all(|name| region_code(country, name) == *code)));
        }
    }

    proptest! {
        #[test]
        fn a_code_is_its_own_code(country in "US|CA|AU|XX", region in "\\PC{0,12}") {
            let code = region_code(&country, &region);
            prop_assert_eq!(region_code(&country, &code), code);
        }
    }

    #[test]
    fn accents_dots_and_hyphens_make_no_difference() {
        assert_eq!(plain("ÁÀÂÃÄ ÉÈÊ Í ÓÔÕÖ ÚÜ Ç Ñ"), "aaaaa eee i oooo uu c n");
        assert_eq!(plain(" Baden-Württemberg (B.-W.) "), "baden wurttemberg b w");
    }
}
