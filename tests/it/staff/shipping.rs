//! The form for a shipment: for an order with fewer good parts than were ordered, and for kits.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::products::sent;
use super::{OPERATOR, is_sound, operator};
use crate::api::id;
use crate::billing::pages::token;
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::support::client::Answer;
use crate::support::{Client, Db, on_sqlite};

/// Starts a printer without registering it, so that orders can be changed before they are printed.
async fn floor(db: Db) -> Floor {
    Floor::empty(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await
}

/// Creates a kit of one body and two lids; returns the IDs of the kit and of the lid.
async fn kit(floor: &Floor) -> (String, String) {
    let file = floor.file("box", 60, 1.0).await;
    let body = floor.app.sku("BODY", &floor.material, &file, 500).await;
    let lid = floor.app.sku("LID", &floor.material, &file, 200).await;
    let components = json!([{"skuId": body, "quantity": 1}, {"skuId": lid, "quantity": 2}]);
    let kit = json!({"code": "BOX", "name": "BOX", "priceCents": 900, "components": components});
    (id(&floor.app.post("/api/skus", &kit).await.expect(201)), lid)
}

/// Cancels one job of an order, of this SKU.
async fn cancel_one(floor: &Floor, order: &str, sku: &str) {
    let jobs = floor.app.jobs(order).await;
    let job = jobs.iter().find(|job| job["skuId"] == sku).unwrap();
    floor.app.act(&format!("/api/jobs/{}/cancel", id(job))).await.expect(200);
}

/// Operator on the page of an order that is ready.
struct Packer<'a> {
    floor: &'a Floor,
    sam: &'a Client,
    order: String,
}

impl Packer<'_> {
    fn path(&self) -> String {
        format!("/shop/orders/{}", self.order)
    }

    /// Opens the page and checks that it contains `words` and none of `no_words`.
    async fn sees(&self, words: &[&str], no_words: &[&str]) {
        let page = self.sam.get(&self.path()).await;
        is_sound(&page);
        for word in words {
            assert!(page.text.contains(word), "{word} in {}", page.text);
        }
        for word in no_words {
            assert!(!page.text.contains(word), "{word} in {}", page.text);
        }
    }

    /// Sends the form as it is on the page, with these fields changed or added; the customer picks up the parts.
    async fn ships(&self, changes: &[(&str, &str)]) -> Answer {
        let page = self.sam.get(&self.path()).await;
        let (_, form) = page.text.split_once(&format!("action=\"{}/ship\"", self.path())).unwrap();
        let (form, _) = form.split_once("</form>").unwrap();
        let value = |name: &str| {
            let (_, rest) = form.split_once(&format!("name=\"{name}\" "))?;
            let (tag, _) = rest.split_once('>')?;
            Some(tag.split_once("value=\"")?.1.split_once('"')?.0.to_owned())
        };
        let names = ["someParts", "wholeOrder", "part-0", "part-1", "part-2"];
        let on_page: Vec<(&str, String)> = names.into_iter().filter_map(|name| Some((name, value(name)?))).collect();
        let unchanged = on_page.iter().map(|(name, value)| (*name, value.as_str()));
        let unchanged = unchanged.filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        let fields: Vec<(&str, &str)> =
            unchanged.chain(changes.iter().copied()).chain([("pickedUp", "true")]).collect();
        sent(self.sam, &token(&page), &format!("{}/ship", self.path()), &fields).await
    }

    async fn status(&self) -> Value {
        self.floor.app.get(&format!("/api/orders/{}", self.order)).await.expect(200)["status"].clone()
    }
}

/// Checkbox that confirms that the customer accepts fewer parts.
const ACCEPTED: (&str, &str) = ("acceptShort", "true");

on_sqlite! {
    async fn a_short_order_leaves_whole_only_if_its_customer_takes_fewer_parts(db: Db) {
        let floor = floor(db.with_staff(OPERATOR)).await;
        let sam = operator(&floor.app).await;
        let [at_once, in_parts] = [floor.order(3).await, floor.order(3).await];
        for order in [&at_once, &in_parts] {
            cancel_one(&floor, order, &floor.sku).await;
        }
        floor.app.printer(floor.sim(0)).await;
        for order in [&at_once, &in_parts] {
            floor.app.order_is(order, "ready").await;
        }
        let [at_once, in_parts] = [at_once, in_parts].map(|order| Packer { floor: &floor, sam: &sam, order });

        let form = ["name=\"wholeOrder\" value=\"part-0=2 acceptShort=true\"", "max=\"2\" value=\"2\"", "Customer accepts fewer parts"];
        at_once.sees(&form, &["complete set"]).await;
        let gone = at_once.ships(&[ACCEPTED]).await;
        assert!(gone.text.contains(">Shipped<") && gone.text.contains("<li>2 × PART</li>"), "{}", gone.text);
        assert_eq!(at_once.status().await, "shipped");

        // If fewer parts are chosen, or the box is not ticked, the rest is still owed.
        in_parts.sees(&form, &[]).await;
        let first = in_parts.ships(&[("part-0", "1"), ACCEPTED]).await;
        assert!(first.text.contains("Shipment 1") && first.text.contains("<li>1 × PART</li>"), "{}", first.text);
        assert_eq!(in_parts.status().await, "ready");
        in_parts.sees(&["name=\"wholeOrder\" value=\"part-0=1 acceptShort=true\"", "max=\"1\" value=\"1\""], &[]).await;
        let second = in_parts.ships(&[]).await;
        assert!(second.text.contains("Shipment 2"), "{}", second.text);
        assert_eq!(in_parts.status().await, "ready");
        // Nothing is here any more: what is left to say is that the customer does without the third one.
        in_parts.sees(&["name=\"wholeOrder\" value=\"acceptShort=true\""], &["name=\"part-0\"", "name=\"someParts\""]).await;
        let refused = in_parts.ships(&[]).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        is_sound(&refused);
        let done = in_parts.ships(&[ACCEPTED]).await;
        assert!(done.text.contains(">Shipped<") && !done.text.contains("Shipment 3"), "{}", done.text);
        assert_eq!(in_parts.status().await, "shipped");
    }

    async fn kits_leave_in_complete_sets(db: Db) {
        let floor = floor(db.with_staff(OPERATOR)).await;
        let sam = operator(&floor.app).await;
        let (kit, _) = kit(&floor).await;
        let order = floor.app.paid_order(&kit, 2).await;
        floor.app.printer(floor.sim(0)).await;
        floor.app.all_made(&order).await;
        let packer = Packer { floor: &floor, sam: &sam, order };
        // The parts of a set are not counted by themselves.
        let parts = ["name=\"part-1\"", "name=\"part-2\"", "wholeOrder", "Customer accepts fewer parts"];
        packer.sees(&["BOX (up to 2 complete sets)</label>", "name=\"part-0\"", "max=\"2\" value=\"2\""], &parts).await;
        let too_many = packer.ships(&[("part-0", "3")]).await;
        assert_eq!(too_many.status, 409, "{}", too_many.text);
        let first = packer.ships(&[("part-0", "1")]).await;
        for words in ["Shipment 1", "<li>1 × BODY</li>", "<li>2 × LID</li>"] {
            assert!(first.text.contains(words), "{words} in {}", first.text);
        }
        assert_eq!(packer.status().await, "ready");
        packer.sees(&["BOX (up to 1 complete set)</label>", "max=\"1\" value=\"1\""], &parts).await;
        let rest = packer.ships(&[]).await;
        assert!(rest.text.contains("Shipment 2") && rest.text.contains(">Shipped<"), "{}", rest.text);
        assert_eq!(packer.status().await, "shipped");
    }

    async fn parts_of_an_incomplete_set_leave_if_the_customer_takes_fewer_parts(db: Db) {
        let floor = floor(db.with_staff(OPERATOR)).await;
        let sam = operator(&floor.app).await;
        let (kit, lid) = kit(&floor).await;
        let order = floor.app.paid_order(&kit, 2).await;
        cancel_one(&floor, &order, &lid).await;
        floor.app.printer(floor.sim(0)).await;
        floor.app.all_made(&order).await;
        let packer = Packer { floor: &floor, sam: &sam, order };
        let whole = "name=\"wholeOrder\" value=\"part-0=1 acceptShort=true\"";
        packer.sees(&[whole, "BOX (up to 1 complete set)</label>"], &["name=\"part-1\"", "name=\"part-2\""]).await;
        let gone = packer.ships(&[ACCEPTED]).await;
        for words in ["Shipment 1", "<li>2 × BODY</li>", "<li>3 × LID</li>", ">Shipped<"] {
            assert!(gone.text.contains(words), "{words} in {}", gone.text);
        }
        assert_eq!(packer.status().await, "shipped");
    }
}
