#![expect(clippy::unwrap_used, reason = "tests")]

use sea_orm::{DatabaseConnection, EntityTrait as _};

use super::*;
use crate::rows::samples::{accounting, at, endpoint, id, mail, on_each, printer, sales_channel, write};
use crate::rows::{Batch, IdempotentAnswer, Snapshot as _, chain_line};
use crate::secret_checks::keep;
use domain::access::{AccessRow, User};
use domain::audit::chain::ChainHead;
use domain::mail::SealedLink;
use domain::printer::CameraFields;
use entities::audit;

/// Tables of the documents that these tests write, each with its column.
const COLUMNS: [(&str, &str); 7] = [
    ("accounting", "doc"),
    ("endpoints", "doc"),
    ("idempotency", "answer"),
    ("mails", "doc"),
    ("printers", "doc"),
    ("sales_channels", "doc"),
    ("users", "doc"),
];

/// Number of secrets that [`fill`] writes.
const SECRETS: u64 = 13;

/// Returns a cipher with a different key for each letter.
fn cipher(letter: char) -> SecretCipher {
    SecretCipher::new(&format!("{letter}{}=", "A".repeat(42))).unwrap()
}

fn check(value: &str) -> SecretCheck {
    SecretCheck { name: "SECRETS_KEY", value: value.to_owned(), former: None }
}

/// Rotates the secrets as a server that has just started.
async fn rotate_once(
    db: &DatabaseConnection,
    former: &SecretCipher,
    new: &SecretCipher,
) -> Result<Option<KeyRotation>, OpenError> {
    let mut writing = WriteConnection::take(db.clone()).await.unwrap();
    let rotation = rotate(&mut writing, &check("new"), (former, new), at(5)).await;
    // Whoever goes on with the connection knows the head that the database has.
    let next = WriteConnection::take(db.clone()).await.unwrap();
    assert_eq!(writing.audit, next.audit);
    rotation
}

/// Writes something of each kind that has secrets, encrypted with a key.
async fn fill(db: &DatabaseConnection, key: &SecretCipher) {
    let seal = |plain: &str| key.encrypt_or_empty(plain);
    let mut batch = Batch::default();
    let mut printer = printer(1);
    printer.fields.encrypted_api_key = seal("printer key");
    let snapshot_url = "http://printer/webcam".to_owned();
    printer.fields.camera = Some(CameraFields { snapshot_url, encrypted_credentials: seal("camera:password") });
    batch.push_snapshot(printer.snapshot(id(1), 1, false).unwrap());
    let mut channel = sales_channel(4);
    (channel.encrypted_secret, channel.encrypted_token) = (seal("secret of a shop"), seal("token of a shop"));
    batch.push_snapshot(channel.snapshot(id(4), 1, false).unwrap());
    let mut endpoint = endpoint(2);
    endpoint.encrypted_secret = seal("signing secret");
    endpoint.former = Some((seal("former secret"), at(9)));
    batch.push_snapshot(endpoint.snapshot(id(2), 1, false).unwrap());
    let mut accounting = accounting();
    accounting.requests[0].sealed_verifier = seal("verifier");
    accounting.to_revoke = Some(seal("ended token"));
    let tokens = &mut accounting.link.as_mut().unwrap().tokens;
    (tokens.access, tokens.refresh) = (seal("access token"), seal("refresh token"));
    batch.push_snapshot(accounting.snapshot(accounting.id, 1, false).unwrap());
    // Two pages of mails, of which only the last has a link.
    for n in 0..=u128::from(PAGE_ROWS) {
        let mut mail = mail(1_000 + n);
        mail.text = r#"a text that says "v1:" as well"#.to_owned();
        let encrypted_url = seal("https://shop.example/sign-in");
        let link = SealedLink { label: "Sign in".to_owned(), encrypted_url };
        mail.sealed_link = (n == u128::from(PAGE_ROWS)).then_some(link);
        batch.push_snapshot(mail.snapshot(mail.id, 1, false).unwrap());
    }
    let user: User = serde_json::from_value(serde_json::json!({
        "id": id(3), "email": "a@example.org", "name": "A", "passwordHash": "", "role": "admin", "archived": false,
        "createdAt": at(0), "updatedAt": at(0), "secondFactor": {
            "encryptedSecret": seal("authenticator"), "confirmedAt": at(1), "lastStep": 5, "recoveryHashes": ["ab"],
        },
    }))
    .unwrap();
    batch.push_row(&AccessRow::User(user)).unwrap();
    batch.push_idempotency(IdempotentAnswer {
        key: "k".to_owned(),
        body_hash: "ab".to_owned(),
        kind: "accounting".to_owned(),
        aggregate_id: id(1),
        version: 1,
        answer: format!(r#"{{"Ok":"{}"}}"#, seal("kept answer")),
        created_at: at(0),
        expires_at: at(9),
    });
    write(db, batch).await.unwrap();
}

/// Returns all documents.
async fn documents(db: &DatabaseConnection) -> Vec<String> {
    let mut all = Vec::new();
    for (table, column) in COLUMNS {
        let sql = format!("SELECT {column} AS value FROM {table} ORDER BY 1");
        let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
        all.extend(rows.iter().map(|row| row.try_get::<String>("", "value").unwrap()));
    }
    all
}

/// Returns the secrets in all documents that a key decrypts.
async fn secrets(db: &DatabaseConnection, key: &SecretCipher) -> Vec<String> {
    let documents = documents(db).await;
    let texts = documents.iter().flat_map(|document| document.split('"'));
    let mut all: Vec<String> = texts.filter_map(|text| key.decrypt(text).ok()).collect();
    all.sort();
    all
}

#[tokio::test]
async fn all_secrets_are_encrypted_anew_once() {
    on_each(async |db| {
        let (former, new) = (cipher('f'), cipher('n'));
        fill(db, &former).await;
        keep(db, &[check("former")]).await.unwrap();
        let before = secrets(db, &former).await;
        assert_eq!(before.len() as u64, SECRETS, "{before:?}");
        let rotation = rotate_once(db, &former, &new).await.unwrap();
        assert_eq!(rotation, Some(KeyRotation { renewed: SECRETS, unreadable: 0 }));
        assert_eq!(secrets(db, &new).await, before);
        assert_eq!(secrets(db, &former).await, Vec::<String>::new());
        // The check value is that of the new key, so the next start finds nothing to do.
        let after = documents(db).await;
        assert_eq!(rotate_once(db, &former, &new).await.unwrap(), None);
        assert_eq!(documents(db).await, after);
        // The audit log says so once, in a line that fits.
        let lines = audit::Entity::find().all(db).await.unwrap();
        assert_eq!(lines.iter().map(|line| line.action.as_str()).collect::<Vec<_>>(), ["secrets.rotate"]);
        let head = ChainHead::default().append(&chain_line(&lines[0]));
        assert_eq!((lines[0].number, &lines[0].chain), (head.number, &head.hash));
        assert_eq!(WriteConnection::take(db.clone()).await.unwrap().audit, head);
    })
    .await;
}

#[tokio::test]
async fn a_rotation_that_fails_at_its_end_changes_nothing() {
    on_each(async |db| {
        let (former, new) = (cipher('f'), cipher('n'));
        fill(db, &former).await;
        let before = documents(db).await;
        // Reading the check values works, writing them does not.
        db.execute_unprepared("DROP TABLE secret_checks").await.unwrap();
        db.execute_unprepared("CREATE VIEW secret_checks AS SELECT 'a' AS name, 'b' AS value").await.unwrap();
        rotate_once(db, &former, &new).await.unwrap_err();
        assert_eq!(documents(db).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_was_followed_rotates_nothing() {
    on_each(async |db| {
        let (former, new) = (cipher('f'), cipher('n'));
        fill(db, &former).await;
        keep(db, &[check("former")]).await.unwrap();
        let before = documents(db).await;
        let mut followed = WriteConnection::take(db.clone()).await.unwrap();
        WriteConnection::take(db.clone()).await.unwrap();
        let refused = rotate(&mut followed, &check("new"), (&former, &new), at(5)).await;
        assert!(matches!(refused, Err(OpenError::TakenOver)), "{refused:?}");
        assert_eq!(documents(db).await, before);
        assert!(is_current(db, &check("former")).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn secrets_of_a_third_key_are_left_and_counted() {
    on_each(async |db| {
        fill(db, &cipher('t')).await;
        // What a view shows is not counted again.
        db.execute_unprepared("CREATE VIEW shown AS SELECT id, schema, doc FROM printers").await.unwrap();
        let before = documents(db).await;
        let rotation = rotate_once(db, &cipher('f'), &cipher('n')).await.unwrap();
        assert_eq!(rotation, Some(KeyRotation { renewed: 0, unreadable: SECRETS }));
        assert_eq!(documents(db).await, before);
    })
    .await;
}
