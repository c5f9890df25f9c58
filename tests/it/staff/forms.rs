//! The form token: masked differently on each page, and valid on all of them.

use simulator::PrinterKind;

use super::{OPERATOR, operator};
use crate::api::some_sku;
use crate::billing::pages::{posted, token};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::client::Answer;
use crate::support::{App, Db};

/// Length of the part of a token that an attacker could guess at once, in characters.
const PIECE: usize = 8;

#[tokio::test]
async fn the_token_of_forms_looks_different_on_each_page_and_is_good_on_all() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let tokens = [token(&sam.get("/shop/settings/password").await), token(&sam.get("/shop/settings/password").await)];
    let pieces: Vec<&str> = (0..=tokens[0].len() - PIECE).map(|at| &tokens[0][at..at + PIECE]).collect();
    assert!(pieces.iter().all(|piece| !tokens[1].contains(piece)), "{tokens:?}");
    for own in &tokens {
        let sent = posted(
            &sam,
            "/shop/settings/password",
            &[("form_token", own), ("currentPassword", "x"), ("newPassword", "y")],
        )
        .await;
        assert_eq!(sent.status, 400, "the form is read: {}", sent.text);
    }
    let mut wrong = tokens[0].clone();
    let last = if wrong.ends_with('0') { "1" } else { "0" };
    wrong.replace_range(wrong.len() - 1.., last);
    for wrong in [wrong.as_str(), &tokens[0][..64], ""] {
        let sent = posted(
            &sam,
            "/shop/settings/password",
            &[("form_token", wrong), ("currentPassword", "x"), ("newPassword", "y")],
        )
        .await;
        assert_eq!(sent.status, 403, "{wrong}");
    }
}

/// Start of a text that no field accepts: too long, and neither a number, nor a date, nor an address.
const INVALID: &str = "x!";
/// Number of repetitions of [`INVALID`] that exceeds the maximum length of every text field.
const TOO_MANY: usize = 3_500;
/// Pages with a form that creates something.
const CREATING: [&str; 8] = [
    "/shop/products/new",
    "/shop/products/new?kit=1",
    "/shop/stock/new",
    "/shop/orders/new",
    "/shop/invoices/new",
    "/shop/quotes/new",
    "/floor/printers/new?type=fw_rest",
    "/shop/settings/keys/new",
];

/// Returns the value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

/// Returns each text field as name, ID, and path to which its form is posted.
fn text_fields(page: &str) -> Vec<(String, String, String)> {
    let mut fields = Vec::new();
    for form in
        page.split("<form ").skip(1).filter(|form| form.contains("method=\"post\"") && !form.contains("multipart"))
    {
        let form = form.split("</form>").next().unwrap();
        let path = attribute(&format!(" {form}"), "action").unwrap().to_owned();
        for start in ["<input", "<textarea"] {
            for tag in form.split(start).skip(1).map(|rest| rest.split('>').next().unwrap()) {
                let typed = !matches!(attribute(tag, "type"), Some("hidden" | "checkbox" | "radio" | "file"));
                if let (true, Some(name), Some(id)) = (typed, attribute(tag, "name"), attribute(tag, "id")) {
                    fields.push((name.to_owned(), id.to_owned(), path.replace("&amp;", "&")));
                }
            }
        }
    }
    fields
}

/// Returns the lines of a page's error messages as visible text.
fn error_lines(page: &str) -> Vec<String> {
    let alerts = page.split("role=\"alert\">").skip(1).filter_map(|rest| rest.split_once("</div>"));
    let lines = alerts.flat_map(|(alert, _)| alert.split("</p>")).map(|line| {
        let texts = line.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        texts.collect::<String>().trim().to_owned()
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns whether a text contains a member name from the API, such as `priceCents` or `lines.0`.
fn has_api_name(text: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').any(|word| {
        let mut pairs = word.as_bytes().windows(2);
        let index =
            word.split('.').skip(1).any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        let named = word.split('.').next().is_some_and(|part| part.bytes().any(|byte| byte.is_ascii_alphabetic()));
        (index && named)
            || (word.len() > 2 && pairs.any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()))
    })
}

#[tokio::test]
async fn the_faults_of_each_form_name_labels_and_stand_beside_their_fields() {
    let app = App::new(Db::sqlite()).await;
    let client = super::settings::boss(&app).await;
    some_sku(&app).await;
    for page_path in CREATING {
        let page = client.get(page_path).await;
        assert_eq!(page.status, 200, "{page_path}: {}", page.text);
        let (own, mut beside) = (token(&page), 0);
        for (name, id, path) in text_fields(&page.text).into_iter().filter(|(.., path)| path != "/logout") {
            let kind = [
                ("type", "fw_rest"),
                ("untested", "true"),
                ("kit", if page_path.contains("kit") { "true" } else { "" }),
            ];
            let invalid = INVALID.repeat(TOO_MANY);
            let mut sent = vec![("form_token", own.as_str()), (name.as_str(), invalid.as_str())];
            sent.extend(kind.iter().filter(|(field, text)| *field != name && !text.is_empty()));
            let answer = posted(&client, &path, &sent).await;
            assert!(matches!(answer.status, 400 | 409 | 422), "{page_path}, {name}: {} {}", answer.status, answer.text);
            super::is_sound(&answer);
            let lines = error_lines(&answer.text);
            assert!(!lines.is_empty(), "{page_path}, {name}: {}", answer.text);
            for line in lines {
                assert!(!has_api_name(&line), "{page_path}, {name}: {line}");
            }
            beside += usize::from(answer.text.contains(&format!("id=\"fault-{id}\"")));
        }
        assert!(beside > 0, "{page_path}: no fault stands beside its field");
    }
}

/// Returns the hidden fields of the form that contains the field with this ID.
fn hidden_fields(page: &str, id: &str) -> Vec<(String, String)> {
    let mut forms = page.split("<form ").skip(1).map(|form| form.split("</form>").next().unwrap());
    let form = forms.find(|form| form.contains(&format!(" id=\"{id}\""))).unwrap();
    let tags = form.split("<input").skip(1).map(|rest| rest.split('>').next().unwrap());
    let hidden = tags.filter(|tag| attribute(tag, "type") == Some("hidden"));
    let pairs = hidden.filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default())));
    let own = pairs.filter(|(name, _)| *name != "form_token");
    own.map(|(name, value)| (name.to_owned(), value.replace("&amp;", "&"))).collect()
}

/// Returns the lines in which a page explains why a form was rejected: above the form, or on a separate page.
fn reasons(page: &Answer) -> Vec<String> {
    let lines = error_lines(&page.text);
    if !lines.is_empty() {
        return lines;
    }
    let after = page.text.split_once("</h1>").map_or("", |(_, rest)| rest);
    let lines = after.split("<p>").skip(1).map(|rest| rest.split("</p>").next().unwrap().to_owned());
    lines.filter(|line| line.contains(": ")).collect()
}

#[tokio::test]
async fn the_faults_of_the_forms_of_details_pages_name_labels() {
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let app = &floor.app;
    let client = super::settings::boss(app).await;
    let (unpaid, (paid, _)) = (app.order(&floor.sku, 1).await, floor.one().await);
    let (printer, material) = (&floor.printers[0], &floor.material);
    let pages = [
        format!("/shop/orders/{unpaid}"),
        format!("/shop/orders/{paid}"),
        format!("/floor/printers/{printer}"),
        format!("/floor/printers/{printer}/edit"),
        format!("/shop/stock/materials/{material}"),
        format!("/shop/stock/materials/{material}/edit"),
        format!("/shop/stock/spools/4711?material={material}"),
        format!("/shop/stock/slots?place={printer}/0"),
        format!("/shop/products/{}/edit", floor.sku),
        "/shop/settings/second-factor".to_owned(),
        "/shop/settings/password".to_owned(),
    ];
    for page_path in &pages {
        let page = client.get(page_path).await;
        assert_eq!(page.status, 200, "{page_path}: {}", page.text);
        let (own, fields) = (token(&page), text_fields(&page.text));
        assert!(!fields.is_empty(), "{page_path}: {}", page.text);
        for (name, id, path) in fields {
            let (invalid, hidden) = (INVALID.repeat(TOO_MANY), hidden_fields(&page.text, &id));
            let mut sent = vec![("form_token", own.as_str()), (name.as_str(), invalid.as_str())];
            sent.extend(hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            let answer = posted(&client, &path, &sent).await;
            assert!((400..500).contains(&answer.status), "{page_path}, {name}: {} {}", answer.status, answer.text);
            super::is_sound(&answer);
            let lines = reasons(&answer);
            assert!(!lines.is_empty(), "{page_path}, {name}: {}", answer.text);
            for line in lines {
                let label = line.split(": ").next().unwrap();
                let is_words = label.chars().next().is_some_and(|first| first.is_uppercase() || !first.is_alphabetic());
                assert!(is_words && !has_api_name(&line), "{page_path}, {name}: {line}");
            }
        }
    }
    // Forms whose errors have a page of their own have the labels of their fields there.
    let own = token(&client.get("/floor").await);
    let ship = posted(&client, &format!("/shop/orders/{paid}/ship"), &[("form_token", own.as_str())]).await;
    assert!(ship.status == 400 && ship.text.contains("<p>Carrier: "), "{}", ship.text);
    let (city, change) = ("x".repeat(101), format!("/shop/orders/{unpaid}/change"));
    let sent = [("form_token", own.as_str()), ("shippingAddress.postalCode", "1"), ("shippingAddress.city", &*city)];
    let change = posted(&client, &change, &sent).await;
    assert!(change.status == 400 && change.text.contains("<p>City: "), "{}", change.text);
}

#[test]
fn names_of_the_api_are_told_from_words() {
    for text in ["priceCents: must be positive", "Of lines.0 the first", "skuId"] {
        assert!(has_api_name(text), "{text}");
    }
    for text in ["Price in USD: must be an amount such as 2.50.", "Left in mL", "SKU 1: is required."] {
        assert!(!has_api_name(text), "{text}");
    }
}
