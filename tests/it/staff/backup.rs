//! The page for backups: a button that works without JavaScript, and instructions if backups are not possible.

use super::is_sound;
use super::settings::boss;
use crate::api::backup::{large_file, request_backup};
use crate::billing::pages::{posted, send, token};
use crate::support::{App, Client, Db, on_both};

const PAGE: &str = "/shop/settings/backup";

/// Submits the button's form without reading the response body.
async fn pressed(client: &Client, token: &str) -> reqwest::Response {
    let request = client.request("POST", PAGE).header("content-type", "application/x-www-form-urlencoded");
    client.open(request.header("sec-fetch-site", "same-origin").body(format!("form_token={token}"))).await
}

on_both! {
    async fn the_button_downloads_a_backup(db: Db) {
        let app = App::new(db).await;
        let boss = boss(&app).await;
        let page = boss.get(PAGE).await;
        is_sound(&page);
        for words in ["Download backup</button>", "secrets.env", "SECRETS_KEY", "manifest.json", "systemctl stop printfloor"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        assert_eq!(page.text.contains("DATABASE_URL"), app.db.url().is_some(), "{}", page.text);
        assert!(boss.get("/shop/settings").await.text.contains("href=\"/shop/settings/backup\""));
        assert!(boss.get("/shop/settings/system").await.text.contains("href=\"/shop/settings/backup\""));

        let answer = pressed(&boss, &token(&page)).await;
        assert_eq!((answer.status().as_u16(), &answer.headers()["content-type"]), (200, &"application/x-tar".parse().unwrap()));
        assert!(answer.headers()["content-disposition"].to_str().unwrap().starts_with("attachment; "));
        let archive = answer.bytes().await.unwrap();
        assert_eq!((archive.len() % 512, &archive[257..262]), (0, b"ustar".as_slice()));
        let foreign = posted(&boss, PAGE, &[("form_token", "0000")]).await;
        assert_eq!(foreign.status, 403, "{}", foreign.text);
    }
}

#[tokio::test]
async fn the_page_says_what_to_do_while_another_backup_is_under_way() {
    let app = App::new(Db::sqlite()).await;
    let boss = boss(&app).await;
    large_file(&app).await;
    let form = boss.get(PAGE).await;
    let first = request_backup(&app).await;
    assert_eq!(first.status(), 200);
    let refused = send(&boss, PAGE, &[("form_token", &token(&form))]).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    is_sound(&refused);
    for words in ["role=\"alert\"", "try again when it is finished.", "Nothing was downloaded."] {
        assert!(refused.text.contains(words), "{words} in {}", refused.text);
    }
}
