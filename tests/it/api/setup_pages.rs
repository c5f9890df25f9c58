//! The setup wizard in a browser: page by page, from the printed code to the first print.

mod german;
mod requests;

use std::collections::BTreeMap;

use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

use super::{PASSWORD, with_cookie, with_role};
use crate::support::client::Answer;
use crate::support::ports::closed_address;
use crate::support::stream::Stream;
use crate::support::{App, Client, Db, on_sqlite, until};

/// A browser without JavaScript that keeps cookies and does not follow redirects.
struct Browser {
    client: Client,
    cookies: BTreeMap<String, String>,
    /// Value of the `Accept-Language` header.
    languages: &'static str,
}

impl Browser {
    fn new(app: &App) -> Self {
        Self { client: app.nobody(), cookies: BTreeMap::new(), languages: "en" }
    }

    async fn answered(&mut self, mut request: reqwest::RequestBuilder) -> Answer {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        request = request.header("accept-language", self.languages);
        let answer = self.client.send(request).await;
        for set in answer.headers.get_all("set-cookie") {
            let (name, value) = set.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        let request = self.client.request("GET", path);
        let page = self.answered(request).await;
        if page.status != 303 {
            is_sound(&page);
        }
        page
    }

    async fn send(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.client.request("POST", path).header("content-type", "application/x-www-form-urlencoded");
        let page = self.answered(request.header("sec-fetch-site", "same-origin").body(body)).await;
        if page.status != 303 {
            is_sound(&page);
        }
        page
    }

    /// Checks that the response to a form is a redirect, and returns its target.
    #[track_caller]
    fn led(answer: &Answer) -> &str {
        assert_eq!(answer.status, 303, "{}", answer.text);
        answer.header("location").expect("a place")
    }

    /// Opens the wizard with the code printed at the first start, and creates the first admin.
    async fn begin(&mut self, app: &App) {
        let code = code(app, 1).await;
        assert_eq!(Self::led(&self.send("/setup/enter", &[("code", code.as_str())]).await), "/setup");
        let admin = [("name", "Sam"), ("email", "sam@example.org"), ("password", PASSWORD)];
        assert_eq!(Self::led(&self.send("/setup", &admin).await), "/setup/database");
        assert_eq!(self.send("/setup/database", &[]).await.status, 200);
    }
}

/// Checks the rules that hold for every page of the wizard.
#[track_caller]
fn is_sound(page: &Answer) {
    let (text, policy) = (&page.text, page.header("content-security-policy").expect("a policy"));
    assert!(policy.starts_with("default-src 'none';") && policy.contains("form-action 'self'"), "{policy}");
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(text.matches("<link").count(), 1, "{text}");
    assert!(text.contains("<link rel=\"stylesheet\" href=\"/assets/"), "{text}");
    assert_eq!(text.matches("src=").count(), text.matches("<script src=\"/assets/").count(), "{text}");
    for loaded in ["style=\"", "<style", " onclick", " onload", "url("] {
        assert!(!text.contains(loaded), "{loaded} in {text}");
    }
    for field in text.split("<input id=\"").skip(1) {
        let name = field.split('"').next().unwrap();
        assert!(text.contains(&format!("<label for=\"{name}\"")), "{name} has no label in {text}");
    }
}

/// Returns the code that the server printed at start number `start`, counted from 1.
async fn code(app: &App, start: usize) -> String {
    until("a code to be printed", || async {
        let log = app.log();
        let line =
            log.iter().filter(|line| line.contains("/setup in a browser; the one-time code is")).nth(start - 1)?;
        Some(line.split("code is ").nth(1)?.split(';').next()?.to_owned())
    })
    .await
}

/// Returns the form fields for a printer.
fn fields_of<'a>(sim: &'a SimPrinter, key: &'a str) -> Vec<(&'static str, &'a str)> {
    vec![
        ("name", "Ada"),
        ("type", sim.kind.as_str()),
        ("baseUrl", sim.base_url.as_str()),
        ("apiKey", key),
        ("serial", ""),
        ("machineType", "fdm_standard"),
        ("buildVolume.x", "220"),
        ("buildVolume.y", "220"),
        ("buildVolume.z", "250"),
    ]
}

#[tokio::test]
async fn the_code_opens_the_wizard_and_the_first_admin_comes_first() {
    let app = App::new(Db::sqlite()).await;
    let mut browser = Browser::new(&app);
    assert_eq!(Browser::led(&browser.get("/setup").await), "/setup/enter");
    assert_eq!(Browser::led(&browser.get("/setup/review").await), "/setup/enter");
    let door = browser.get("/setup/enter").await;
    assert!(door.text.contains("One-time code") && !door.text.contains("type=\"password\""), "{}", door.text);
    let wrong = browser.send("/setup/enter", &[("code", "AAAA-AAAA-AAAA")]).await;
    assert_eq!(Browser::led(&wrong), "/setup/enter?error=wrong_code");
    let again = browser.get("/setup/enter?error=wrong_code").await;
    assert!(again.text.contains("That code is incorrect."), "{}", again.text);
    let printed = code(&app, 1).await;
    let opened = browser.send("/setup/enter", &[("code", printed.as_str())]).await;
    assert_eq!(Browser::led(&opened), "/setup");
    let cookie = opened.header("set-cookie").unwrap();
    assert!(
        cookie.contains("Path=/setup;") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );

    let welcome = browser.get("/setup").await;
    for words in ["Add the first admin", "Payment processor", "Not used", "step 1 of 6"] {
        assert!(welcome.text.contains(words), "{words} in {}", welcome.text);
    }
    assert_eq!(Browser::led(&browser.get("/setup/database").await), "/setup", "the admin comes first");
    let short = [("name", "<b>Sam"), ("email", "sam@example.org"), ("password", "short")];
    let refused = browser.send("/setup", &short).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("Password: ") && refused.text.contains("value=\"&lt;b&gt;Sam\""), "{}", refused.text);
    let sam = [("name", "Sam"), ("email", "sam@example.org"), ("password", PASSWORD)];
    let nowhere: Vec<_> = sam.into_iter().chain([("PRINTFLOOR_SHOP__TIME_ZONE", "Nowhere/At all")]).collect();
    let refused = browser.send("/setup", &nowhere).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(
        refused.text.contains("“Nowhere/At all” is not a time zone of this server")
            && refused.text.contains("<option value=\"UTC\""),
        "{}",
        refused.text
    );
    assert_eq!(Browser::led(&browser.send("/setup", &sam).await), "/setup/database");
    assert!(browser.cookies.contains_key("service_session"), "the admin is signed in");
    let welcome = browser.get("/setup").await;
    assert!(!welcome.text.contains("Add the first admin"), "{}", welcome.text);
}

#[tokio::test]
async fn both_connections_are_tested_before_the_wizard_goes_on() {
    let app = App::new(Db::sqlite()).await;
    let mut browser = Browser::new(&app);
    let code = code(&app, 1).await;
    browser.send("/setup/enter", &[("code", code.as_str())]).await;
    browser.send("/setup", &[("name", "Sam"), ("email", "sam@example.org"), ("password", PASSWORD)]).await;
    for later in ["/setup/printers", "/setup/integrations", "/setup/commerce", "/setup/review"] {
        assert_eq!(Browser::led(&browser.get(later).await), "/setup/database", "{later}");
    }
    let closed = closed_address();
    let dead = format!("postgres://shop:hunter2@{closed}/shop");
    let failed = browser.send("/setup/database", &[("DATABASE_URL", dead.as_str())]).await;
    assert_eq!(failed.status, 400, "{}", failed.text);
    assert!(failed.text.contains("Test failed.") && !failed.text.contains("Next: "), "{}", failed.text);
    assert_eq!(Browser::led(&browser.send("/setup/review", &[]).await), "/setup/database", "nothing is written");
    assert!(!app.folder().join(".env").exists());
    let works = browser.send("/setup/database", &[]).await;
    assert_eq!(works.status, 200, "{}", works.text);
    for words in ["Test passed.", "Not configured: rate limits", "Next: Printer Discovery"] {
        assert!(works.text.contains(words), "{words} in {}", works.text);
    }
    assert_eq!(browser.get("/setup/printers").await.status, 200);
}

#[tokio::test]
async fn a_print_server_is_added_with_its_key_alone_and_faults_are_told_by_labels() {
    let app = App::new(Db::sqlite()).await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let mut browser = Browser::new(&app);
    browser.begin(&app).await;
    let form = browser.get("/setup/printers/new").await;
    assert!(form.text.contains("Always required for OctoPrint."), "{}", form.text);
    assert!(form.text.contains(">OctoPrint, port 5000</option>"), "{}", form.text);
    // The usual build volume of no type in particular is not folded away.
    assert!(form.text.contains("<details class=\"field\" open>"), "{}", form.text);
    let mut fields = fields_of(&fleet.printers[0], "");
    fields[2] = ("baseUrl", "");
    let nowhere = browser.send("/setup/printers/new", &fields).await;
    assert!(
        nowhere.status == 400 && nowhere.text.contains("URL or IP address: enter the printer's address"),
        "{}",
        nowhere.text
    );
    assert!(!nowhere.text.contains("Test failed."), "nothing is tested without it: {}", nowhere.text);
    assert!(nowhere.text.contains("<details class=\"field\" open>"), "it stays unfolded: {}", nowhere.text);
    let mut fields = fields_of(&fleet.printers[0], "");
    fields[1] = ("type", "server_rest");
    let keyless = browser.send("/setup/printers/new", &fields).await;
    assert_eq!(keyless.status, 400);
    assert!(keyless.text.contains("API key: required for printers of this type"), "{}", keyless.text);
    assert!(!keyless.text.contains("Test failed."), "nobody is asked without it: {}", keyless.text);
    let mut fields = fields_of(&fleet.printers[0], &fleet.printers[0].api_key);
    fields[6] = ("buildVolume.x", "wide");
    let faulty = browser.send("/setup/printers/new", &fields).await;
    assert!(faulty.status == 400 && faulty.text.contains("Width in mm: must be a number"), "{}", faulty.text);
    assert_eq!(app.get("/api/printers").await.expect(200)["pagination"]["total"], 0);
}

on_sqlite! {
    async fn the_wizard_ends_with_the_settings_and_a_test_print(db: Db) {
        let mut app = App::on(db).without_seller().start().await;
        let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
        let mut browser = Browser::new(&app);
        browser.begin(&app).await;
        add_printer(&mut browser, &fleet.printers[0]).await;
        try_services(&mut browser).await;
        name_seller(&mut browser).await;

        // Left, the server restarted, and resumed by signing in.
        app.stop().await;
        app.start().await;
        let mut browser = sign_in_again(&app).await;
        let token = write_settings(&app, &mut browser).await;
        print_test_part(&app, &mut browser, &token).await;

        // From now on it is for admins.
        let operator = with_role(&app, "operator").await.get("/setup").await;
        assert!(operator.status == 403 && operator.text.contains("Admin access required"), "{}", operator.text);
        let door = app.nobody().get("/setup/enter").await;
        assert!(door.text.contains("Setup is complete.") && !door.text.contains("One-time code"), "{}", door.text);
        assert_eq!(browser.get("/setup").await.status, 200, "an admin may go through it again");
    }
}

/// Adds a printer: once with a wrong key, which fails, then with the right one.
async fn add_printer(browser: &mut Browser, sim: &SimPrinter) {
    let wrong = browser.send("/setup/printers/new", &fields_of(sim, "no such key")).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text.contains("Test failed.") && wrong.text.contains("Copy the user name"), "{}", wrong.text);
    let added = browser.send("/setup/printers/new", &fields_of(sim, &sim.api_key)).await;
    assert_eq!(Browser::led(&added), "/setup/printers");
    let page = browser.get("/setup/printers").await;
    assert!(page.text.contains("Ada") && page.text.contains("Klipper (Moonraker) at http://"), "{}", page.text);
    assert!(!page.text.contains("fw_rest"), "{}", page.text);
}

/// Tests services that do not respond, are unused or have errors, and one that succeeds.
async fn try_services(browser: &mut Browser) {
    let closed = closed_address();
    let dead = format!("http://{closed}");
    let dead = [("service", "smart_home"), ("SMART_HOME_URL", dead.as_str()), ("SMART_HOME_TOKEN", "hunter2")];
    let failed = browser.send("/setup/integrations", &dead).await;
    assert_eq!(failed.status, 400);
    assert!(failed.text.contains("Test failed."), "{}", failed.text);
    assert!(failed.text.contains("value=\"http://") && !failed.text.contains("hunter2"), "{}", failed.text);
    let without = browser.send("/setup/integrations", &[("service", "parts")]).await;
    assert!(without.status == 200 && without.text.contains("won't use this service"), "{}", without.text);
    assert!(without.text.contains("Not tested because this field is empty."), "{}", without.text);
    let token_alone = [("service", "spools"), ("SPOOLS_URL", ""), ("SPOOLS_TOKEN", "hunter2")];
    let nowhere = browser.send("/setup/integrations", &token_alone).await;
    assert!(nowhere.status == 400 && nowhere.text.contains("Fill this in first."), "{}", nowhere.text);
    assert!(!nowhere.text.contains("hunter2"), "{}", nowhere.text);
    assert_eq!(nowhere.text.matches("<details open").count(), 1, "the others stay folded: {}", nowhere.text);
    let faulty = browser.send("/setup/commerce", &[("service", "smtp"), ("SMTP_PORT", "many")]).await;
    assert!(faulty.status == 400 && faulty.text.contains("must be a number"), "{}", faulty.text);
    assert!(faulty.text.contains("Mail server: Port: "), "{}", faulty.text);
    let from = "Sam & Shop <shop@example.org>";
    let smtp = [("service", "smtp"), ("SMTP_PORT", "587"), ("SMTP_FROM", from)];
    assert_eq!(browser.send("/setup/commerce", &smtp).await.status, 200);
}

/// Enters the seller's details, after an attempt with an invalid country.
async fn name_seller(browser: &mut Browser) {
    let seller = |part: &'static str| match part {
        "service" => ("service", "seller"),
        "NAME" => ("PRINTFLOOR_INVOICES__SELLER_NAME", "Söhne & Sam"),
        "LINE1" => ("PRINTFLOOR_INVOICES__SELLER_LINE1", "Weg 1"),
        "CITY" => ("PRINTFLOOR_INVOICES__SELLER_CITY", "Ulm"),
        _ => ("PRINTFLOOR_INVOICES__SELLER_COUNTRY", part),
    };
    for (country, lacks) in [("", "the shop's country"), ("XX", "the shop's country")] {
        let fields = ["service", "NAME", "LINE1", "CITY", country].map(seller);
        let unnamed = browser.send("/setup/commerce", &fields).await;
        assert!(unnamed.status == 400 && unnamed.text.contains(lacks), "{}", unnamed.text);
        assert!(unnamed.text.contains("value=\"Weg 1\""), "what was typed stays: {}", unnamed.text);
    }
    let named = browser.send("/setup/commerce", &["service", "NAME", "LINE1", "CITY", "de"].map(seller)).await;
    assert!(named.status == 200 && named.text.contains("Complete, not written yet"), "{}", named.text);
    assert!(named.text.contains("<strong>Saved. </strong>Your invoices will show these details."), "{}", named.text);
}

/// Resumes the wizard in a new browser, by signing in.
async fn sign_in_again(app: &App) -> Browser {
    let mut browser = Browser::new(app);
    let wrong = browser.send("/setup/sign-in", &[("email", "sam@example.org"), ("password", "not this one")]).await;
    assert_eq!(Browser::led(&wrong), "/setup/enter?error=wrong_credentials");
    let right = browser.send("/setup/sign-in", &[("email", "sam@example.org"), ("password", PASSWORD)]).await;
    assert_eq!(Browser::led(&right), "/setup");
    browser
}

/// Writes the successfully tested settings, and returns the forms' token.
async fn write_settings(app: &App, browser: &mut Browser) -> String {
    let review = browser.get("/setup/review").await;
    assert!(review.text.contains("SMTP_FROM") && review.text.contains("Sam &amp; Shop"), "{}", review.text);
    assert!(review.text.contains("<dt>Mail server: Sender "), "{}", review.text);
    assert!(!review.text.contains("SMART_HOME_URL") && !review.text.contains("hunter2"), "{}", review.text);
    let forged = browser.send("/setup/review", &[]).await;
    assert_eq!(forged.status, 403, "a form of a session has its token");
    let token = token(&review);
    let zone = [("form_token", token.as_str()), ("service", "time_zone"), ("PRINTFLOOR_SHOP__TIME_ZONE", "JST-9")];
    assert_eq!(Browser::led(&browser.send("/setup", &zone).await), "/setup");
    let review = browser.get("/setup/review").await;
    assert!(review.text.contains("<span class=\"state\">JST-9</span>"), "{}", review.text);
    assert_eq!(Browser::led(&browser.send("/setup/review", &[("form_token", token.as_str())]).await), "/setup/done");
    let dotenv = std::fs::read_to_string(app.folder().join(".env")).unwrap();
    assert!(dotenv.contains("SMTP_FROM=") && !dotenv.contains("SMART_HOME"), "{dotenv}");
    assert!(dotenv.contains("PRINTFLOOR_INVOICES__SELLER_CITY=\"Ulm\""), "{dotenv}");
    assert!(dotenv.contains("PRINTFLOOR_SHOP__TIME_ZONE=") && dotenv.contains("JST-9"), "{dotenv}");
    token
}

/// Prints the test part that the last page offers.
async fn print_test_part(app: &App, browser: &mut Browser, token: &str) {
    let done = browser.get("/setup/done").await;
    for words in ["SMTP_FROM", "Restart the server", "mail.from", "Print a test part on Ada"] {
        assert!(done.text.contains(words), "{words} in {}", done.text);
    }
    let printers = app.get("/api/printers").await.expect(200);
    let printer = printers["printers"][0]["id"].as_str().unwrap().to_owned();
    until("the printer to be seen", || async {
        let status = app.get(&format!("/api/printers/{printer}/status")).await.expect(200);
        (status["connection"] == "connected").then_some(())
    })
    .await;
    let printed = browser.send("/setup/test-print", &[("form_token", token), ("printer", printer.as_str())]).await;
    assert_eq!(printed.status, 200, "{}", printed.text);
    follow_print(app, browser, &printed, &printer).await;
    until("the test print to be seen", || async {
        let status = app.get(&format!("/api/printers/{printer}/status")).await.expect(200);
        (status["state"] == "printing" || status["state"] == "finished").then_some(())
    })
    .await;
    let files = app.get("/api/files").await.expect(200);
    assert_eq!(files["files"][0]["name"], "test-print.gcode", "{files}");
}

/// Follows the test print on the page that responds to the button.
async fn follow_print(app: &App, browser: &mut Browser, page: &Answer, printer: &str) {
    let path = format!("/setup/done/live?printer={printer}");
    for words in [format!("data-stream=\"{path}\""), format!("href=\"/floor/printers/{printer}\"")] {
        assert!(page.text.contains(&words), "{words} in {}", page.text);
    }
    let admin = with_cookie(app, &format!("service_session={}", browser.cookies["service_session"]));
    let mut stream = Stream::open(&admin, &path, None).await;
    loop {
        let sent = stream.next().await.expect("the stream goes on");
        let (html, words) = (sent.data["html"].as_str().unwrap(), sent.data["said"].as_str().unwrap());
        assert!(sent.event == "part" && html.contains(">Open Ada</a>"), "{html}");
        if words == "The print on Ada is finished. Remove the part from the bed." {
            break;
        }
        if words == "Ada is printing." {
            assert!(html.contains("aria-label=\"Progress of Ada\""), "{html}");
            break;
        }
    }
    // Without script, the page shows it when it is loaded again; it follows no printer that does not exist.
    let again = browser.get(&format!("/setup/done?printer={printer}")).await;
    assert!(again.status == 200 && again.text.contains(">Open Ada</a>"), "{}", again.text);
    let nowhere = browser.get("/setup/done?printer=nowhere").await;
    assert!(nowhere.status == 200 && !nowhere.text.contains("data-stream"), "{}", nowhere.text);
    assert_eq!(browser.get("/setup/done/live?printer=nowhere").await.status, 404);
}

/// Returns the form token of a page.
fn token(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("name=\"form_token\" value=\"").unwrap_or_else(|| panic!("{}", page.text));
    rest.split('"').next().unwrap().to_owned()
}
