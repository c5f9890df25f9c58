//! Stock synchronised with a parts management system and with a spool system, whatever goes wrong.

mod forbidden;
mod untold;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use simulator::stock::NetworkCondition;
use simulator::stock::parts::PartsSystem;
use simulator::stock::spools::SpoolSystem;

use super::id;
use crate::support::{App, Db, on_sqlite, until};

const TOKEN: &str = "inv-0123456789";
/// Number of edits on both sides in the long run.
const EDITS: u32 = 1000;
/// Number of edits after which both sides are given time to agree, because a large backlog takes long on a busy
/// machine.
const EDITS_TOGETHER: u32 = 100;

fn free() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

async fn parts() -> PartsSystem {
    PartsSystem::start(free(), TOKEN).await.unwrap()
}

async fn spools() -> SpoolSystem {
    SpoolSystem::start(free()).await.unwrap()
}

/// Starts a server that polls the other system at this address at short intervals.
async fn server(db: Db, section: &str, url: &str) -> App {
    App::on(db)
        .env(&format!("PRINTFLOOR_{section}__URL"), url)
        .env(&format!("PRINTFLOOR_{section}__TOKEN"), if section == "PARTS" { TOKEN } else { "" })
        .env("PRINTFLOOR_STOCK_SYNC__INTERVAL_SECONDS", 0.1)
        .env("PRINTFLOOR_STOCK_SYNC__SETTLE_SECONDS", 0.3)
        .env("PRINTFLOOR_INTEGRATIONS__REQUEST_TIMEOUT_SECONDS", 1)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_FIRST_SECONDS", 0.1)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_LONGEST_SECONDS", 0.3)
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 0)
        .start()
        .await
}

/// Converts thousandths of a gram to grams, as JSON.
fn grams(thousandths: i64) -> Value {
    if thousandths % 1000 == 0 { json!(thousandths / 1000) } else { json!(thousandths as f64 / 1000.0) }
}

/// Converts grams in JSON to thousandths of a gram.
fn thousandths(grams: &Value) -> i64 {
    (grams.as_f64().unwrap() * 1000.0).round() as i64
}

async fn links(app: &App) -> Value {
    app.get("/api/inventory/stock-links").await.expect(200)
}

fn status<'a>(body: &'a Value, system: &str) -> &'a Value {
    body["systems"].as_array().unwrap().iter().find(|one| one["system"] == system).unwrap()
}

/// Waits until the material's stock link meets a condition; returns the link.
async fn link_is(app: &App, what: &str, material: &str, condition: impl Fn(&Value) -> bool) -> Value {
    crate::support::waiting::until_seen(what, || async {
        let body = links(app).await;
        let link = body["links"].as_array().unwrap().iter().find(|link| link["materialId"] == material).cloned();
        match link.filter(|link| condition(link)) {
            Some(link) => Ok(link),
            None => Err(body),
        }
    })
    .await
}

/// Waits until both sides have this amount, in thousandths of a gram.
async fn both_agree(app: &App, material: &str, truth: i64) {
    let agree =
        |link: &Value| link["state"] == "in_step" && link["ours"] == link["theirs"] && link["ours"] == grams(truth);
    link_is(app, "both sides to agree", material, agree).await;
}

async fn quantity(app: &App, material: &str) -> i64 {
    thousandths(&app.get(&format!("/api/inventory/materials/{material}")).await.expect(200)["quantity"])
}

/// Links a material to an entry and waits for the preview.
async fn linked(app: &App, system: &str, material: &str, entry: i64) -> Value {
    until("the entry to be read", || async {
        let list = app.get(&format!("/api/inventory/stock-entries?system={system}")).await.expect(200);
        list["entries"].as_array().unwrap().iter().any(|one| one["entryId"] == entry).then_some(())
    })
    .await;
    let body = json!({"system": system, "entryId": entry});
    let link = app.post(&format!("/api/inventory/materials/{material}/links"), &body).await.expect(201);
    assert_eq!((&link["state"], &link["entryId"]), (&json!("preview"), &json!(entry)), "{link}");
    link_is(app, "the preview", material, |link| link["theirs"].is_number()).await
}

async fn agree(app: &App, system: &str, material: &str, right: &str) -> Value {
    let path = format!("/api/inventory/materials/{material}/links/{system}/agree");
    app.post(&path, &json!({"right": right})).await.expect(200)
}

async fn adjust(app: &App, material: &str, delta: i64) -> bool {
    let body = json!({"delta": grams(delta), "reason": "test"});
    let answer = app.post(&format!("/api/inventory/materials/{material}/adjustments"), &body).await;
    answer.status == 200
}

/// Random number generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    fn change(&mut self) -> i64 {
        self.below(40_001) as i64 - 20_000
    }
    /// Returns one of four amounts, in thousandths of a gram, none of which is 0.
    fn few(&mut self) -> i64 {
        [-20_000, -10_000, 10_000, 20_000][self.below(4) as usize]
    }
    fn weather(&mut self) -> NetworkCondition {
        match self.below(6) {
            0 => NetworkCondition::Down,
            1 => NetworkCondition::LosesRequests,
            2 | 3 => NetworkCondition::LosesAnswers,
            4 => NetworkCondition::Slow(Duration::from_millis(30)),
            _ => NetworkCondition::Fair,
        }
    }
}

on_sqlite! {
    async fn a_thousand_edits_on_both_sides_of_a_parts_system_come_out_equal(db: Db) {
        let there = parts().await;
        let part = there.add_part("PLA black 1 kg", "g");
        let items = [there.add_item(part, 30_000_000), there.add_item(part, 20_000_000)];
        let mut app = server(db, "PARTS", &there.url()).await;
        let material = app.material("PLA black", 48_000.0).await;
        let preview = linked(&app, "parts", &material, part).await;
        assert_eq!((&preview["ours"], &preview["theirs"], &preview["difference"]), (&json!(48_000), &json!(50_000), &json!(2_000)));
        assert_eq!(quantity(&app, &material).await, 48_000_000, "a preview moves nothing");
        assert_eq!(agree(&app, "parts", &material, "theirs").await["state"], "in_step");
        assert_eq!(quantity(&app, &material).await, 50_000_000);
        let (mut truth, mut dice) = (50_000_000, Dice(7));
        for n in 0..EDITS {
            let delta = dice.change();
            match dice.below(10) {
                0..5 => if delta != 0 && adjust(&app, &material, delta).await { truth += delta },
                5..9 => if there.edit(items[dice.below(2) as usize], delta) { truth += delta },
                _ => there.weather(dice.weather()),
            }
            if n % 200 == 150 {
                app.kill_9();
                app.start().await;
            }
            if n % EDITS_TOGETHER == EDITS_TOGETHER - 1 {
                there.weather(NetworkCondition::Fair);
                both_agree(&app, &material, truth).await;
            }
        }
        assert_eq!((quantity(&app, &material).await, there.total(part)), (truth, truth));
        app.ledger_is_even(&material).await;
        let ours: Vec<String> = there.tracked().into_iter().map(|entry| entry.notes).filter(|notes| notes.starts_with("printfloor:")).collect();
        assert_eq!(ours.iter().collect::<BTreeSet<_>>().len(), ours.len(), "a booking was booked twice");
        assert!(ours.len() > 5, "{}", ours.len());
        let ledger = app.get(&format!("/api/inventory/materials/{material}/movements?limit=200")).await.expect(200);
        assert!(ledger["movements"].as_array().unwrap().iter().any(|one| one["kind"] == "sync"));
    }

    async fn a_thousand_edits_on_both_sides_of_a_spool_system_come_out_equal(db: Db) {
        let there = spools().await;
        let filament = there.add_filament("Black", Some(50_000_000));
        let numbers = [there.add_spool(filament, None, 20_000_000), there.add_spool(filament, Some(60_000_000), 20_000_000)];
        let mut app = server(db, "SPOOLS", &there.url()).await;
        let material = app.material("Acme Black", 70_000.0).await;
        linked(&app, "spools", &material, filament).await;
        agree(&app, "spools", &material, "ours").await;
        let (mut truth, mut dice) = (70_000_000, Dice(11));
        for n in 0..EDITS {
            // Few amounts on both sides, so that a person's edit often is what our booking was, or its opposite.
            match dice.below(10) {
                0..5 => {
                    let delta = dice.few();
                    if adjust(&app, &material, delta).await { truth += delta }
                }
                5..8 => {
                    let delta = dice.few();
                    there.use_up(numbers[dice.below(2) as usize], -delta);
                    truth += delta;
                }
                8 => {
                    let delta = dice.few();
                    there.correct(numbers[dice.below(2) as usize], -delta);
                    truth += delta;
                }
                _ => there.weather(dice.weather()),
            }
            if n % 200 == 150 {
                app.kill_9();
                app.start().await;
            }
            // A person who is asked counts, and says so.
            if n % 50 == 0 {
                person_decides(&app, &there, &material, truth).await;
            }
            if n % EDITS_TOGETHER == EDITS_TOGETHER - 1 {
                person_decides(&app, &there, &material, truth).await;
                both_agree(&app, &material, truth).await;
            }
        }
        assert_eq!((quantity(&app, &material).await, there.total(filament)), (truth, truth));
        app.ledger_is_even(&material).await;
    }

    async fn what_is_deleted_there_and_a_system_that_is_down_are_shown(db: Db) {
        let there = parts().await;
        let part = there.add_part("PETG", "g");
        let items = [there.add_item(part, 600_000), there.add_item(part, 400_000)];
        let app = server(db, "PARTS", &there.url()).await;
        let material = app.material("PETG", 1_000.0).await;
        linked(&app, "parts", &material, part).await;
        agree(&app, "parts", &material, "ours").await;
        there.delete_item(items[1]);
        let conflict = link_is(&app, "the conflict", &material, |link| link["state"] == "conflict").await;
        assert_eq!((&conflict["conflict"]["kind"], &conflict["difference"]), (&json!("items_gone"), &json!(-400)), "{conflict}");
        assert_eq!(quantity(&app, &material).await, 1_000_000, "nothing is resolved silently");
        assert_eq!(status(&links(&app).await, "parts")["conflicts"], 1);
        // Whoever decides by what is no longer so is told.
        let path = format!("/api/inventory/materials/{material}/links/parts/agree");
        let stale = app.post(&path, &json!({"right": "theirs", "theirs": 1_000})).await.error(409);
        assert_eq!(stale, "theirs_changed");
        assert_eq!(quantity(&app, &material).await, 1_000_000, "nothing moved");
        agree(&app, "parts", &material, "theirs").await;
        assert_eq!(quantity(&app, &material).await, 600_000);
        there.weather(NetworkCondition::Down);
        until("the outage to be shown", || async {
            let body = links(&app).await;
            let error = &status(&body, "parts")["error"];
            error.is_string().then_some(())
        })
        .await;
        // What happens meanwhile is not lost.
        assert!(adjust(&app, &material, -50_000).await);
        there.edit(items[0], -30_000);
        there.weather(NetworkCondition::Fair);
        link_is(&app, "both sides to agree", &material, |link| link["ours"] == 520 && link["theirs"] == 520).await;
        assert_eq!(there.total(part), 520_000);
        let refused = app.delete(&format!("/api/inventory/materials/{material}")).await.error(409);
        assert_eq!(refused, "material_in_use");
    }
}

/// Waits until the spool system has been polled once more.
async fn wait_for_poll(app: &App) {
    let last = async || status(&links(app).await, "spools")["synchronisedAt"].clone();
    let before = last().await;
    until("another look", || async { (last().await != before).then_some(()) }).await;
}

/// Resolves a conflict by a stock-take: the counted stock becomes the true one, and the difference is booked in the
/// other system.
async fn person_decides(app: &App, there: &SpoolSystem, material: &str, truth: i64) {
    there.weather(NetworkCondition::Fair);
    // By what was read after the last edit.
    wait_for_poll(app).await;
    wait_for_poll(app).await;
    loop {
        let link = link_is(app, "nothing on its way", material, |link| {
            link["state"] == "in_step" && link["ours"] == grams(truth)
                || link["state"] == "conflict" && link["theirs"].is_number()
        })
        .await;
        if link["state"] == "in_step" {
            return;
        }
        let counted = json!({"quantity": grams(truth)});
        app.patch(&format!("/api/inventory/materials/{material}"), &counted).await.expect(200);
        let path = format!("/api/inventory/materials/{material}/links/spools/agree");
        let answer = app.post(&path, &json!({"right": "ours"})).await;
        assert!([200, 409].contains(&answer.status), "{answer:?}");
    }
}

#[tokio::test]
async fn stock_that_falls_there_is_low_here() {
    let there = parts().await;
    let part = there.add_part("ABS", "grams");
    let item = there.add_item(part, 1_000_000);
    let app = server(Db::sqlite(), "PARTS", &there.url()).await;
    let body = json!({"name": "ABS", "type": "filament", "quantity": 1000, "reorderPoint": 300});
    let material = id(&app.post("/api/inventory/materials", &body).await.expect(201));
    linked(&app, "parts", &material, part).await;
    agree(&app, "parts", &material, "theirs").await;
    there.edit(item, -800_000);
    until("the alert", || async {
        let list = app.get(&format!("/api/events?event=inventory.low&subject={material}")).await.expect(200);
        (list["events"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_entry_is_linked_once_and_units_are_not_converted() {
    let there = parts().await;
    let (part, kilos) = (there.add_part("PLA", "g"), there.add_part("PLA in bulk", "kg"));
    there.add_item(part, 1_000_000);
    there.add_item(kilos, 5_000);
    let app = server(Db::sqlite(), "PARTS", &there.url()).await;
    let [one, other] = [app.material("PLA one", 1_000.0).await, app.material("PLA other", 1_000.0).await];
    linked(&app, "parts", &one, part).await;
    let path = |material: &str| format!("/api/inventory/materials/{material}/links");
    let conflict = app.post(&path(&other), &json!({"system": "parts", "entryId": part})).await.error(409);
    assert_eq!(conflict, "entry_linked");
    let second = app.post(&path(&one), &json!({"system": "parts", "entryId": kilos})).await.error(409);
    assert_eq!(second, "already_linked");
    app.post(&path(&other), &json!({"system": "parts", "entryId": kilos})).await.expect(201);
    let link = link_is(&app, "the conflict", &other, |link| link["state"] == "conflict").await;
    assert_eq!(link["conflict"]["kind"], "wrong_unit", "{link}");
    let agree = format!("{}/parts/agree", path(&other));
    assert_eq!(app.post(&agree, &json!({"right": "theirs"})).await.error(409), "nothing_to_decide");
    let unknown = app.post(&path(&other), &json!({"system": "parts", "entryId": 999})).await.expect(400);
    assert_eq!(super::paths(&unknown), ["entryId"]);
    let off = app.post(&path(&other), &json!({"system": "spools", "entryId": 1})).await.expect(400);
    assert_eq!(super::paths(&off), ["system"]);
    app.delete(&format!("{}/parts", path(&other))).await.expect(204);
    assert_eq!(app.delete(&format!("{}/parts", path(&other))).await.error(404), "link_not_found");
    let list = app.get("/api/inventory/stock-entries?linked=false&q=bulk").await.expect(200);
    assert_eq!(
        (&list["pagination"]["total"], &list["entries"][0]["suggestedMaterialId"]),
        (&json!(1), &Value::Null),
        "{list}"
    );
}

on_sqlite! {
    async fn one_entry_that_makes_no_sense_keeps_no_other_waiting(db: Db) {
        let there = parts().await;
        let entries: Vec<(i64, i64)> = (0..3)
            .map(|n| there.add_part(&format!("PLA {n}"), "g"))
            .map(|part| (part, there.add_item(part, 900_000)))
            .collect();
        let app = server(db, "PARTS", &there.url()).await;
        let mut materials = Vec::new();
        for (n, (part, _)) in entries.iter().enumerate() {
            let material = app.material(&format!("PLA {n}"), 900.0).await;
            linked(&app, "parts", &material, *part).await;
            agree(&app, "parts", &material, "theirs").await;
            materials.push(material);
        }
        for spoilt in 0..2 {
            there.spoil(entries[spoilt].0);
            there.edit(entries[2].1, -100_000);
            let left = json!(800 - 100 * spoilt);
            link_is(&app, "the third to be in step", &materials[2], |link| link["ours"] == left).await;
            until("the fault to be told by name", || async {
                let body = links(&app).await;
                let error = status(&body, "parts")["error"].as_str().unwrap_or_default().to_owned();
                (error.contains("PLA 0: ") && error.contains("; and 1 more") == (spoilt == 1)).then_some(())
            })
            .await;
            until("a person to be told", || async {
                let integrations = app.get("/api/integrations").await.expect(200).to_string();
                let ready = app.get("/readyz").await.expect(200);
                (integrations.contains("PLA 0: ") && ready["degraded"].to_string().contains("PLA 0: ")).then_some(())
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_refused_token_is_shown() {
    let there = PartsSystem::start(free(), "another").await.unwrap();
    let app = server(Db::sqlite(), "PARTS", &there.url()).await;
    until("the refused token to be shown", || async {
        let body = links(&app).await;
        let error = status(&body, "parts")["error"].as_str().unwrap_or_default().to_owned();
        error.contains("token").then_some(())
    })
    .await;
    assert_eq!(status(&links(&app).await, "spools")["on"], false);
}
