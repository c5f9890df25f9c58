//! The pages for the staff: access, forms, and that pages run and load nothing but their own scripts and assets.

mod audit;
mod backup;
mod browser;
mod clock;
mod customers;
mod design;
mod emails;
mod floor;
mod floor_browser;
mod floor_files;
mod floor_many;
mod floor_printers;
mod floor_views;
mod forms;
mod insights;
mod invoices;
mod jobs;
mod labels;
mod language;
mod once;
mod orders;
mod products;
mod quotes;
mod remedies;
mod search;
mod settings;
mod shipping;
mod stock;
mod stock_units;
mod to_do;
mod to_do_printers;
mod to_do_shift;
mod users;
mod webhooks;
mod weights;

use crate::api::{PASSWORD, session_of, signed_in, staff, with_cookie};
use crate::billing::pages::{HOSTILE, followed, posted, send, token};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, StaffMember, on_sqlite};

/// Email address of the operator in these tests.
pub const SAM: &str = "sam@example.org";

/// Operator whom a shop may have from the beginning ([`Db::with_staff`]).
pub const OPERATOR: StaffMember = StaffMember { email: SAM, role: "operator" };

/// Returns a client for an operator who has just signed in; it follows the redirects of forms.
pub async fn operator(app: &App) -> Client {
    with_cookie(app, &session_of(app, OPERATOR).await)
}

/// Returns the page that a form led to.
pub async fn arrived(client: &Client, answer: Answer) -> Answer {
    followed(client, answer).await
}

/// Sends a form, which must be accepted, and opens the page that it redirects to.
pub async fn done(client: &Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    let page = send(client, path, fields).await;
    assert_eq!(page.status, 200, "{path}: {}", page.text);
    is_sound(&page);
    page
}

/// Returns the ID of the resource in the paths of a page's forms, which begin with `begins`.
pub fn id_on(page: &Answer, begins: &str) -> String {
    let rest = page.text.split_once(&format!("action=\"{begins}")).unwrap_or_else(|| panic!("{}", page.text)).1;
    rest.split('/').next().unwrap().to_owned()
}

/// Returns the resource version in the forms of a page.
pub fn version_on(page: &Answer) -> String {
    let rest = page.text.split_once("name=\"version\" value=\"").unwrap_or_else(|| panic!("{}", page.text)).1;
    rest.split('"').next().unwrap().to_owned()
}

/// Returns the mark of the print that the form of this action on a page is about.
pub fn print_on(page: &Answer, action: &str) -> String {
    field_on(page, action, "print")
}

/// Returns the value of a hidden field in the form of this action on a page.
pub fn field_on(page: &Answer, action: &str, name: &str) -> String {
    let rest = page.text.split_once(&format!("action=\"{action}")).unwrap_or_else(|| panic!("{}", page.text)).1;
    let form = rest.split("</form>").next().unwrap();
    let field = form.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("{form}")).1;
    field.split('"').next().unwrap().to_owned()
}

/// Checks the rules that hold for every page for the staff.
pub fn is_sound(page: &Answer) {
    let (text, policy) = (&page.text, page.header("content-security-policy").expect("a policy"));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{text}");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!((text.matches("<h1").count(), text.matches("<main").count()), (1, 1), "{text}");
    assert!(policy.starts_with("default-src 'none';") && policy.contains("form-action 'self'"), "{policy}");
    // One style, on pages for anybody the shop's own as well, and at most one script, from this server.
    assert!(policy.contains("style-src 'self'; font-src 'self';"), "{policy}");
    assert_eq!(text.matches("<link rel=\"stylesheet\" href=\"/assets/").count(), 1, "{text}");
    let of_brand = text.matches("<link rel=\"stylesheet\" href=\"/brand/style.css?").count();
    assert_eq!(text.matches("<link").count(), 1 + of_brand, "{text}");
    let scripts = text.matches("<script").count();
    assert_eq!(text.matches("<script src=\"/assets/").count(), scripts, "{text}");
    assert_eq!(policy.contains("script-src 'self';"), scripts > 0, "{policy}");
    assert!(scripts < 2, "{text}");
    for unsafe_word in ["unsafe-inline", "unsafe-eval", "http:", "https:"] {
        assert!(!policy.contains(unsafe_word), "{policy}");
    }
    for loaded in [
        " style=\"",
        "<style",
        " onclick",
        " onload",
        " onerror",
        "alert(1)</script>",
        "<form-token>",
        "<gauge>",
        "<shop-time ",
    ] {
        assert!(!text.contains(loaded), "{loaded} in {text}");
    }
    // No id stands for two elements, and each field has a label.
    let mut ids: Vec<&str> = text.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands twice in {text}");
    for begins in ["<input id=\"", "<select id=\""] {
        for field in text.split(begins).skip(1) {
            let name = field.split('"').next().unwrap();
            assert!(text.contains(&format!("<label for=\"{name}\"")), "{name} has no label in {text}");
        }
    }
    for form in text.split("<form ").skip(1).map(|form| form.split("</form>").next().unwrap()) {
        // The body of a form with a file is read as it comes: its token stands in the address.
        let open = form.contains("action=\"/login\"") || form.contains("?token=");
        let changes = form.contains("method=\"post\"") && !open;
        assert!(!changes || form.contains("name=\"form_token\""), "{form}");
    }
}

/// Checks sign-in over plain HTTP: the browser discards a cookie that is restricted to HTTPS, and would be redirected
/// to the form forever.
#[tokio::test]
async fn whoever_signs_in_where_the_cookie_is_dropped_is_told_where_it_is_kept() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example").start().await;
    staff(&app, SAM, "operator").await;
    let nobody = app.nobody();
    let words = "https://shop.example/login: browsers discard the cookie";
    let form = nobody.get("/login").await;
    is_sound(&form);
    assert!(form.text.contains(words) && form.text.contains("href=\"https://shop.example/login\""), "{}", form.text);
    let wrong = send(&nobody, "/login", &[("email", SAM), ("password", "wrong password"), ("next", "/to-do")]).await;
    // A browser says where it sends a form from, and says so only where it keeps the cookie as well.
    assert!(wrong.status == 401 && !wrong.text.contains(words), "{}", wrong.text);
    let refused = nobody.get("/api/orders").await;
    assert!(refused.text.contains(words), "{}", refused.text);
    assert_eq!(refused.error(401), "unauthorized");
    for (name, value) in [("host", "shop.example"), ("sec-fetch-site", "none"), ("x-forwarded-proto", "https")] {
        for path in ["/login", "/api/orders"] {
            let answer = nobody.send(nobody.request("GET", path).header(name, value)).await;
            assert!(!answer.text.contains("the cookie that keeps"), "{name}: {}", answer.text);
        }
    }
    // Where cookies go over plain HTTP as well there is nothing to say.
    let plain = App::new(Db::sqlite()).await;
    let form = plain.nobody().get("/login").await;
    assert!(!form.text.contains("the cookie that keeps"), "{}", form.text);
}

on_sqlite! {
    async fn the_staff_sign_in_and_out_by_their_page(db: Db) {
        let app = App::new(db).await;
        staff(&app, SAM, "operator").await;
        let nobody = app.nobody();
        let led = nobody.get("/to-do").await;
        assert_eq!((led.status, led.header("location")), (303, Some("/login?next=%2Fto-do")));
        let form = nobody.get("/login?next=%2Fto-do").await;
        is_sound(&form);
        assert!(form.text.contains("name=\"next\" value=\"/to-do\""), "{}", form.text);
        for (email, password) in [(SAM, "wrong password"), ("nobody@example.org", PASSWORD), (SAM, "")] {
            let wrong = send(&nobody, "/login", &[("email", email), ("password", password), ("next", "/to-do")]).await;
            assert!([400, 401].contains(&wrong.status), "{}", wrong.text);
            is_sound(&wrong);
            assert!(wrong.text.contains("role=\"alert\"") && wrong.header("set-cookie").is_none(), "{}", wrong.text);
            assert!(!wrong.text.contains(PASSWORD) && wrong.text.contains(&format!("value=\"{email}\"")), "{}", wrong.text);
        }
        let right = posted(&nobody, "/login", &[("email", SAM), ("password", PASSWORD), ("next", "/to-do")]).await;
        assert_eq!((right.status, right.header("location")), (303, Some("/to-do")), "{}", right.text);
        let cookie = right.header("set-cookie").unwrap().to_owned();
        assert!(cookie.starts_with("service_session=") && cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        let sam = with_cookie(&app, cookie.split(';').next().unwrap());
        let page = sam.get("/to-do").await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        assert!(page.text.contains(SAM));
        // The address of the server leads them to their own pages.
        assert!(followed(&sam, sam.get("/").await).await.text.contains("id=\"cards\""));
        let out = send(&sam, "/logout", &[("form_token", &token(&page))]).await;
        assert!(out.status == 200 && out.text.contains("action=\"/login\""), "{}", out.text);
        assert_eq!(sam.get("/floor").await.header("location"), Some("/login?next=%2Ffloor"), "the session has ended");
        // What is sent then is not led elsewhere, which would read as if it were done.
        let late = send(&sam, "/to-do/beds", &[("form_token", &token(&page))]).await;
        assert_eq!(late.status, 401, "{}", late.text);
        is_sound(&late);
        assert!(late.text.contains("nothing was changed") && late.text.contains("href=\"/login\""), "{}", late.text);
    }

    async fn the_pages_are_for_the_staff_alone(db: Db) {
        let app = App::new(db).await;
        let sam = operator(&app).await;
        let ann = crate::billing::customer(&app, "ann@example.org").await;
        let program = crate::api::with_role(&app, "admin").await;
        for path in [
            "/floor", "/floor?wall=1&q=x&size=small", "/to-do", "/to-do/activity", "/shop/orders",
            "/shop/orders?status=paid&q=1&flagged=1",
            "/shop/jobs", "/shop/jobs?state=PRINTING&q=1&printer=x&days=7&from=50", "/shop/search", "/shop/search?q=1",
        ] {
            let page = sam.get(path).await;
            assert_eq!(page.status, 200, "{path}: {}", page.text);
            is_sound(&page);
            for stranger in [&app.nobody(), &ann] {
                let led = stranger.open(stranger.request("GET", path)).await;
                let location = led.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
                let signs_in = location.is_some_and(|to| to.starts_with("/login?next=")) || led.url().path() == "/login";
                assert!(signs_in, "{path}");
            }
            // A program's key is no session.
            let refused = program.get(path).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
            is_sound(&refused);
        }
        for path in [format!("/shop/orders/{}", crate::api::NOTHING), format!("/floor/printers/{}", crate::api::NOTHING)] {
            let page = sam.get(&path).await;
            assert_eq!(page.status, 404, "{}", page.text);
            is_sound(&page);
            assert!(page.text.contains("href=\"/floor\""), "{}", page.text);
        }
    }

    async fn a_form_is_good_for_its_session_alone(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        staff(&app, "eve@example.org", "operator").await;
        let eve = signed_in(&app, "eve@example.org").await;
        let order = crate::billing::pages::ordered(&app, "ann@example.org").await;
        let path = format!("/shop/orders/{order}");
        let page = sam.get(&path).await;
        is_sound(&page);
        assert!(!page.text.contains(HOSTILE) && page.text.contains("&lt;script&gt;alert(1)"), "{}", page.text);
        let theirs = token(&eve.get("/floor").await);
        for forged in ["", "x", &theirs] {
            let refused = send(&sam, &format!("{path}/cancel"), &[("form_token", forged)]).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
            is_sound(&refused);
        }
        let own = token(&page);
        let elsewhere = sam.request("POST", &format!("{path}/cancel")).header("sec-fetch-site", "cross-site");
        let elsewhere = elsewhere.header("content-type", "application/x-www-form-urlencoded");
        assert_eq!(sam.send(elsewhere.body(format!("form_token={own}"))).await.status, 403);
        assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["status"], "created");
        let unknown = send(&sam, &format!("{path}/explode"), &[("form_token", &own)]).await;
        assert_eq!(unknown.status, 404, "{}", unknown.text);
        let done = send(&sam, &format!("{path}/cancel"), &[("form_token", &own)]).await;
        assert!(done.status == 200 && done.text.contains(">Cancelled<"), "{}", done.text);
    }
}

#[tokio::test]
async fn no_link_lets_anybody_into_a_shop() {
    let app = App::new(Db::sqlite()).await;
    for path in ["/login/once", "/login/once?token=", "/login/once?token=x"] {
        let page = app.nobody().get(path).await;
        assert_eq!((page.status, page.header("set-cookie")), (410, None), "{path}: {}", page.text);
        is_sound(&page);
        assert!(page.text.contains("Sign in with"), "{}", page.text);
    }
    // Links are made over the control socket alone.
    let nobody = app.nobody();
    let answer = nobody.send(nobody.request("POST", "/login/once?user=018f0000-0000-7000-8000-000000000000")).await;
    assert_eq!((answer.status, answer.text.contains("token")), (403, false), "{}", answer.text);
}

#[tokio::test]
async fn a_browser_that_lost_its_way_is_told_where_to_go() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    let page = nobody.send(nobody.request("GET", "/nowhere").header("accept", "text/html,*/*;q=0.8")).await;
    assert_eq!(page.status, 404, "{}", page.text);
    is_sound(&page);
    assert!(page.text.contains("href=\"/floor\"") && page.text.contains("href=\"/orders\""), "{}", page.text);
    // Programs get what they can read.
    assert_eq!(nobody.get("/nowhere").await.error(404), "not_found");
    let of_api = nobody.send(nobody.request("GET", "/api/nowhere").header("accept", "text/html")).await;
    assert_eq!(of_api.error(404), "not_found");
}
