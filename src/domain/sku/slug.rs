//! Default of the name that a SKU has in URLs.

/// Converts a code to lowercase letters and digits, with words joined by hyphens.
pub fn slug_of(code: &str) -> String {
    let lower = code.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_made_of_the_code() {
        assert_eq!(slug_of("Vase_01 / Blue"), "vase-01-blue");
        assert_eq!(slug_of("vase-01"), "vase-01");
    }
}
