//! Display names of settings: the service and the label, followed by the name in `.env`.

use super::fields::{Field, SELLER, ZONE, fields_of, name_of};
use actors::app::service_tests::Service;

/// Returns the display name of a setting, given its environment variable or key (`section.key`); `None` for a setting
/// that the wizard does not ask for.
pub(super) fn title_of(name: &str) -> Option<String> {
    let is_it = |field: &&Field| field.variable == name || field.key == name;
    let of_service = |service: Service| {
        let label = fields_of(service).iter().find(is_it)?.label;
        let service = name_of(service);
        Some(if service == label { label.to_owned() } else { format!("{service}: {label}") })
    };
    let of_seller = || Some(format!("Your shop: {}", SELLER.iter().find(is_it)?.label));
    let of_zone = || is_it(&&ZONE).then(|| ZONE.label.to_owned());
    Service::OF_SETTINGS.into_iter().find_map(of_service).or_else(of_seller).or_else(of_zone)
}

/// Replaces the name of a setting or service at the beginning of an error message with its display name.
pub(super) fn titled(line: &str) -> String {
    let Some((name, words)) = line.split_once(": ") else { return line.to_owned() };
    let is_named = |service: &Service| service.word().eq_ignore_ascii_case(name);
    let of_service = || Some(name_of(Service::OF_SETTINGS.into_iter().find(is_named)?).to_owned());
    title_of(name).or_else(of_service).map_or_else(|| line.to_owned(), |title| format!("{title}: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_name_that_people_read() {
        let fields = Service::OF_SETTINGS.into_iter().flat_map(|service| fields_of(service).iter());
        for field in fields.chain(&SELLER).chain([&ZONE]) {
            let (by_variable, by_key) = (title_of(field.variable), title_of(field.key));
            assert_eq!(by_variable, by_key, "{}", field.key);
            assert!(by_key.is_some_and(|title| title.ends_with(field.label)), "{}", field.key);
        }
        assert_eq!(title_of("SMART_HOME_URL").as_deref(), Some("Smart home: Address (URL)"));
        assert_eq!(title_of("database.url").as_deref(), Some("Database"));
        assert_eq!(title_of("shop.time_zone").as_deref(), Some("Shop time zone"));
        assert_eq!(title_of("orders.currency"), None);
    }

    #[test]
    fn messages_name_the_field_in_which_the_fault_is() {
        assert_eq!(titled("SMTP_PORT: must be a number."), "Mail server: Port: must be a number.");
        assert_eq!(titled("smart_home: it does not answer."), "Smart home: it does not answer.");
        for same in ["orders.currency: is odd.", "It is odd."] {
            assert_eq!(titled(same), same);
        }
    }
}
