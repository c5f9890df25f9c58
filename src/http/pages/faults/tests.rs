//! Tests of the errors in rejected forms.

use super::*;
use domain::refusal::{Faults, Refusal};

fn error(faults: &[(&str, &str)]) -> ApiError {
    let mut all = Faults::default();
    for (path, message) in faults {
        all.note(path, *message);
    }
    Refusal::faults(all).into()
}

#[test]
fn a_fault_names_the_label_and_stands_beside_its_field() {
    let time = crate::times::mark(crate::times::TimeForm::FieldDate, domain::time::Timestamp::default());
    let page = html! {
        form method="post" {
            (alert(Language::English, &error(&[("lines.1.unitPriceCents", "must be a whole number")])))
            label for="p" { "Price of one" span { "optional" } }
            input id="p" name="price" data-member="unitPriceCents" value=(time) aria-describedby="about-p";
            p id="about-p" { "Net." }
        }
    };
    let page = place(page.into_string());
    assert!(page.contains("<a class=\"bad\" href=\"#p\">Price of one: must be a whole number.</a>"), "{page}");
    assert!(page.contains("aria-describedby=\"fault-p about-p\"") && page.contains("aria-invalid=\"true\""), "{page}");
    assert!(page.contains("><span class=\"fault bad\" id=\"fault-p\">Must be a whole number.</span><p id"), "{page}");
    assert!(page.contains(&format!("value=\"{}\"", time.0)) && !page.contains("data-fault"), "{page}");
}

#[test]
fn messages_of_forms_for_customers_are_in_the_language_of_the_page() {
    let faults = [("city", "must not be empty"), ("name", "must be at most 200 characters"), ("x", "is odd")];
    let german = alert(Language::German, &error(&faults)).0;
    for text in ["darf nicht leer sein", "darf höchstens 200 Zeichen lang sein", "is odd"] {
        assert!(german.contains(text), "{text} in {german}");
    }
}

#[test]
fn messages_in_english_are_marked_on_pages_in_german() {
    let form = |language: Language| {
        let faults = [
            ("city", "must not be empty"),
            ("zip", "is odd"),
            ("x", "is odd"),
            ("unitPriceCents", "must not be negative"),
            ("", "no such city"),
        ];
        let page = html! {
            (alert(language, &error(&faults)))
            label for="c" { "Stadt" }
            input id="c" name="city";
            label for="z" { "Postleitzahl" }
            input id="z" name="zip";
        };
        let whole = alert(language, &ApiError::bad_request("x", "no such thing"));
        place(page.into_string()) + &whole.0
    };
    let (english, german) = (form(Language::English), form(Language::German));
    assert!(!english.contains("lang="), "{english}");
    for text in [
        "<p><a class=\"bad\" href=\"#c\">Stadt: darf nicht leer sein.</a></p>",
        "<span class=\"fault bad\" id=\"fault-c\">Darf nicht leer sein.</span>",
        "<p><a class=\"bad\" href=\"#z\">Postleitzahl: <span lang=\"en\">is odd</span>.</a></p>",
        "<span class=\"fault bad\" id=\"fault-z\" lang=\"en\">Is odd.</span>",
        "<p lang=\"en\">X: is odd.</p>",
        "<p><span lang=\"en\">Unit price</span>: darf nicht negativ sein.</p>",
        "<p lang=\"en\">No such city.</p>",
        "<p lang=\"en\">No such thing.</p>",
    ] {
        assert!(german.contains(text), "{text} in {german}");
    }
}

#[test]
fn a_fault_is_of_the_form_in_which_it_stands() {
    let field = |id: &str| html! { label for=(id) { "Reason " (id) } select id=(id) name="reason" { option { "x" } } };
    let form = |fields: &Markup| html! { form method="post" { (fields) } };
    let faults = alert(Language::English, &error(&[("reason", "is required"), ("reason", "must be one of the list")]));
    let inside =
        place(html! { (form(&field("a"))) (form(&html! { (faults) (field("b")) })) (form(&field("c"))) }.into_string());
    assert!(
        inside.contains("Reason b: is required.") && inside.contains("Reason b: must be one of the list."),
        "{inside}"
    );
    assert_eq!(inside.matches("</select><span class=\"fault bad\" id=\"fault-b\">").count(), 1, "{inside}");
    let above = place(html! { (form(&field("a"))) (faults) (form(&field("b"))) }.into_string());
    assert!(above.contains("Reason b: is required.") && !above.contains("fault-a"), "{above}");
}

#[test]
fn a_fault_without_a_field_is_in_words() {
    let faults = [("shippingAddress", "is required"), ("settings", "mail: the address is not valid")];
    let page = place(
        html! { form method="post" { (alert(Language::English, &error(&faults))) input type="hidden" name="settings"; } }.into_string(),
    );
    assert!(page.contains("<p>Shipping address: is required.</p>"), "{page}");
    assert!(page.contains("<p>Mail: the address is not valid.</p>") && !page.contains("fault-"), "{page}");
    for (path, words) in
        [("unitPriceCents", "Unit price"), ("lines.0.skuId", "Sku"), ("baseURL", "Base url"), ("id", "Id"), ("", "")]
    {
        assert_eq!(words_of(path), words);
    }
}

#[test]
fn the_field_of_a_list_has_the_faults_of_its_entries() {
    let page = html! {
        (alert(Language::English, &error(&[("collections.3", "is too long")])))
        label for="c" { "Collections" }
        textarea id="c" name="collections" { "home" }
    };
    let page = place(page.into_string());
    assert!(page.contains("Collections: is too long.") && page.contains("</textarea><span class=\"fault"), "{page}");
}

#[test]
fn an_amount_that_was_not_read_has_a_message_of_its_own() {
    let message = |path: &str, message: &str, text: &str| {
        amount_message(&Fault { path: path.to_owned(), message: message.to_owned() }, text).unwrap_or_default()
    };
    assert!(message("lines.0.unitPriceCents", NOT_WHOLE, "much").starts_with("must be an amount such as"));
    assert!(message("priceCents", NOT_WHOLE, "1.234").starts_with("is ambiguous"));
    assert!(message("priceCents", NOT_WHOLE, "2.5").starts_with("has more decimals"));
    assert_eq!(message("quantity", NOT_WHOLE, "x"), "");
    assert_eq!(message("priceCents", "is required", ""), "");
}

#[test]
fn other_pages_stay_as_they_are() {
    let page = html! { (alert(Language::English, &ApiError::bad_request("x", "no such thing"))) }.into_string();
    assert!(page.contains("<p>No such thing.</p>"), "{page}");
    assert_eq!(place(page.clone()), page);
}
