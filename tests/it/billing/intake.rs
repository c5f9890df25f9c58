//! Requests for custom parts: responses, refusals, and no leftovers of what was not accepted.

mod cut;

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use simulator::pictures::{self, SECRET};

use super::mails_to;
use crate::api::files::{bytes_in, forget_peak, memory};
use crate::api::{count, id, paths};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite, until};

pub const PATH: &str = "/api/v1/custom-builds/intakes";
const LIST: &str = "/api/custom-requests";

/// Required fields of a request.
pub const NEEDED: [(&str, &str); 8] = [
    ("customerName", "Ann Example"),
    ("email", " Ann@Example.org"),
    ("productType", "figurine"),
    ("subjectType", "pet"),
    ("styleId", "cartoon"),
    ("sizeId", "medium"),
    ("baseOptionId", "wood"),
    ("colorCount", "2"),
];

fn photo(bytes: Vec<u8>) -> Part {
    // Names and types are the sender's: they say nothing.
    Part::bytes(bytes).file_name("../holiday.txt").mime_str("text/html").unwrap()
}

fn needed() -> Form {
    NEEDED.into_iter().fold(Form::new(), |form, (name, text)| form.text(name, text))
}

/// Returns a valid form with one photo.
pub fn form() -> Form {
    form_with(1)
}

/// Returns a valid form with this many photos.
pub fn form_with(photos: usize) -> Form {
    (0..photos).fold(needed(), |form, n| form.part("photos", photo(pictures::jpeg(1000 + n))))
}

pub async fn send(client: &Client, form: Form) -> Answer {
    client.send(client.request("POST", PATH).multipart(form)).await
}

async fn send_keyed(client: &Client, key: &str, form: Form) -> Answer {
    client.send(client.request("POST", PATH).header("Idempotency-Key", key).multipart(form)).await
}

/// Sends a request; returns its id.
pub async fn submit_request(app: &App) -> String {
    send(&app.nobody(), form()).await.expect(201)["requestId"].as_str().unwrap().to_owned()
}

fn kept_bytes(app: &App) -> u64 {
    bytes_in(&app.data().join("files"))
}

on_sqlite! {
    async fn a_request_is_taken_and_shown_to_operators(db: Db) {
        let mut app = App::on(db).env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org").start().await;
        let pictures = [pictures::jpeg(5000), pictures::png(), pictures::webp(), pictures::heic()];
        let full = pictures.iter().fold(needed(), |form, bytes| form.part("photos", photo(bytes.clone())));
        let full = full.text("uvCoating", "true").text("addonIds", "gift-box").text("addonIds[]", "confetti");
        let full = full.text("inscription", "Rex").text("notes", "in two\nlines").text("phone", "");
        let request = app.nobody().request("POST", &format!("{PATH}?site=dev")).multipart(full);
        let answer = app.nobody().send(request).await.expect(201);
        // 4900 figurine, 900 pet, 1000 cartoon, 2000 medium, 1500 wood, 800 two colours, 900 coating, 700 box, 500
        // default.
        let (request_id, valid_until) = (answer["requestId"].clone(), answer["validUntil"].clone());
        assert_eq!(answer, json!({
            "success": true, "requestId": request_id, "validUntil": valid_until, "estimatedTotalCents": 13200,
            "estimatedTotalFormatted": "$132.00", "uploadCount": 4,
        }));
        let listed = app.get(&format!("{LIST}?status=new&site=dev&q=ann&customerEmail=ANN@example.org")).await.expect(200);
        assert_eq!(listed["customRequests"][0]["id"], request_id, "{listed}");
        let path = format!("{LIST}/{}", request_id.as_str().unwrap());
        let answer = app.get(&path).await;
        assert_eq!(answer.header("etag"), Some("\"1\""));
        let view = answer.expect(200);
        for (member, value) in [
            ("status", json!("new")), ("site", json!("dev")), ("customerEmail", json!("ann@example.org")),
            ("customerName", json!("Ann Example")), ("phone", json!(null)), ("addonIds", json!(["gift-box", "confetti"])),
            ("unknownIds", json!(["addonIds.1"])), ("uvCoating", json!(true)), ("notes", json!("in two\nlines")),
            ("photoCount", json!(4)), ("quoteId", json!(null)), ("estimatedTotalCents", json!(13200)),
        ] {
            assert_eq!(view[member], value, "{member}: {view}");
        }
        let days = |text: &Value| text.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
        assert_eq!(days(&view["validUntil"]) - days(&view["createdAt"]), 14 * 86_400_000);
        let customers = app.get("/api/customers?email=ann@example.org").await.expect(200);
        assert_eq!(customers["customers"][0]["id"], view["customerId"]);
        let mail = until("the operators to be told", || async { mails_to(&app, "ops@example.org").pop() }).await;
        assert!(mail.subject.contains("Custom request from Ann Example"), "{}", mail.subject);
        assert!(mail.text.contains("with 4 photos") && mail.text.contains("addonIds.1"), "{}", mail.text);
        let events = app.get("/api/events?event=custom_request.created").await.expect(200);
        assert_eq!(events["events"][0]["data"]["customRequestId"], request_id, "{events}");

        app.kill_9();
        app.start().await;
        assert_eq!(app.get(&path).await.expect(200), view);
        let formats = [("jpeg", "jpg"), ("png", "png"), ("webp", "webp"), ("heic", "heic")];
        for ((number, original), (format, extension)) in (1..).zip(&pictures).zip(formats) {
            let photo = app.open(app.request("GET", &format!("{path}/photos/{number}"))).await;
            let header = |name: &str| photo.headers()[name].to_str().unwrap().to_owned();
            assert_eq!(header("content-type"), format!("image/{format}"));
            assert_eq!(header("content-disposition"), format!("inline; filename=\"photo-{number}.{extension}\""));
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
            let bytes = photo.bytes().await.unwrap();
            assert!(original.windows(SECRET.len()).any(|part| part == SECRET));
            assert!(!bytes.windows(4).any(|part| part == &SECRET[..4]), "{format} still tells where it was taken");
            assert_eq!(view["photos"][number - 1]["size"], bytes.len());
        }
        for nothing in ["0", "5", "first", "-1"] {
            assert_eq!(app.get(&format!("{path}/photos/{nothing}")).await.error(404), "photo_not_found");
        }
    }

    async fn a_repeated_request_is_the_same_request(db: Db) {
        let app = App::new(db).await;
        let nobody = app.nobody();
        let first = send_keyed(&nobody, "one", form()).await;
        assert_eq!(first.header("idempotency-replayed"), None);
        let (first, bytes_before) = (first.expect(201), kept_bytes(&app));
        let again = send_keyed(&nobody, "one", form()).await;
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.expect(201), first);
        let other = needed().part("photos", photo(pictures::jpeg(1001)));
        assert_eq!(send_keyed(&nobody, "one", other).await.error(400), "idempotency_key_reused");
        assert_eq!(send_keyed(&nobody, "one", form().text("notes", "more")).await.error(400), "idempotency_key_reused");
        assert_eq!((count(&app, LIST).await, kept_bytes(&app)), (1, bytes_before));
        // What was not valid is not kept: the same key may try again.
        assert_eq!(paths(&send_keyed(&nobody, "two", needed()).await.expect(400)), ["photos"]);
        let second = send_keyed(&nobody, "two", form()).await.expect(201);
        assert_ne!(second["requestId"], first["requestId"]);
    }
}

#[tokio::test]
async fn all_faults_are_told_at_once() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    let nothing = send(&nobody, Form::new().text("notes", "hello")).await.expect(400);
    let mut missing: Vec<&str> = NEEDED.into_iter().map(|(name, _)| name).chain(["photos"]).collect();
    missing.sort_unstable();
    assert_eq!(paths(&nothing), missing);
    let wrong = Form::new()
        .text("customerName", "a\nb")
        .text("email", "nobody")
        .text("productType", "")
        .text("subjectType", "x".repeat(65))
        .text("styleId", "a")
        .text("styleId", "b")
        .part("sizeId", Part::bytes(vec![0xff, 0xfe]))
        .text("baseOptionId", "x".repeat(20_000))
        .text("colorCount", "5")
        .text("uvCoating", "yes")
        .text("inscription", "x".repeat(201))
        .text("notes", "x".repeat(1001))
        .text("color", "blue")
        .part("photos", photo(b"<svg/>".to_vec()))
        .part("photos", photo(pictures::png()[..40].to_vec()))
        .part("photos", photo(pictures::png()))
        .part("photos[]", photo(Vec::new()));
    let wrong = (0..11).fold(wrong, |form, n| form.text("addonIds", n.to_string()));
    let answer = send(&nobody, wrong).await.expect(400);
    let faulty = [
        "addonIds",
        "baseOptionId",
        "color",
        "colorCount",
        "customerName",
        "email",
        "inscription",
        "notes",
        "photos.0",
        "photos.1",
        "photos.3",
        "productType",
        "sizeId",
        "styleId",
        "subjectType",
        "uvCoating",
    ];
    assert_eq!(paths(&answer), faulty, "{answer}");
    let message = |path: &str| {
        let faults = answer["errors"].as_array().unwrap();
        faults.iter().find(|fault| fault["path"] == path).unwrap()["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message("photos.0"), "is not a JPEG, PNG, WebP or HEIC image");
    assert_eq!(message("photos.1"), "is incomplete; upload it again");
    assert_eq!(message("colorCount"), "must be from 1 to 4");
    let empty = (0..11).fold(form(), |form, _| form.text("addonIds", ""));
    assert_eq!(paths(&send(&nobody, empty).await.expect(400)), ["addonIds"], "fields that say nothing count");
    for number in ["0", "1.5", "two", ""] {
        let form = NEEDED[..7].iter().fold(Form::new(), |form, (name, text)| form.text(*name, *text));
        let form = form.text("colorCount", number).part("photos", photo(pictures::png()));
        assert_eq!(paths(&send(&nobody, form).await.expect(400)), ["colorCount"], "{number:?}");
    }
    assert_eq!(paths(&send(&nobody, form().text("x", "")).await.expect(400)), ["x"]);
    assert_eq!((count(&app, LIST).await, kept_bytes(&app)), (0, 0));
}

#[tokio::test]
async fn there_are_at_most_ten_photos() {
    let app = App::new(Db::sqlite()).await;
    let with = |photos: usize| (0..photos).fold(needed(), |form, _| form.part("photos[]", photo(pictures::png())));
    assert_eq!(paths(&send(&app.nobody(), with(11)).await.expect(400)), ["photos"]);
    assert_eq!(kept_bytes(&app), 0);
    assert_eq!(send(&app.nobody(), with(10)).await.expect(201)["uploadCount"], 10);
    // A page whose user chose nothing sends an empty part.
    let unchosen = form().part("photos", Part::bytes(Vec::new()).file_name(""));
    assert_eq!(send(&app.nobody(), unchosen).await.expect(201)["uploadCount"], 1);
    let parts = (0..100).fold(Form::new(), |form, n| form.text(format!("x{n}"), ""));
    assert_eq!(send(&app.nobody(), parts).await.error(400), "too_many_parts");
}

#[tokio::test]
async fn no_more_is_taken_than_the_bounds_and_it_is_never_held_in_memory() {
    const MIB: usize = 1024 * 1024;
    let app = App::new(Db::sqlite()).await;
    // With what stands around the scan it has just fifteen mebibytes.
    let frame = pictures::jpeg(100).len() - 100;
    let largest = pictures::jpeg(15 * MIB - frame);
    // Code that runs for the first time takes room, and is no part of what is measured.
    send(&app.nobody(), needed().part("photos", photo(largest.clone()))).await.expect(201);
    let bytes_before = kept_bytes(&app);
    forget_peak(&app);
    let before = memory(&app, "VmRSS:");
    let several = |photos: usize| (0..photos).fold(needed(), |form, _| form.part("photos", photo(largest.clone())));
    let too_large = needed().part("photos", photo(pictures::jpeg(15 * MIB - frame + 1)));
    assert_eq!(send(&app.nobody(), too_large).await.error(413), "too_large");
    assert_eq!(send(&app.nobody(), several(5)).await.error(413), "too_large");
    assert_eq!((count(&app, LIST).await, kept_bytes(&app)), (1, bytes_before));
    let texts = NEEDED.iter().map(|(_, text)| text.len()).sum::<usize>();
    assert!(texts > 0, "texts count among the sixty mebibytes");
    let almost = needed().part("photos", photo(pictures::jpeg(15 * MIB - frame - texts)));
    let almost = (0..3).fold(almost, |form, _| form.part("photos", photo(largest.clone())));
    assert_eq!(send(&app.nobody(), almost).await.expect(201)["uploadCount"], 4);
    let most = memory(&app, "VmHWM:");
    assert!(most < before + 24 * 1024, "{before} kB before, {most} kB at most");
}

#[tokio::test]
async fn requests_of_one_address_are_limited() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__INTAKES_PER_HOUR", 2).start().await;
    let nobody = app.nobody();
    let mut answers = Vec::new();
    // A new hour may begin in between, once.
    for _ in 0..5 {
        answers.push(send(&nobody, form()).await);
    }
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty() && refused.iter().all(|answer| answer.header("retry-after").is_some()));
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 429)));
    assert_eq!(count(&app, LIST).await, (5 - refused.len()) as u64);
    // The rest of the API goes on.
    nobody.get("/api/v1/store/catalog").await.expect(200);
}

#[tokio::test]
async fn strangers_pages_and_other_bodies_are_refused() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__CORS_ORIGINS", "https://blog.example").start().await;
    let nobody = app.nobody();
    let from =
        async |origin: &str| nobody.send(nobody.request("POST", PATH).header("origin", origin).multipart(form())).await;
    assert_eq!(from("https://evil.example").await.error(403), "blocked");
    from("https://blog.example").await.expect(201);
    assert_eq!(nobody.post(PATH, &json!({})).await.error(415), "unsupported_media_type");
    let elsewhere = nobody.request("POST", &format!("{PATH}?site=mars")).multipart(form());
    assert_eq!(paths(&nobody.send(elsewhere).await.expect(400)), ["site"]);
}

#[tokio::test]
async fn price_tables_are_settings() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_INTAKE__PRODUCT_TYPES", r#"[{ id = "default", cents = 100000 }]"#)
        .env("PRINTFLOOR_INTAKE__COLOR_CENTS", "[0, 1, 2, 3]")
        .env("PRINTFLOOR_ORDERS__CURRENCY", "eur")
        .start()
        .await;
    let answer = send(&app.nobody(), form()).await.expect(201);
    assert_eq!(answer["estimatedTotalFormatted"], "€1,054.01");
    let request = app.get(&format!("{LIST}/{}", answer["requestId"].as_str().unwrap())).await.expect(200);
    assert_eq!(request["unknownIds"], json!(["productType"]));
    // An estimate is frozen: the next one goes by other prices, this one does not.
    assert_eq!((id(&request), &request["currency"]), (answer["requestId"].as_str().unwrap().to_owned(), &json!("eur")));
}
