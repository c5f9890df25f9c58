//! Orders from a file: previewed without importing any, with the errors of each row, and imported once.

use serde_json::{Value, json};

use super::super::{count, fault_paths, new_key, some_sku};
use super::{CHANNELS, RECORDS, channel, map};
use crate::support::client::Answer;
use crate::support::wire::Wire;
use crate::support::{App, Db, on_sqlite, until};

const FILE: &str = "order,variant,quantity,unit_price,tax_rate,email,line1,city,country\r\n\
    A1,VASE,2,12.50,8,ann@example.org,\"Main St, 1\",Ulm,DE\r\n\
    A1,CUP,1,3.00,8,,,,\r\n\
    A2,VASE,none,x,,nobody,,,\r\n\
    A3,VASE,1,12.50,,,,,\r\n";

async fn import(app: &App, channel: &str, query: &str, file: &str) -> Answer {
    let request = app.request("POST", &format!("{CHANNELS}/{channel}/import{query}"));
    app.send(request.header("Content-Type", "text/csv").body(file.to_owned())).await
}

on_sqlite! {
    async fn a_file_is_looked_at_and_then_taken_once(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let channel = channel(&app, "csv", None).await;
        map(&app, &channel, "VASE", &sku, 1).await;
        let looked = import(&app, &channel, "?dryRun=true", FILE).await.expect(200);
        assert_eq!(looked["unmapped"], json!(["CUP"]));
        let counts = |report: &Value| ["orders", "taken", "known", "faulty"].map(|name| report[name].as_u64().unwrap());
        assert_eq!(counts(&looked), [3, 2, 0, 1]);
        let faults: Vec<(u64, &str)> = looked["faults"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| (fault["row"].as_u64().unwrap(), fault["column"].as_str().unwrap()))
            .collect();
        assert_eq!(faults, [(4, "quantity"), (4, "unit_price"), (4, "email")]);
        assert_eq!(count(&app, "/api/channel-orders").await, 0, "nothing was taken");

        let report = import(&app, &channel, "", FILE).await.expect(200);
        assert_eq!(counts(&report), [3, 2, 0, 1]);
        let order = until("A3 to be made", || async {
            let all = app.get(&format!("/api/channel-orders?channelId={channel}&status=made")).await.expect(200);
            all["channelOrders"].as_array()?.first().cloned()
        })
        .await;
        assert_eq!(order["externalId"], "A3");
        map(&app, &channel, "CUP", &sku, 1).await;
        until("A1 to be made", || async { (count(&app, "/api/orders").await == 2).then_some(()) }).await;
        let again = import(&app, &channel, "", FILE).await.expect(200);
        assert_eq!(counts(&again), [3, 0, 2, 1]);
        assert_eq!(count(&app, "/api/orders").await, 2);
        let orders = app.get("/api/orders").await.expect(200);
        let totals: Vec<u64> =
            orders["orders"].as_array().unwrap().iter().map(|order| order["totalCents"].as_u64().unwrap()).collect();
        assert!(totals.contains(&3024) && totals.contains(&1250), "{totals:?}");
    }
}

#[tokio::test]
async fn what_is_no_file_of_orders_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let channel = channel(&app, "csv", None).await;
    let refused = import(&app, &channel, "", "order,variant,quantity\n").await.expect(400);
    assert_eq!(fault_paths(&refused), ["unit_price"]);
    assert_eq!(fault_paths(&import(&app, &channel, "", "").await.expect(400)), ["file"]);
    let json = app.post(&format!("{CHANNELS}/{channel}/import"), &json!({})).await;
    assert_eq!(json.error(415), "unsupported_media_type");
    let part = reqwest::multipart::Part::bytes(FILE.as_bytes().to_vec()).file_name("orders.csv");
    let form = reqwest::multipart::Form::new().part("file", part);
    let path = format!("{CHANNELS}/{channel}/import?dryRun=true");
    let looked = app.send(app.request("POST", &path).multipart(form)).await.expect(200);
    assert_eq!((&looked["orders"], &looked["complete"]), (&json!(3), &json!(true)));
}

#[tokio::test]
async fn a_large_file_is_taken_as_it_comes() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let channel = channel(&app, "csv", None).await;
    map(&app, &channel, "VASE", &sku, 1).await;
    let rows = (0..300).map(|n| format!("B{n},VASE,1,1.00\n"));
    let file: String = ["order,variant,quantity,unit_price\n".to_owned()].into_iter().chain(rows).collect();
    let report = import(&app, &channel, "", &file).await.expect(200);
    assert_eq!((&report["taken"], &report["faulty"]), (&json!(300), &json!(0)));
    let orders = ["/api/orders".to_owned(), format!("/api/channel-orders?channelId={channel}&status=made")];
    for path in orders {
        until("all to be made", || async { (count(&app, &path).await == 300).then_some(()) }).await;
    }
    assert_eq!(count(&app, "/api/orders").await, 300, "each is made once");
}

/// Checks that the permission to import is checked for each order, not once at the start of the file.
#[tokio::test]
async fn a_file_whose_key_is_revoked_meanwhile_makes_no_further_order() {
    let app = App::new(Db::sqlite()).await;
    let channel = channel(&app, "csv", None).await;
    let (id, client) = new_key(&app, &json!({"name": "gone", "role": "operator"})).await;
    let key = client.key.as_deref().unwrap();
    // An order is complete when the first row of the next one has come.
    let first = "order,variant,quantity,unit_price\nC1,VASE,1,1.00\nC2,VASE,1,1.00\n";
    let rest = "C3,VASE,1,1.00\nC4,VASE,1,1.00\n";
    let length = first.len() + rest.len();
    let mut wire = Wire::to(&app).await;
    wire.say(format!("POST {CHANNELS}/{channel}/import HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n")).await;
    wire.say(format!("content-type: text/csv\r\ncontent-length: {length}\r\n\r\n{first}")).await;
    until("the first order to be taken", || async { (count(&app, RECORDS).await == 1).then_some(()) }).await;
    app.delete(&format!("/api/auth/api-keys/{id}")).await.expect(204);
    wire.say(rest).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 401, "{text}");
    assert_eq!(count(&app, RECORDS).await, 1, "those of the rest were not taken");
}
