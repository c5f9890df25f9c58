//! Client for `InvenTree`: materials are linked to parts, and the stock of a part is the sum of its stock items.
//!
//! Stock changes only ever add or remove stock, and never set it. `InvenTree` has no idempotency keys. The notes of a
//! stock change therefore contain a reference to it, and the item's tracking entries show whether it was recorded.

use std::collections::BTreeMap;

use async_trait::async_trait;
use reqwest::Method;
use serde_json::{Value, json};

use super::rest::Rest;
use super::{MAX_LISTED, PAGE_SIZE, StockClient, StockEntry, StockError, amount, line, too_many};
use crate::peer_client::{PeerHttp, PeerSettingError, TokenForm};
use domain::amount::Amount;
use domain::parts_sync::{Booking, BookingVerdict, ItemReading, StockLink, StockReading, StockSystem, StockUnit};

/// Client for one `InvenTree` server.
pub struct InvenTree {
    rest: Rest,
}

impl InvenTree {
    /// Creates a client for the server at the given base address.
    pub fn new(http: impl Into<PeerHttp>, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { rest: Rest::new(http, url, TokenForm::Token, token)? })
    }

    /// Reads a list page by page until `enough` returns `true` for an entry. Returns at most [`MAX_LISTED`] entries,
    /// and whether the list is complete or `enough` returned `true`.
    async fn list(
        &self,
        path: &str,
        filter: &[(&str, String)],
        enough: impl Fn(&Value) -> bool,
    ) -> Result<(Vec<Value>, bool), StockError> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let mut query = filter.to_vec();
            query.extend([("limit", PAGE_SIZE.to_string()), ("offset", all.len().to_string())]);
            let (page, more) = page(self.rest.get(path, &query).await?.value)?;
            let is_found = page.iter().any(&enough);
            let none = page.is_empty();
            all.extend(page);
            if is_found || none || !more {
                return Ok((all, true));
            }
            if all.len() >= MAX_LISTED {
                return Ok((all, false));
            }
        }
    }

    /// Returns the outcome of a stock change according to its item's history; `None` if the history does not contain
    /// the change.
    async fn tracked(&self, booking: &Booking) -> Result<Option<BookingVerdict>, StockError> {
        let ours = reference(booking);
        let is_ours = |entry: &Value| entry["notes"].as_str().is_some_and(|notes| notes.contains(&ours));
        let filter = [("item", booking.item.to_string()), ("ordering", "-date".to_owned())];
        let tracked = match self.list("api/stock/track/", &filter, is_ours).await {
            Ok((tracked, _)) => tracked,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(at) = tracked.iter().position(is_ours) else { return Ok(None) };
        let left = |entry: &Value| amount(&entry["deltas"]["quantity"]);
        // The entry before it tells what there was.
        let moved = left(&tracked[at]).zip(tracked.get(at + 1).and_then(left)).map(|(after, before)| after - before);
        Ok(Some(match moved {
            Some(moved) if booking.delta < moved && moved <= Amount::ZERO => BookingVerdict::Partly(moved),
            _ => BookingVerdict::Booked,
        }))
    }
}

/// Returns the entries of a list page, and whether there may be more. A bare array is the whole list.
fn page(value: Value) -> Result<(Vec<Value>, bool), StockError> {
    match value {
        Value::Array(all) => Ok((all, false)),
        Value::Object(mut page) => match page.remove("results") {
            Some(Value::Array(some)) => Ok((some, page.get("next").is_some_and(|next| !next.is_null()))),
            _ => Err(StockError::Nonsense("a list without results".to_owned())),
        },
        _ => Err(StockError::Nonsense("not a list".to_owned())),
    }
}

/// Returns the unit of a part, which is free text in `InvenTree`.
fn unit(part: &Value) -> StockUnit {
    match part["units"].as_str().unwrap_or_default().trim().to_lowercase().as_str() {
        "g" | "gram" | "grams" => StockUnit::Gram,
        "ml" | "milliliter" | "milliliters" | "millilitre" | "millilitres" => StockUnit::Millilitre,
        "" | "pc" | "pcs" | "piece" | "pieces" | "each" | "ea" | "unit" | "units" | "sheet" | "sheets" => {
            StockUnit::Piece
        }
        _ => StockUnit::Other,
    }
}

/// Reads a response as each of those that the client requests, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(super) fn parse(answer: &Value) {
    let _ = unit(answer);
    let _ = item(answer, answer["part"].as_i64().unwrap_or_default());
    let _ = page(answer.clone());
}

/// Parses a stock item of a part; `None` if it belongs to a different part.
fn item(value: &Value, part: i64) -> Result<Option<(i64, ItemReading)>, StockError> {
    let number =
        value["pk"].as_i64().ok_or_else(|| StockError::Nonsense("a stock item without a number".to_owned()))?;
    if value["part"].as_i64() != Some(part) {
        return Ok(None);
    }
    // What was sold, used up, lost or destroyed is still listed, and is no stock.
    let in_stock = value["in_stock"].as_bool().unwrap_or(true);
    let holds = amount(&value["quantity"]);
    let quantity = if in_stock { holds } else { Some(Amount::ZERO) };
    let serial = value["serial"].as_str().is_some_and(|serial| !serial.is_empty());
    let room = (!in_stock).then_some(Amount::ZERO);
    // A single piece with a serial number is not added to or taken from there.
    Ok(Some((number, ItemReading { quantity, room, mark: holds.unwrap_or_default(), trace: None, fixed: serial })))
}

/// Returns the reference written to the notes of a stock change.
fn reference(booking: &Booking) -> String {
    format!("printfloor:{}", booking.id)
}

#[async_trait]
impl StockClient for InvenTree {
    fn system(&self) -> StockSystem {
        StockSystem::Parts
    }

    async fn entries(&self) -> Result<Vec<StockEntry>, StockError> {
        let (parts, _) = self.list("api/part/", &[("active", "true".to_owned())], |_| false).await?;
        let entry = |part: &Value| {
            let name = part["name"].as_str().unwrap_or_default();
            let ipn = part["IPN"].as_str().filter(|ipn| !ipn.is_empty());
            let name = ipn.map_or_else(|| name.to_owned(), |ipn| format!("{name} ({ipn})"));
            Some(StockEntry { number: part["pk"].as_i64()?, name: line(&name) })
        };
        Ok(parts.iter().filter_map(entry).collect())
    }

    async fn look(&self, link: &StockLink) -> Result<StockReading, StockError> {
        let Some(part) = self.rest.find(&format!("api/part/{}/", link.entry)).await? else {
            let server = self.rest.address();
            return Ok(StockReading { server, name: None, unit: StockUnit::Other, items: BTreeMap::new() });
        };
        let (listed, whole) = self.list("api/stock/", &[("part", link.entry.to_string())], |_| false).await?;
        if !whole {
            return Err(too_many());
        }
        let mut items = BTreeMap::new();
        for value in &listed {
            items.extend(item(value, link.entry)?);
        }
        for (number, held) in link.agreed.iter().flatten() {
            if *held != Amount::ZERO
                && !items.contains_key(number)
                && let Some(value) = self.rest.find(&format!("api/stock/{number}/")).await?
            {
                items.extend(item(&value, link.entry)?);
            }
        }
        let name = Some(line(part["name"].as_str().unwrap_or_default()));
        Ok(StockReading { server: self.rest.address(), name, unit: unit(&part), items })
    }

    async fn book(&self, booking: &Booking) -> Result<BookingVerdict, StockError> {
        let (verb, amount) =
            if booking.delta < Amount::ZERO { ("remove", -booking.delta) } else { ("add", booking.delta) };
        let body = json!({
            "items": [{"pk": booking.item, "quantity": amount.to_string()}],
            "notes": reference(booking),
        });
        self.rest.send_json(Method::POST, &format!("api/stock/{verb}/"), &body).await?;
        // A removal beyond what is left takes what is left, and says nothing of it. An item that was used up may be
        // deleted, with all that is known of it. Whatever keeps the question from being answered, the booking was sent:
        // the fault must not be taken for that of a booking that never left.
        let untold =
            |error: StockError| StockError::NoAnswer(format!("the outcome of a stock change is unknown: {error}"));
        Ok(self.tracked(booking).await.map_err(untold)?.unwrap_or(BookingVerdict::Booked))
    }

    async fn left(&self, item: i64) -> Result<Option<Amount>, StockError> {
        let value = self.rest.find(&format!("api/stock/{item}/")).await?;
        Ok(value.as_ref().and_then(|value| amount(&value["quantity"])))
    }

    async fn verdict(&self, booking: &Booking) -> Result<BookingVerdict, StockError> {
        if let Some(verdict) = self.tracked(booking).await? {
            return Ok(verdict);
        }
        if self.rest.find(&format!("api/stock/{}/", booking.item)).await?.is_some() {
            return Ok(BookingVerdict::NotBooked);
        }
        Ok(BookingVerdict::Unclear("the item was deleted in InvenTree".to_owned()))
    }
}
