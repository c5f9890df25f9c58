//! Alert emails to the operators: recipients, appearance, and the grouping of many alerts into a few emails.

use std::collections::BTreeSet;

use printfloor::domain::mail::alert::AlertKind;
use serde_json::json;
use simulator::peers::mail_service::SimMailService;
use simulator::sink::{Sink, SinkMode};

use super::materials::mails;
use super::{signed_in, staff};
use crate::support::waiting::LONG;
use crate::support::{App, Client, Clock, Db, until};

/// Creates a material whose stock is below its reorder point.
async fn runs_low(client: &Client, name: &str) {
    let body = json!({
        "name": name, "type": "filament", "color": "#ff0000", "brand": "Acme", "quantity": 992.64, "unit": "g",
        "reorderPoint": 995, "reorderQuantity": 1000,
    });
    client.post("/api/inventory/materials", &body).await.expect(201);
}

/// Decodes the body of an email: without the line breaks and escapes of its transfer encoding.
pub fn decoded(mail: &str) -> String {
    mail.replace("\r\n", "\n").replace("=\n", "").replace("=3D", "=")
}

#[tokio::test]
async fn without_set_addresses_the_active_admins_are_told_in_text_and_html_with_a_link() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example").start().await;
    staff(&app, "hand@example.org", "operator").await;
    staff(&app, "boss@example.org", "admin").await;
    runs_low(&app, "PLA red").await;
    let mail = until("a mail", || async { mails(&app, "Low stock: PLA red, 993 g left").pop() }).await;
    let mail = decoded(&mail);
    assert!(mail.contains("To: boss@example.org"), "{mail}");
    assert!(!mail.contains("hand@example.org"), "{mail}");
    for words in [
        "PLA red: 992.64 g available of 992.64 g on hand, below the reorder point of 995 g. New jobs that need it \
         are on hold until stock is added.",
        "Add stock: https://shop.example/docs/#/Materials/adjustMaterial",
        "<a href=\"https://shop.example/docs/#/Materials/adjustMaterial\"",
        ">Add stock</a>",
        "multipart/alternative",
    ] {
        assert!(mail.contains(words), "{words} in {mail}");
    }
}

#[tokio::test]
async fn each_admin_gets_alerts_in_their_own_language() {
    let app = App::new(Db::sqlite()).await;
    for email in ["ann@example.org", "ben@example.org", "max@example.org"] {
        staff(&app, email, "admin").await;
    }
    for email in ["ben@example.org", "max@example.org"] {
        let client = signed_in(&app, email).await;
        client.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    }
    runs_low(&app, "PLA red").await;
    let english = until("a mail in English", || async { mails(&app, "Low stock: PLA red, 993 g left").pop() }).await;
    let german =
        until("a mail in German", || async { mails(&app, "Knapper Bestand: PLA red, noch 993 g").pop() }).await;
    let (english, german) = (decoded(&english), decoded(&german));
    for (mail, others, texts) in [
        (
            &english,
            ["ben@example.org", "max@example.org"].as_slice(),
            ["below the reorder point of 995 g", ">Add stock</a>"],
        ),
        (&german, ["ann@example.org"].as_slice(), ["weniger als der Meldebestand von 995 g", "lang=\"de\""]),
    ] {
        assert!(texts.iter().all(|text| mail.contains(text)), "{texts:?} in {mail}");
        assert!(others.iter().all(|other| !mail.contains(other)), "{others:?} in {mail}");
    }
    assert!(english.contains("To: ann@example.org"), "{english}");
    assert!(german.contains("ben@example.org") && german.contains("max@example.org"), "{german}");
    until("the alert to be noted as sent", || async {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0").then_some(())
    })
    .await;
    assert_eq!((mails(&app, "Low stock").len(), mails(&app, "Knapper Bestand").len()), (1, 1));
}

#[tokio::test]
async fn a_mail_in_one_language_that_fails_repeats_none_in_another() {
    let post = Sink::start().await.unwrap();
    let app = App::on(Db::sqlite())
        .env("EMAIL_API_KEY", "key")
        .env("PRINTFLOOR_MAIL__API_URL", post.url())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org,ben@example.org")
        // Longer than the two that follow take together on a busy machine.
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 15)
        .start()
        .await;
    staff(&app, "ben@example.org", "operator").await;
    let ben = signed_in(&app, "ben@example.org").await;
    ben.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    // The first mail is the one in English.
    post.set_mode(SinkMode::FailFirst(1));
    runs_low(&app, "PLA red").await;
    post.wait_until(|all| all.len() == 2, LONG).await.expect("one mail for each language");
    // What follows is gathered, although one of the two mails failed.
    runs_low(&app, "PLA blue").await;
    runs_low(&app, "PETG").await;
    until("all to be noted as sent", || async {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0").then_some(())
    })
    .await;
    let requests = post.received();
    let sent: Vec<_> = requests.iter().map(|one| (one.json()["to"].clone(), one.json()["subject"].clone())).collect();
    let (ops, ben) = (json!(["ops@example.org"]), json!(["ben@example.org"]));
    let expected = [
        (ops.clone(), json!("Low stock: PLA red, 993 g left")),
        (ben.clone(), json!("Knapper Bestand: PLA red, noch 993 g")),
        (ops, json!("Low stock: 3 alerts")),
        (ben, json!("Knapper Bestand: 2 Meldungen")),
    ];
    assert_eq!(sent, expected);
    let keys: BTreeSet<_> = requests.iter().map(|one| one.header("idempotency-key")).collect();
    assert_eq!(keys.len(), requests.len(), "each set in each language has a key of its own");
}

#[tokio::test]
async fn alerts_of_one_kind_are_gathered_into_one_mail() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        // Longer than the three take together on a busy machine.
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 15)
        .start()
        .await;
    runs_low(&app, "PLA red").await;
    until("the first at once", || async { mails(&app, "Low stock: PLA red").pop() }).await;
    for name in ["PLA blue", "PETG", "ASA"] {
        runs_low(&app, name).await;
    }
    let gathered = until("the others together", || async { mails(&app, "Low stock: 3 alerts").pop() }).await;
    let gathered = decoded(&gathered);
    for name in ["PLA blue", "PETG", "ASA"] {
        assert!(gathered.contains(&format!("Low stock: {name}, 993 g left")), "{gathered}");
    }
    until("all to be noted", || async {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0").then_some(())
    })
    .await;
    assert_eq!(mails(&app, "Low stock").len(), 2);
}

#[tokio::test]
async fn alerts_that_cannot_be_sent_do_not_use_up_the_tries_of_others() {
    const ALERTS: usize = 14;
    let post = Sink::start().await.unwrap();
    post.set_mode(SinkMode::Status(503));
    let app = App::on(Db::sqlite())
        .env("EMAIL_API_KEY", "key")
        .env("PRINTFLOOR_MAIL__API_URL", post.url())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 3)
        .start()
        .await;
    for n in 0..ALERTS {
        runs_low(&app, &format!("PLA {n}")).await;
        post.wait_until(|all| all.len() > n, LONG).await.expect("each to be tried at once");
    }
    // A mail is given up after twelve tries of its own; each of these had one.
    until("all to wait for their next try", || async {
        let line = format!("printfloor_mails_pending {ALERTS}");
        app.get("/metrics").await.text.lines().any(|one| one == line).then_some(())
    })
    .await;
    let failures = app.log().iter().filter(|line| line.contains("sending an email failed")).count();
    assert_eq!(failures, 1, "an outage of the email service is one line");
}

#[tokio::test]
async fn one_lost_answer_of_the_mail_service_keeps_back_no_alert() {
    const TWO_MINUTES_MS: i64 = 120_000;
    let (clock, post) = (Clock::new(), SimMailService::start("key").await.unwrap());
    post.lose_answers(true);
    let mut app = App::on(Db::sqlite())
        .env("EMAIL_API_KEY", "key")
        .env("PRINTFLOOR_MAIL__API_URL", post.url())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 1)
        .clock(&clock)
        .start()
        .await;
    runs_low(&app, "PLA red").await;
    until("the first to be taken", || async { (post.requests().len() == 1).then_some(()) }).await;
    runs_low(&app, "PLA blue").await;
    until("both to be taken together", || async { (post.requests().len() == 2).then_some(()) }).await;
    app.kill_9();
    post.lose_answers(false);
    clock.set(TWO_MINUTES_MS);
    app.start().await;
    until("all to be noted as sent", || async {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0").then_some(())
    })
    .await;
    let requests = post.requests();
    assert!(requests.iter().all(|one| one.error.is_none()), "{requests:#?}");
    let subjects: Vec<_> = post.messages().iter().map(|body| body["subject"].as_str().unwrap().to_owned()).collect();
    let once = |subject: &str| subjects.iter().filter(|one| one.starts_with(subject)).count();
    assert_eq!((once("Low stock: PLA red"), once("Low stock: 2 alerts")), (1, 1), "a set is sent once: {subjects:?}");
    // The service still knows those keys, and takes what follows.
    runs_low(&app, "PETG").await;
    until("the next", || async {
        let last = post.messages().pop()?;
        last["subject"].as_str()?.starts_with("Low stock: PETG").then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_links_of_alerts_lead_to_operations_that_there_are() {
    let app = App::new(Db::sqlite()).await;
    let description = app.nobody().get("/api/openapi.json").await.expect(200);
    let operations: Vec<(&str, &str)> = description["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
        .filter_map(|operation| Some((operation["tags"][0].as_str()?, operation["operationId"].as_str()?)))
        .collect();
    for kind in AlertKind::ALL {
        let (_, tag, operation) = kind.page();
        assert!(operations.contains(&(tag, operation)), "{kind:?} leads to {tag}/{operation}");
    }
    assert_eq!(app.nobody().get("/docs/").await.status, 200);
}
