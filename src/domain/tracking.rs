//! Parcel tracking on the carriers' own web pages, as configured in the settings.

use url::form_urlencoded::byte_serialize;

/// Placeholder for the tracking number in a page URL.
pub const NUMBER_PLACE: &str = "{number}";

/// Web page for tracking a carrier's parcels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrackingPage {
    /// Name of the carrier. Only letters and digits are compared, ignoring case.
    pub carrier: String,
    /// URL of the page, with [`NUMBER_PLACE`] in place of the tracking number.
    pub url: String,
}

/// Returns the URL for tracking the given parcel, if the carrier has a tracking page.
pub fn tracking_url(pages: &[TrackingPage], carrier: &str, number: &str) -> Option<String> {
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let carrier_key: String = plain(carrier);
    let page = pages.iter().find(|page| plain(&page.carrier) == carrier_key)?;
    let number: String = byte_serialize(number.trim().as_bytes()).collect();
    (!number.is_empty()).then(|| page.url.replace(NUMBER_PLACE, &number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_cannot_leave_its_place_in_the_address() {
        let url = "https://parcels.example/?n={number}&lang=en".to_owned();
        let pages = [TrackingPage { carrier: "Parcel-Post".to_owned(), url }];
        let of = |carrier: &str, number: &str| tracking_url(&pages, carrier, number);
        assert_eq!(of("parcel post", " JD 1 ").as_deref(), Some("https://parcels.example/?n=JD+1&lang=en"));
        let hostile = of("PARCELPOST", "1&x=\"><script>").unwrap_or_default();
        assert_eq!(hostile, "https://parcels.example/?n=1%26x%3D%22%3E%3Cscript%3E&lang=en");
        assert_eq!((of("another", "1"), of("Parcel-Post", " ")), (None, None));
    }
}
