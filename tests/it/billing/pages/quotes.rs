//! The pages of quotes: viewed, accepted and declined; and a model uploaded to get a price.

use serde_json::json;

use super::{HOSTILE, followed, is_sound, send, token};
use crate::api::quotes::models::upload;
use crate::api::{id, some_sku};
use crate::billing::{customer, mails_to};
use crate::support::{App, on_sqlite, until};
use crate::whole::cube;

const ANN: &str = "ann@example.org";

/// Sends a quote to this customer.
async fn offered(app: &App, sku: &str) -> String {
    let lines = json!([{"description": HOSTILE, "quantity": 2, "skuId": sku, "unitPriceCents": 1850}]);
    let quote = id(&app.post("/api/quotes", &json!({"customerEmail": ANN, "lines": lines})).await.expect(201));
    app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
    quote
}

on_sqlite! {
    async fn a_quote_is_accepted_or_declined_on_its_page(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let (ann, bob) = (customer(&app, ANN).await, customer(&app, "bob@example.org").await);
        let (quote, unwanted) = (offered(&app, &sku).await, offered(&app, &sku).await);
        let path = format!("/quotes/{quote}");
        let mail = until("the quote to be mailed", || async {
            mails_to(&app, ANN).into_iter().find(|mail| mail.subject.starts_with("Your quote") && mail.text.contains(&path))
        })
        .await;
        assert!(mail.html.contains("&lt;script&gt;") && mail.text.contains("Total: $37.00"), "{mail:?}");
        let list = ann.get("/quotes").await;
        is_sound(&list);
        assert!(list.text.contains(&path) && list.text.contains("Awaiting your reply"), "{}", list.text);
        assert!(!bob.get("/quotes").await.text.contains(&path));
        assert_eq!(app.nobody().get(&path).await.status, 303);
        let page = ann.get(&path).await;
        is_sound(&page);
        assert!(page.text.contains("$37.00") && page.text.contains("Accept and order"), "{}", page.text);
        let picture = format!("{path}/pictures/0");
        assert_eq!((ann.get(&picture).await.status, bob.get(&picture).await.status), (404, 403), "it has no model");
        let (own, theirs) = (token(&page), token(&bob.get("/quotes").await));
        for act in ["accept", "decline"] {
            let act = format!("{path}/{act}");
            assert_eq!(send(&ann, &act, &[]).await.status, 403, "without the token");
            let refused = send(&bob, &act, &[("form_token", &theirs)]).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
            is_sound(&refused);
        }
        // Accepting leads to the order.
        let order = send(&ann, &format!("{path}/accept"), &[("form_token", &own)]).await;
        assert_eq!(order.status, 200, "{}", order.text);
        is_sound(&order);
        assert!(order.text.contains("Amount due: $37.00") && order.text.contains("&lt;script&gt;"), "{}", order.text);
        let accepted = ann.get(&path).await;
        assert!(accepted.text.contains("href=\"/orders/") && !accepted.text.contains("Decline"), "{}", accepted.text);
        let late = send(&ann, &format!("{path}/decline"), &[("form_token", &own)]).await;
        assert_eq!(late.status, 409, "{}", late.text);
        is_sound(&late);
        let declined = send(&ann, &format!("/quotes/{unwanted}/decline"), &[("form_token", &own)]).await;
        assert!(declined.status == 200 && declined.text.contains(">Declined<"), "{}", declined.text);
    }

    async fn a_model_that_is_uploaded_has_a_price_at_once(db: Db) {
        let app = App::new(db).await;
        let (ann, bob) = (customer(&app, ANN).await, customer(&app, "bob@example.org").await);
        let form = ann.get("/models").await;
        is_sound(&form);
        let token = token(&form);
        let fields = [("quantity", "3"), ("notes", HOSTILE)];
        for forged in ["", "?token=x"] {
            let refused = upload(&ann, &format!("/models{forged}"), "cube.stl", cube().into_bytes(), &fields).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
        }
        let to = format!("/models?token={token}");
        let wrong = upload(&ann, &to, "cube.stl", b"not a model".to_vec(), &fields).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        let priced = upload(&ann, &to, "cube.stl", cube().into_bytes(), &fields).await;
        let priced = followed(&ann, priced).await;
        assert_eq!(priced.status, 200, "{}", priced.text);
        is_sound(&priced);
        assert!(priced.text.contains("Current price") && priced.text.contains("<dd>3</dd>"), "{}", priced.text);
        let again = priced.text.split("href=\"/models/").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(ann.get(&format!("/models/{again}")).await.status, 200);
        let theirs = bob.get(&format!("/models/{again}")).await;
        assert_eq!(theirs.status, 404);
        is_sound(&theirs);
        // The model is listed, with a picture, to whoever uploaded it.
        let (list, of_bob) = (ann.get("/models").await, bob.get("/models").await);
        is_sound(&list);
        let picture = format!("/models/{again}/picture");
        for part in ["Your models", &format!("href=\"/models/{again}\""), &format!("src=\"{picture}\"")] {
            assert!(list.text.contains(part), "{part} in {}", list.text);
        }
        assert!(!of_bob.text.contains("Your models"), "{}", of_bob.text);
        let own = ann.get(&picture).await;
        assert!(own.status == 200 && own.header("content-type").unwrap().starts_with("image/"), "{}", own.text);
        assert_eq!(bob.get(&picture).await.status, 404);
    }
}
