//! The profile page: a form that follows the same rules as the API.

use serde_json::{Value, json};

use super::{HOSTILE, is_sound, ordered, send, token};
use crate::billing::customer;
use crate::support::{App, Client, Clock, Db};

const ADDRESS: [(&str, &str); 5] =
    [("line1", "1 Main Street"), ("city", "Springfield"), ("region", "IL"), ("postalCode", "62701"), ("country", "us")];

async fn profile(client: &Client) -> Value {
    client.get("/api/v1/me").await.expect(200)["profile"].clone()
}

#[tokio::test]
async fn a_profile_is_changed_by_its_form_and_what_is_wrong_is_said() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let billing = json!({
        "kind": "billing", "line1": "2 Side Street", "city": "Ulm", "postalCode": "89073", "country": "DE",
    });
    ann.patch("/api/v1/profile", &json!({"locale": "de", "addresses": [billing]})).await.expect(200);
    let page = ann.get("/profile").await;
    let token = token(&page);
    let fields = |own: &[(&'static str, &'static str)]| {
        let mut fields = vec![("form_token", token.as_str())];
        fields.extend_from_slice(own);
        fields
    };
    let named = [&[("name", HOSTILE)], &ADDRESS[..]].concat();
    let saved = send(&ann, "/profile", &fields(&named)).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    is_sound(&saved);
    assert!(saved.text.contains("value=\"&lt;script&gt;"), "{}", saved.text);
    let before = profile(&ann).await;
    assert_eq!((&before["name"], &before["locale"], &before["phone"]), (&json!(HOSTILE), &json!("de"), &Value::Null));
    let cities: Vec<&Value> = before["addresses"].as_array().unwrap().iter().map(|one| &one["city"]).collect();
    assert_eq!(cities, ["Ulm", "Springfield"], "what the form does not show stays");
    assert_eq!(
        (&before["addresses"][1]["country"], &before["addresses"][1]["isDefault"]),
        (&json!("US"), &json!(true))
    );

    // The same address again keeps its id; without any it goes.
    send(&ann, "/profile", &fields(&named)).await;
    assert_eq!(profile(&ann).await["addresses"], before["addresses"]);
    let half = send(&ann, "/profile", &fields(&[("line1", "3 Lane"), ("country", "Germany")])).await;
    assert_eq!(half.status, 400);
    is_sound(&half);
    for words in [
        "Ort: darf nicht leer sein.",
        "Postleitzahl: darf nicht leer sein.",
        "Land (Code aus zwei Buchstaben): muss ein Ländercode aus zwei Buchstaben sein.",
        "value=\"3 Lane\"",
        "id=\"fault-city\"",
    ] {
        assert!(half.text.contains(words), "{words} in {}", half.text);
    }
    assert_eq!(profile(&ann).await["addresses"], before["addresses"], "nothing was changed");
    send(&ann, "/profile", &fields(&[("name", "Ann")])).await;
    assert_eq!(profile(&ann).await["addresses"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn forms_are_taken_from_our_own_pages_alone() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let other_browser = customer(&app, "ann@example.org").await;
    let (own, other) = (token(&ann.get("/profile").await), token(&other_browser.get("/profile").await));
    assert_ne!(own, other, "each session has its own");
    for (path, form_token) in [("/profile", ""), ("/profile", &*other), ("/sign-out", "made up")] {
        let refused = send(&ann, path, &[("form_token", form_token), ("name", "Eve")]).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text);
        is_sound(&refused);
    }
    for (header, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("origin", "null")] {
        for path in ["/profile", "/sign-out", "/sign-in"] {
            let form = ann.request("POST", path).header("content-type", "application/x-www-form-urlencoded");
            let body = format!("form_token={own}&name=Eve&email=eve%40example.org");
            let refused = ann.send(form.header(header, value).body(body)).await;
            assert_eq!(refused.status, 403, "{path} with {header}: {}", refused.text);
        }
    }
    let as_json = ann.request("POST", "/profile").json(&json!({"form_token": own, "name": "Eve"}));
    assert_eq!(ann.send(as_json).await.status, 415);
    assert_eq!(profile(&ann).await["name"], Value::Null);
    let large = format!("form_token={own}&name={}", "a".repeat(1_100_000));
    let large = ann.request("POST", "/profile").header("content-type", "application/x-www-form-urlencoded").body(large);
    assert_eq!(ann.send(large).await.status, 413);
}

#[tokio::test]
async fn the_sign_in_names_its_field_and_says_beside_it_what_is_wrong() {
    let app = App::new(Db::sqlite()).await;
    for (email, value) in [("", ""), ("nobody", "nobody"), ("a@b<c", "a@b&lt;c")] {
        let wrong = send(&app.nobody(), "/sign-in", &[("email", email)]).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        for part in ["href=\"#email\">Email address: ", "id=\"fault-email\"", &format!("value=\"{value}\"")] {
            assert!(wrong.text.contains(part), "{part} in {}", wrong.text);
        }
    }
}

#[tokio::test]
async fn pages_are_in_the_language_of_the_profile_and_else_in_that_of_the_browser() {
    let clock = Clock::at_noon();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let nobody = app.nobody();
    let sign_in = nobody.send(nobody.request("GET", "/sign-in").header("accept-language", "de-AT,en;q=0.8")).await;
    assert!(sign_in.text.contains("<html lang=\"de\">") && sign_in.text.contains("Link zusenden"), "{}", sign_in.text);
    let ann = customer(&app, "ann@example.org").await;
    let path = format!("/orders/{}", ordered(&app, "ann@example.org").await);
    let plain = ann.get(&path).await;
    assert!(plain.text.contains("<html lang=\"en\">") && plain.text.contains("We'll start as soon"), "{}", plain.text);
    let preferred = ann.send(ann.request("GET", &path).header("accept-language", "de")).await;
    assert!(preferred.text.contains("Wir beginnen, sobald"), "{}", preferred.text);

    let page = ann.get("/profile").await;
    assert!(page.text.contains("<option value=\"browser\" selected>"), "{}", page.text);
    let token = token(&page);
    let saved = send(&ann, "/profile", &[("form_token", &token), ("locale", "de")]).await;
    for option in
        ["<option value=\"de\" selected>Deutsch</option>", "<option value=\"en\" lang=\"en\">English</option>"]
    {
        assert!(saved.text.contains(option), "{option} in {}", saved.text);
    }
    let german = ann.get(&path).await;
    is_sound(&german);
    for words in [
        "<html lang=\"de\">",
        ">Bestellungen</a>",
        "Bestellt: <time ",
        ">heute ",
        "25,00 USD bezahlen",
        "data-closed=\"Laden Sie die Seite neu, um den aktuellen Stand zu sehen.\"",
    ] {
        assert!(german.text.contains(words), "{words} in {}", german.text);
    }
    ann.patch("/api/v1/profile", &json!({"locale": "de-CH"})).await.expect(200);
    send(&ann, "/profile", &[("form_token", &token), ("locale", "de")]).await;
    assert_eq!(profile(&ann).await["locale"], "de-CH", "a language that stays keeps its region");
    send(&ann, "/profile", &[("form_token", &token), ("locale", "browser")]).await;
    assert_eq!(profile(&ann).await["locale"], Value::Null);
}
