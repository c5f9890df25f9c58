//! A system that responds but rejects the token or some of its operations: it is shown as failing until a person acts,
//! even if other operations succeed.

use serde_json::Value;
use simulator::stock::NetworkCondition;
use simulator::stock::parts::PartsSystem;
use simulator::stock::spools::SpoolSystem;

use super::{agree, link_is, linked, parts, server, spools};
use crate::api::alerts::decoded;
use crate::api::materials::mails;
use crate::support::{App, Db, until};

/// Returns an integration as the API shows it.
async fn view_of(app: &App, system: &str) -> Value {
    let body = app.get("/api/integrations").await.expect(200);
    body["integrations"].as_array().unwrap().iter().find(|one| one["kind"] == system).unwrap().clone()
}

/// Waits until a system has at least this many failures in a row, with this status in the error message.
async fn failures(app: &App, system: &str, status: &str, least: u64) -> Value {
    until("its failures to be counted", || async {
        let view = view_of(app, system).await;
        let counts = view["failures"].as_u64()? >= least && view["error"].as_str()?.contains(status);
        counts.then_some(view)
    })
    .await
}

async fn is_well(app: &App, system: &str) -> Value {
    until("it to be well", || async {
        let view = view_of(app, system).await;
        (view["failures"] == 0 && view["error"].is_null() && view["lastOkAt"].is_string()).then_some(view)
    })
    .await
}

/// Waits until the operators have received this many emails with this subject; returns the last one.
async fn alert_mail(app: &App, subject: &str, count: usize) -> String {
    until("the operators to be told", || async {
        let mut mails = mails(app, subject);
        if mails.len() == count { mails.pop() } else { None }
    })
    .await
}

/// Makes a system with a linked material reject some or all requests with this status, then accept them again.
async fn fails_until_a_person_acts(app: &mut App, system: &str, status: u16, forbid: impl Fn(bool)) {
    let subject = match system {
        "parts" => "Integration needs attention: Parts management",
        _ => "Integration needs attention: Spools",
    };
    let status = format!("status {status}");
    is_well(app, system).await;
    assert!(mails(app, subject).is_empty());
    forbid(true);
    let first = failures(app, system, &status, 1).await;
    let later = failures(app, system, &status, first["failures"].as_u64().unwrap() + 3).await;
    assert_eq!(first["lastOkAt"], later["lastOkAt"], "that its entries may be listed does not make it well");
    let mail = decoded(&alert_mail(app, subject, 1).await);
    assert!(mail.contains("To: ops@example.org") && mail.contains(&status), "{mail}");
    app.kill_9();
    app.start().await;
    failures(app, system, &status, 3).await;
    assert_eq!(mails(app, subject).len(), 1, "once, whatever is started again");
    forbid(false);
    let well = is_well(app, system).await;
    assert_ne!(well["lastOkAt"], later["lastOkAt"]);
    forbid(true);
    alert_mail(app, subject, 2).await;
}

/// Starts a parts system, and a server with a material in sync with it.
async fn parts_in_step() -> (PartsSystem, App) {
    let there = parts().await;
    let part = there.add_part("PLA", "g");
    there.add_item(part, 500_000);
    let app = server(Db::sqlite(), "PARTS", &there.url()).await;
    in_step(&app, "parts", "PLA", part).await;
    (there, app)
}

/// Starts a spool system, and a server with a material in sync with it.
async fn spools_in_step() -> (SpoolSystem, App) {
    let there = spools().await;
    let filament = there.add_filament("Black", Some(1_000_000));
    there.add_spool(filament, None, 500_000);
    let app = server(Db::sqlite(), "SPOOLS", &there.url()).await;
    in_step(&app, "spools", "Black", filament).await;
    (there, app)
}

async fn in_step(app: &App, system: &str, name: &str, entry: i64) {
    let material = app.material(name, 500.0).await;
    linked(app, system, &material, entry).await;
    agree(app, system, &material, "ours").await;
    link_is(app, "both to be in step", &material, |link| link["state"] == "in_step").await;
}

#[tokio::test]
async fn a_parts_system_that_forbids_its_stock_fails_and_is_told_once() {
    let (there, mut app) = parts_in_step().await;
    let forbid = |forbids| {
        there.weather(if forbids { NetworkCondition::Forbids("/api/stock/") } else { NetworkCondition::Fair });
    };
    fails_until_a_person_acts(&mut app, "parts", 403, forbid).await;
}

#[tokio::test]
async fn a_spool_system_that_forbids_its_spools_fails_and_is_told_once() {
    let (there, mut app) = spools_in_step().await;
    let forbid = |forbids| {
        there.weather(if forbids { NetworkCondition::Forbids("/api/v1/spool") } else { NetworkCondition::Fair });
    };
    fails_until_a_person_acts(&mut app, "spools", 403, forbid).await;
}

#[tokio::test]
async fn a_parts_system_whose_token_has_expired_fails_and_is_told_once() {
    let (there, mut app) = parts_in_step().await;
    let expire = |expired| there.weather(if expired { NetworkCondition::Unauthorized } else { NetworkCondition::Fair });
    fails_until_a_person_acts(&mut app, "parts", 401, expire).await;
}

#[tokio::test]
async fn a_spool_system_that_asks_for_a_token_fails_and_is_told_once() {
    let (there, mut app) = spools_in_step().await;
    let ask = |asks| there.weather(if asks { NetworkCondition::Unauthorized } else { NetworkCondition::Fair });
    fails_until_a_person_acts(&mut app, "spools", 401, ask).await;
}
