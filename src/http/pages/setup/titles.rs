//! Display names of settings: the service and the label, followed by the name in `.env`.

use super::FaultLine;
use super::fields::{Field, SELLER, ZONE, fields_of, name_of};
use actors::app::service_tests::Service;
use words::Language;
use words::staff::setup_fields as texts;

/// Returns the display name of a setting, given its environment variable or key (`section.key`); `None` for a setting
/// that the wizard does not ask for.
pub(super) fn title_of(language: Language, name: &str) -> Option<String> {
    let is_it = |field: &&Field| field.variable == name || field.key == name;
    let of_service = |service: Service| {
        let label = (fields_of(service).iter().find(is_it)?.label)(language);
        let service = name_of(language, service);
        Some(if service == label { label } else { format!("{service}: {label}") })
    };
    let of_seller = || Some(texts::your_shop(language, &(SELLER.iter().find(is_it)?.label)(language)));
    let of_zone = || is_it(&&ZONE).then(|| (ZONE.label)(language));
    Service::OF_SETTINGS.into_iter().find_map(of_service).or_else(of_seller).or_else(of_zone)
}

/// Replaces the name of a setting or service at the beginning of an error message with its display name.
pub(super) fn titled(language: Language, line: &FaultLine) -> FaultLine {
    let parts = match &line.subject {
        Some(subject) => Some((subject.as_str(), line.message.as_str())),
        None => line.message.split_once(": "),
    };
    let Some((name, words)) = parts else { return line.clone() };
    let is_named = |service: &Service| service.word().eq_ignore_ascii_case(name);
    let of_service = || Some(name_of(language, Service::OF_SETTINGS.into_iter().find(is_named)?));
    let Some(title) = title_of(language, name).or_else(of_service) else { return line.clone() };
    FaultLine { subject: Some(title), message: words.to_owned(), is_english: line.is_english }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGE: Language = Language::English;

    #[test]
    fn every_field_has_a_name_that_people_read() {
        let fields = Service::OF_SETTINGS.into_iter().flat_map(|service| fields_of(service).iter());
        for field in fields.chain(&SELLER).chain([&ZONE]) {
            let (by_variable, by_key) = (title_of(LANGUAGE, field.variable), title_of(LANGUAGE, field.key));
            assert_eq!(by_variable, by_key, "{}", field.key);
            assert!(by_key.is_some_and(|title| title.ends_with(&(field.label)(LANGUAGE))), "{}", field.key);
        }
        assert_eq!(title_of(LANGUAGE, "SMART_HOME_URL").as_deref(), Some("Smart home: Address (URL)"));
        assert_eq!(title_of(LANGUAGE, "database.url").as_deref(), Some("Database"));
        assert_eq!(title_of(LANGUAGE, "shop.time_zone").as_deref(), Some("Shop time zone"));
        assert_eq!(title_of(LANGUAGE, "orders.currency"), None);
    }

    #[test]
    fn titles_are_in_the_language_of_the_page() {
        let line = FaultLine { subject: Some("SMTP_PORT".to_owned()), message: "x.".to_owned(), is_english: false };
        assert_eq!(titled(Language::German, &line).text(), "Mailserver: Port: x.");
        assert_eq!(title_of(Language::German, "database.url").as_deref(), Some("Datenbank"));
    }

    #[test]
    fn messages_name_the_field_in_which_the_fault_is() {
        let titled = |line: &str| titled(LANGUAGE, &FaultLine::of(line.to_owned())).text();
        assert_eq!(titled("SMTP_PORT: must be a number."), "Mail server: Port: must be a number.");
        assert_eq!(titled("smart_home: it does not answer."), "Smart home: it does not answer.");
        for same in ["orders.currency: is odd.", "It is odd."] {
            assert_eq!(titled(same), same);
        }
    }
}
