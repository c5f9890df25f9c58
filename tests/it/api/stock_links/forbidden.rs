//! A system that answers, and whose token may not do everything: it fails as long as a person does nothing, whatever
//! else of it works.

use serde_json::Value;
use simulator::stock::Weather;

use super::{agree, link_is, linked, parts, server, spools};
use crate::api::alerts::decoded;
use crate::api::materials::mails;
use crate::support::{App, Db, until};

/// Reads how a system is shown.
async fn view_of(app: &App, system: &str) -> Value {
    let body = app.get("/api/integrations").await.expect(200);
    body["integrations"].as_array().unwrap().iter().find(|one| one["kind"] == system).unwrap().clone()
}

/// Waits until so many failures in a row are shown of a system.
async fn failures(app: &App, system: &str, least: u64) -> Value {
    until("its failures to be counted", || async {
        let view = view_of(app, system).await;
        let counts = view["failures"].as_u64()? >= least && view["error"].as_str()?.contains("status 403");
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

/// Waits until the operators have so many mails of this subject; the text of one.
async fn alert_mail(app: &App, subject: &str, count: usize) -> String {
    until("the operators to be told", || async {
        let mut mails = mails(app, subject);
        if mails.len() == count { mails.pop() } else { None }
    })
    .await
}

/// A system whose entry a material is linked to, and which lists its entries all the while, is forbidden the rest and
/// allowed it again.
async fn fails_until_a_person_acts(app: &mut App, system: &str, subject: &str, forbid: impl Fn(bool)) {
    is_well(app, system).await;
    assert!(mails(app, subject).is_empty());
    forbid(true);
    let first = failures(app, system, 1).await;
    let later = failures(app, system, first["failures"].as_u64().unwrap() + 3).await;
    assert_eq!(first["lastOkAt"], later["lastOkAt"], "that its entries can be listed does not make it well");
    let mail = decoded(&alert_mail(app, subject, 1).await);
    assert!(mail.contains("To: ops@example.org") && mail.contains("status 403"), "{mail}");
    app.kill_9();
    app.start().await;
    failures(app, system, 3).await;
    assert_eq!(mails(app, subject).len(), 1, "once, whatever is started again");
    forbid(false);
    let well = is_well(app, system).await;
    assert_ne!(well["lastOkAt"], later["lastOkAt"]);
    forbid(true);
    alert_mail(app, subject, 2).await;
}

#[tokio::test]
async fn a_parts_system_that_forbids_its_stock_fails_and_is_told_once() {
    let there = parts().await;
    let part = there.add_part("PLA", "g");
    there.add_item(part, 500_000);
    let mut app = server(Db::sqlite(), "PARTS", &there.url()).await;
    let material = app.material("PLA", 500.0).await;
    linked(&app, "parts", &material, part).await;
    agree(&app, "parts", &material, "ours").await;
    link_is(&app, "both to be in step", &material, |link| link["state"] == "in_step").await;
    let forbid = |forbids| there.weather(if forbids { Weather::Forbids("/api/stock/") } else { Weather::Fair });
    fails_until_a_person_acts(&mut app, "parts", "Integration needs attention: Parts management", forbid).await;
}

#[tokio::test]
async fn a_spool_system_that_forbids_its_spools_fails_and_is_told_once() {
    let there = spools().await;
    let filament = there.add_filament("Black", Some(1_000_000));
    there.add_spool(filament, None, 500_000);
    let mut app = server(Db::sqlite(), "SPOOLS", &there.url()).await;
    let material = app.material("Black", 500.0).await;
    linked(&app, "spools", &material, filament).await;
    agree(&app, "spools", &material, "ours").await;
    link_is(&app, "both to be in step", &material, |link| link["state"] == "in_step").await;
    let forbid = |forbids| there.weather(if forbids { Weather::Forbids("/api/v1/spool") } else { Weather::Fair });
    fails_until_a_person_acts(&mut app, "spools", "Integration needs attention: Spools", forbid).await;
}
