//! Forms that arrive incomplete: they are refused, and nothing of them remains on disk.

use simulator::pictures;

use super::{LIST, NEEDED, PATH, kept_bytes};
use crate::api::count;
use crate::support::wire::Wire;
use crate::support::{App, Db, until};

const MIB: usize = 1024 * 1024;

/// Builds the start of a form: all text fields and the header of a photo.
fn beginning() -> Vec<u8> {
    let mut form = Vec::new();
    for (name, text) in NEEDED {
        let part = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        form.extend_from_slice(part.as_bytes());
    }
    form.extend_from_slice(b"--b\r\nContent-Disposition: form-data; name=\"photos\"; filename=\"a.jpg\"\r\n\r\n");
    form
}

/// Starts a request whose body has this length, in bytes.
async fn begin(app: &App, length: usize) -> Wire {
    let mut wire = Wire::to(app).await;
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: {length}\r\n\r\n"
    );
    assert!(wire.say(head).await);
    wire
}

async fn nothing_is_left(app: &App) {
    until("what came to be gone", || async { (kept_bytes(app) == 0).then_some(()) }).await;
    assert_eq!(count(app, LIST).await, 0);
}

#[tokio::test]
async fn a_photo_that_is_too_large_is_refused_before_all_of_it_has_come() {
    let app = App::new(Db::sqlite()).await;
    let mut wire = begin(&app, 500 * MIB).await;
    assert!(wire.say(beginning()).await);
    // Fifteen that count, sixteen that are passed over, and a little.
    assert!(wire.say(pictures::jpeg(31 * MIB + 600 * 1024)).await);
    let (status, answer) = wire.answer().await.expect("an answer though most of the body never came");
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("\"too_large\""), "{answer}");
    nothing_is_left(&app).await;
}

#[tokio::test]
async fn a_form_without_its_end_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let whole = [beginning(), pictures::jpeg(MIB), b"\r\n--b--\r\n".to_vec()].concat();
    for missing in [4, 9, 100_000, MIB] {
        let cut = &whole[..whole.len() - missing];
        let mut wire = begin(&app, cut.len()).await;
        assert!(wire.say(cut).await);
        let (status, answer) = wire.answer().await.expect("an answer");
        assert_eq!(status, 400, "{missing} bytes are missing: {answer}");
        nothing_is_left(&app).await;
    }
    let mut wire = begin(&app, whole.len()).await;
    assert!(wire.say(&whole).await);
    assert_eq!(wire.answer().await.expect("an answer").0, 201);
}

#[tokio::test]
async fn a_form_that_stops_in_the_middle_leaves_nothing() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__BODY_IDLE_TIMEOUT_SECONDS", 5).start().await;
    let half = [beginning(), pictures::jpeg(MIB)].concat();
    // It falls silent.
    let mut silent = begin(&app, 10 * MIB).await;
    assert!(silent.say(&half).await);
    until("it to be on the disk", || async { (kept_bytes(&app) > 0).then_some(()) }).await;
    let (status, answer) = silent.answer().await.expect("an answer");
    assert_eq!(status, 400, "{answer}");
    assert!(answer.contains("\"timeout\""), "{answer}");
    nothing_is_left(&app).await;
    // It hangs up.
    let mut gone = begin(&app, 10 * MIB).await;
    assert!(gone.say(&half).await);
    until("it to be on the disk", || async { (kept_bytes(&app) > 0).then_some(()) }).await;
    drop(gone);
    nothing_is_left(&app).await;
}

#[tokio::test]
async fn a_server_that_is_killed_in_the_middle_leaves_nothing_once_it_is_back() {
    let mut app = App::new(Db::sqlite()).await;
    let mut wire = begin(&app, 10 * MIB).await;
    assert!(wire.say([beginning(), pictures::jpeg(MIB)].concat()).await);
    until("it to be on the disk", || async { (kept_bytes(&app) > 0).then_some(()) }).await;
    app.kill_9();
    app.start().await;
    nothing_is_left(&app).await;
}
