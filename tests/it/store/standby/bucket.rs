//! Two servers that share a bucket but no disk.

use std::mem;

use simulator::PrinterKind;

use super::{beside, stands_by};
use crate::machines::{FAST, Floor};
use crate::store::bucket::{BUCKET, FOLDER, settings};
use crate::support::moto::Moto;
use crate::support::{App, Db};

/// Setting that makes a server wait less for another one's mark, which has the time of one request and ten seconds.
const SHORT_REQUESTS: (&str, &str) = ("PRINTFLOOR_OBJECT_STORAGE__TIMEOUT_SECONDS", "3");

/// Starts a floor whose files are in the bucket, and a standby server for it; `None` without PostgreSQL.
async fn floor_of_two(moto: &Moto) -> Option<(Floor, App)> {
    let db = Db::postgres_with_shop().await?;
    let (url, settings) = (db.url().unwrap(), settings(&moto.url, &moto.place(FOLDER)));
    let env: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &env).await;
    let mut second = beside(&floor.app, &url, &settings);
    second.spawn();
    stands_by(&second, &floor.app).await;
    Some((floor, second))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_in_a_bucket_is_printed_by_the_server_that_took_over() {
    let Some(moto) = Moto::bucket(BUCKET).await else { return };
    let Some((mut floor, second)) = floor_of_two(&moto).await else { return };
    let large = floor.big_file("large", 9 * 1024 * 1024).await;
    let sku = floor.app.sku("LARGE", &floor.material, large["id"].as_str().unwrap(), 900).await;
    floor.app.kill_9();
    second.until_ready().await;
    let former = mem::replace(&mut floor.app, second);
    let order = floor.app.paid_order(&sku, 1).await;
    floor.app.order_is(&order, "ready").await;
    assert_eq!((floor.started(0), floor.finished(0)), (1, 1));
    floor.truth().await;
    drop(floor);
    drop(former);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_takes_over_while_the_bucket_is_away() {
    let Some(mut moto) = Moto::start(BUCKET).await else { return };
    let Some((mut floor, second)) = floor_of_two(&moto).await else { return };
    let (order, _) = floor.one().await;
    floor.app.order_is(&order, "ready").await;
    moto.end();
    floor.app.kill_9();
    second.until_ready().await;
    second.get(&format!("/api/orders/{order}")).await.expect(200);
    let log = second.log().join("\n");
    assert!(log.contains("starting although the bucket for files does not respond"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_another_place_in_the_bucket_does_not_stand_by() {
    let Some(moto) = Moto::bucket(BUCKET).await else { return };
    let Some(db) = Db::postgres_with_shop().await else { return };
    let url = db.url().unwrap();
    let builder = settings(&moto.url, &moto.place(FOLDER))
        .iter()
        .fold(App::on(db), |builder, (name, value)| builder.env(name, value));
    let first = builder.start().await;
    let place = moto.place("other");
    let mut other = settings(&moto.url, &place).to_vec();
    other.push((SHORT_REQUESTS.0, SHORT_REQUESTS.1.to_owned()));
    let mut second = beside(&first, &url, &other);
    second.spawn();
    assert!(!second.ended().await, "it is an error");
    let log = second.log().join("\n");
    assert!(log.contains(&format!("files.dir ({place})")) && log.contains("cannot be its standby"), "{log}");
    first.get("/readyz").await.expect(200);
}
