//! The pages for customers: access, forms, and that pages run and load nothing but their own scripts and assets.

mod brand;
mod forms;
mod orders;
mod paying;
mod quotes;

use serde_json::json;

use super::invoices::sent;
use super::{customer, link};
use crate::api::{NOTHING, id, some_sku};
use crate::support::client::Answer;
use crate::support::{App, Client, Clock, Db, on_sqlite};

/// A name that would be a script if it were not escaped.
pub const HOSTILE: &str = "<script>alert(1)</script>\"'&";

/// Places an order for this customer, as staff do.
pub async fn ordered(app: &App, email: &str) -> String {
    let sku = some_sku(app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"name": HOSTILE})).await.expect(200);
    let order = json!({"lines": [{"skuId": sku, "quantity": 2}], "customerEmail": email, "notes": HOSTILE});
    id(&app.post("/api/orders", &order).await.expect(201))
}

/// Returns the token of the forms on a page.
pub fn token(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("name=\"form_token\" value=\"").unwrap_or_else(|| panic!("{}", page.text));
    rest.split('"').next().unwrap().to_owned()
}

/// Follows a redirect to a page of this server, as a browser does; returns any other response unchanged.
pub async fn followed(client: &Client, answer: Answer) -> Answer {
    let to = answer.header("location").filter(|to| answer.status == 303 && to.starts_with('/')).map(str::to_owned);
    match to {
        Some(path) => client.get(&path).await,
        None => answer,
    }
}

/// Sends a form as a browser does; returns the response without following redirects.
pub async fn posted(client: &Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = client.request("POST", path).header("content-type", "application/x-www-form-urlencoded");
    client.send(request.header("sec-fetch-site", "same-origin").body(body)).await
}

/// Does what [`posted`] does, and follows the redirect.
pub async fn send(client: &Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    let answer = posted(client, path, fields).await;
    followed(client, answer).await
}

/// Returns the text between the first occurrence of `begins` and the next one of `ends`; `None` if either is missing.
fn between<'a>(text: &'a str, begins: &str, ends: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(begins)?;
    Some(rest.split_once(ends)?.0)
}

/// Checks the rules that hold for every page.
pub fn is_sound(page: &Answer) {
    let (text, policy) = (&page.text, page.header("content-security-policy").expect("a policy"));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{text}");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let has_language = ["en", "de"].iter().any(|tag| text.contains(&format!("<html lang=\"{tag}\">")));
    assert!(has_language && text.contains("name=\"robots\" content=\"noindex\""), "{text}");
    assert_eq!((text.matches("<h1").count(), text.matches("<main").count()), (1, 1), "{text}");
    assert!(policy.starts_with("default-src 'none';") && policy.contains("form-action 'self'"), "{policy}");
    // Styles, pictures and at most one script, all from this server.
    assert!(policy.contains("style-src 'self'; font-src 'self';"), "{policy}");
    assert_eq!(text.matches("<link rel=\"stylesheet\" href=\"/assets/").count(), 1, "{text}");
    let of_brand = text.matches("<link rel=\"stylesheet\" href=\"/brand/style.css?").count();
    assert_eq!((of_brand, text.matches("<link").count()), (1, 2), "{text}");
    let scripts = text.matches("<script src=\"/assets/").count();
    assert_eq!(policy.contains("script-src 'self';"), scripts == 1, "{policy}");
    assert_eq!(text.matches("<script").count(), scripts, "{text}");
    assert_eq!(text.matches("src=").count(), text.matches("src=\"/").count(), "{text}");
    // Neither scripts, styles or pictures of others, nor attributes that run or look like something.
    for loaded in ["style=\"", "<style", " onclick", " onload", " onerror", "url(", "alert(1)</script>"] {
        assert!(!text.contains(loaded), "{loaded} in {text}");
    }
    // Each field has a label, and each form that changes something for a customer the token.
    for field in text.split("<input id=\"").skip(1) {
        let name = field.split('"').next().unwrap();
        assert!(text.contains(&format!("<label for=\"{name}\"")), "{name} has no label in {text}");
    }
    for form in text.split("<form ").skip(1).map(|form| form.split("</form>").next().unwrap()) {
        let open = ["action=\"/sign-in\"", "action=\"/pay/", "action=\"/models?token="]
            .iter()
            .any(|action| form.contains(action));
        let own = form.contains("method=\"post\"") && !open;
        assert!(!own || form.contains("name=\"form_token\""), "{form}");
    }
}

on_sqlite! {
    async fn each_page_is_for_its_customer_alone(db: Db) {
        let app = App::new(db).await;
        let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
        let (order, invoice) = (ordered(&app, "ann@example.org").await, sent(&app, "ann@example.org").await);
        let (own_order, own_invoice) = (format!("/orders/{order}"), format!("/invoices/{invoice}"));
        for path in ["/orders", "/invoices", "/profile", &own_order, &own_invoice, "/orders?from=20"] {
            let page = ann.get(path).await;
            assert_eq!(page.status, 200, "{path}: {}", page.text);
            is_sound(&page);
            // Whoever has not signed in does so first, and comes back.
            for stranger in [app.nobody(), crate::api::with_role(&app, "admin").await] {
                let led = stranger.get(path).await;
                let next = url::form_urlencoded::byte_serialize(path.as_bytes()).collect::<String>();
                assert_eq!((led.status, led.header("location")), (303, Some(&*format!("/sign-in?next={next}"))), "{path}");
            }
        }
        for (path, status, words) in [
            (own_order.clone(), 403, "belongs to another customer"),
            (format!("{own_order}/live"), 403, "belongs to another customer"),
            (own_invoice.clone(), 403, "belongs to another customer"),
            (format!("{own_invoice}/pdf"), 403, "belongs to another customer"),
            (format!("/orders/{NOTHING}"), 404, "Page not found"),
            (format!("/invoices/{NOTHING}"), 404, "Page not found"),
            ("/orders/ORD-000001".to_owned(), 404, "Page not found"),
            ("/orders/a/b/c".to_owned(), 404, "Page not found"),
        ] {
            let page = bob.get(&path).await;
            assert_eq!(page.status, status, "{path}: {}", page.text);
            assert!(page.text.contains(words) && page.text.contains("href=\"/orders\""), "{path}: {}", page.text);
            is_sound(&page);
        }
        let (lists, theirs) = (ann.get("/orders").await.text, bob.get("/orders").await.text);
        assert!(lists.contains(&own_order) && !theirs.contains(&own_order), "{lists} {theirs}");
        assert!(!bob.get("/invoices").await.text.contains(&own_invoice));
    }
}

#[tokio::test]
async fn an_invoice_is_shown_and_its_pdf_is_made_when_it_is_opened() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let invoice = sent(&app, "ann@example.org").await;
    let page = ann.get(&format!("/invoices/{invoice}")).await;
    for words in ["Invoice INV-", "2 × Design, one hour", "$120.00", "Amount due", "Pay $120.00", "Seller"] {
        assert!(page.text.contains(words), "{words} in {}", page.text);
    }
    let led = ann.get(&format!("/invoices/{invoice}/pdf")).await;
    let public = led.header("location").expect("the public address");
    let pdf = ann.open(ann.request("GET", public.strip_prefix(&*app.base).expect("of this server"))).await;
    assert_eq!((pdf.status().as_u16(), &pdf.headers()["content-type"]), (200, &"application/pdf".parse().unwrap()));
    app.post(&format!("/api/invoices/{invoice}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let paid = ann.get(&format!("/invoices/{invoice}")).await.text;
    assert!(paid.contains(">Paid<") && !paid.contains(">Pay "), "{paid}");
    assert!(!paid.contains("Credit note"), "{paid}");
    // What was given back has a document of its own, which is as private.
    app.post(&format!("/api/invoices/{invoice}/refund"), &json!({"amountCents": 500})).await.expect(200);
    let page = ann.get(&format!("/invoices/{invoice}")).await;
    is_sound(&page);
    assert!(page.text.contains("Credit note CN-") && page.text.contains("$5.00"), "{}", page.text);
    let note = between(&page.text, "/pdf?document=", "\"").expect("its PDF").to_owned();
    let own = format!("/invoices/{invoice}/pdf?document={note}");
    let led = ann.get(&own).await;
    let public = led.header("location").expect("the public address");
    assert!(public.contains("/CN-"), "{public}");
    let pdf = ann.open(ann.request("GET", public.strip_prefix(&*app.base).expect("of this server"))).await;
    assert_eq!(pdf.status().as_u16(), 200);
    assert_eq!(customer(&app, "bob@example.org").await.get(&own).await.status, 403);
    assert_eq!(ann.get(&format!("/invoices/{invoice}/pdf?document={NOTHING}")).await.status, 404);
}

#[tokio::test]
async fn whoever_opens_a_page_signs_in_and_is_back_on_it() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_EMAIL_PER_15_MINUTES", 1000).start().await;
    let nobody = app.nobody();
    let form = nobody.get("/sign-in?next=%2Finvoices%3Ffrom%3D20").await;
    is_sound(&form);
    assert!(form.text.contains("name=\"next\" value=\"/invoices?from=20\""), "{}", form.text);
    let mut answers = Vec::new();
    for email in ["ann@example.org", "bob@example.org"] {
        customer(&app, "ann@example.org").await;
        let before = super::mails_to(&app, email).len();
        let answer = send(&nobody, "/sign-in", &[("email", email), ("next", "/invoices?from=20")]).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        is_sound(&answer);
        answers.push(answer.text.replace(email, "them"));
        let mail = crate::support::until("the link", || async {
            let mut mails = super::mails_to(&app, email);
            (mails.len() > before).then(|| mails.pop().unwrap())
        })
        .await;
        let [mailed] = &super::links(&mail)[..] else { panic!("{mail:?}") };
        assert_eq!(nobody.get(&super::verify(mailed)).await.header("location"), Some("/invoices?from=20"));
    }
    assert_eq!(answers[0], answers[1], "the same for a customer and for somebody unknown");
    // Elsewhere is nowhere; what is no address is said.
    let form = nobody.get("/sign-in?next=https%3A%2F%2Fevil.example").await;
    assert!(form.text.contains("value=\"/orders\"") && !form.text.contains("evil"), "{}", form.text);
    let wrong = send(&nobody, "/sign-in", &[("email", HOSTILE), ("next", "//evil.example")]).await;
    assert_eq!(wrong.status, 400);
    is_sound(&wrong);
    assert!(wrong.text.contains("role=\"alert\"") && wrong.text.contains("&lt;script&gt;"), "{}", wrong.text);
    // A link that was used leads to the form for another one.
    let mailed = link(&app, json!({"email": "ann@example.org", "next": "/orders"})).await;
    let redeem = || nobody.send(nobody.request("GET", &super::verify(&mailed)).header("accept", "text/html"));
    redeem().await;
    let dead = redeem().await.header("location").unwrap().to_owned();
    let led = nobody.get(&dead).await.header("location").unwrap().to_owned();
    assert_eq!(led, "/sign-in?next=%2Forders&error=invalid_or_expired");
    assert!(nobody.get(&led).await.text.contains("Request a new one"));
}

#[tokio::test]
async fn links_asked_for_on_the_page_are_limited_as_by_the_api() {
    let clock = Clock::at_full_hour();
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_EMAIL_PER_15_MINUTES", 2)
        .clock(&clock)
        .start()
        .await;
    for _ in 0..2 {
        assert_eq!(send(&app.nobody(), "/sign-in", &[("email", "ann@example.org")]).await.status, 200);
    }
    let refused = send(&app.nobody(), "/sign-in", &[("email", "ann@example.org")]).await;
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some() && refused.text.contains("Too many requests"), "{}", refused.text);
    is_sound(&refused);
    let json = app.nobody().post("/api/v1/auth/magic-link", &json!({"email": "ann@example.org"})).await;
    assert_eq!(json.error(429), "rate_limited");
}
