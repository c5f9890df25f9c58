//! Client for Spoolman: materials are linked to filaments, and the stock of a filament is the total weight left on its
//! spools, in grams.
//!
//! A stock change is sent as a `use` request, which decrements the weight without storing a reference. It is recognised
//! by the digits of the weight below a milligram (`stamp`).

mod stamp;

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::Method;
use reqwest::header::DATE;
use serde_json::{Value, json};

use super::rest::Rest;
use super::{MAX_LISTED, PAGE_SIZE, StockClient, StockEntry, StockError, amount, line, too_many};
use crate::peer_client::{PeerHttp, PeerSettingError, TokenForm};
use domain::amount::Amount;
use domain::parts_sync::{Booking, BookingVerdict, ItemReading, StockLink, StockReading, StockSystem, StockUnit};

/// Maximum rounding error of a weight when it is read back, in thousandths of a gram.
const MAX_ROUNDING: i64 = 1;

/// Entries read from a list, with information about the response.
struct ListReply {
    all: Vec<Value>,
    /// `true` if the list is complete.
    whole: bool,
    /// Time shown by the server's clock.
    clock: Option<Timestamp>,
}

/// Client for one Spoolman server.
pub struct Spoolman {
    rest: Rest,
}

impl Spoolman {
    /// Creates a client for the server at the given base address. Spoolman itself requires no token, but a proxy in
    /// front of it may.
    pub fn new(http: impl Into<PeerHttp>, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { rest: Rest::new(http, url, TokenForm::Bearer, token)? })
    }

    /// Tests the connection; returns a human-readable description of the server.
    pub async fn test(&self) -> Result<String, StockError> {
        let about = self.rest.get("api/v1/info", &[]).await?.value;
        let version =
            about["version"].as_str().ok_or_else(|| StockError::Nonsense("not a Spoolman server".to_owned()))?;
        Ok(line(&format!("Spoolman {version} responds")))
    }

    /// Reads a list page by page. Returns at most [`MAX_LISTED`] entries, whether the list is complete, and the
    /// server's time when it sent the first page. The total number of entries is in a response header.
    async fn list(&self, path: &str, filter: &[(&str, String)]) -> Result<ListReply, StockError> {
        let (mut all, mut clock): (Vec<Value>, Option<Timestamp>) = (Vec::new(), None);
        loop {
            let mut query = filter.to_vec();
            let (limit, offset) = (PAGE_SIZE.to_string(), all.len().to_string());
            query.extend([("sort", "id:asc".to_owned()), ("limit", limit), ("offset", offset)]);
            let answer = self.rest.get(path, &query).await?;
            let Value::Array(page) = answer.value else {
                return Err(StockError::Nonsense("not a list".to_owned()));
            };
            let total =
                answer.headers.get("x-total-count").and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
            let date = answer.headers.get(DATE).and_then(|date| stamp::clock(date.to_str().ok()?));
            clock = clock.or(date);
            let (none, short) = (page.is_empty(), page.len() < PAGE_SIZE);
            all.extend(page);
            if none || total.map_or(short, |total| all.len() >= total) {
                return Ok(ListReply { all, whole: true, clock });
            }
            if all.len() >= MAX_LISTED {
                return Ok(ListReply { all, whole: false, clock });
            }
        }
    }

    async fn spool(&self, number: i64) -> Result<Option<Value>, StockError> {
        self.rest.find(&format!("api/v1/spool/{number}")).await
    }
}

/// Returns the amount used from a spool so far.
fn used(spool: &Value) -> Result<Amount, StockError> {
    amount(&spool["used_weight"])
        .ok_or_else(|| StockError::Nonsense("a spool without a value for the used weight".to_owned()))
}

/// Returns the initial amount on a spool.
fn full(spool: &Value) -> Option<Amount> {
    amount(&spool["initial_weight"]).or_else(|| amount(&spool["filament"]["weight"]))
}

/// Parses a spool of a filament; `None` if it belongs to a different filament.
fn item(spool: &Value, filament: i64, clock: Option<Timestamp>) -> Result<Option<(i64, ItemReading)>, StockError> {
    let number = spool["id"].as_i64().ok_or_else(|| StockError::Nonsense("a spool without a number".to_owned()))?;
    if spool["filament"]["id"].as_i64() != Some(filament) {
        return Ok(None);
    }
    let used = used(spool)?;
    if spool["archived"].as_bool().unwrap_or(false) {
        return Ok(Some((
            number,
            ItemReading {
                quantity: Some(Amount::ZERO),
                room: Some(Amount::ZERO),
                mark: used,
                trace: None,
                fixed: true,
            },
        )));
    }
    // What is told as remaining stops at zero, so it would hide what was used beyond that.
    Ok(Some((
        number,
        ItemReading {
            quantity: full(spool).map(|full| full - used),
            room: Some(used),
            mark: used,
            trace: stamp::trace(spool, clock),
            fixed: false,
        },
    )))
}

/// Reads a response as each of those that the client requests, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(super) fn parse(answer: &Value) {
    let filament = answer["filament"]["id"].as_i64().unwrap_or_default();
    let _ = item(answer, filament, None);
    let _ = item(answer, filament, Timestamp::from_second(1_700_000_000).ok());
    let _ = name(answer);
}

/// Returns the name of a filament, including its vendor.
fn name(filament: &Value) -> String {
    let part = |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let parts = [part(&filament["vendor"]["name"]), part(&filament["name"]), part(&filament["material"])];
    line(&parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

#[async_trait]
impl StockClient for Spoolman {
    fn system(&self) -> StockSystem {
        StockSystem::Spools
    }

    async fn entries(&self) -> Result<Vec<StockEntry>, StockError> {
        let ListReply { all: filaments, .. } = self.list("api/v1/filament", &[]).await?;
        let entry = |filament: &Value| Some(StockEntry { number: filament["id"].as_i64()?, name: name(filament) });
        Ok(filaments.iter().filter_map(entry).collect())
    }

    async fn look(&self, link: &StockLink) -> Result<StockReading, StockError> {
        let Some(filament) = self.rest.find(&format!("api/v1/filament/{}", link.entry)).await? else {
            let server = self.rest.address();
            return Ok(StockReading { server, name: None, unit: StockUnit::Gram, items: BTreeMap::new() });
        };
        let filter = [("filament.id", link.entry.to_string()), ("allow_archived", "true".to_owned())];
        let mut items = BTreeMap::new();
        let ListReply { all: listed, whole, clock } = self.list("api/v1/spool", &filter).await?;
        if !whole {
            return Err(too_many());
        }
        for spool in &listed {
            items.extend(item(spool, link.entry, clock)?);
        }
        for (number, held) in link.agreed.iter().flatten() {
            if *held != Amount::ZERO
                && !items.contains_key(number)
                && let Some(spool) = self.spool(*number).await?
            {
                items.extend(item(&spool, link.entry, clock)?);
            }
        }
        let server = self.rest.address();
        Ok(StockReading { server, name: Some(name(&filament)), unit: StockUnit::Gram, items })
    }

    async fn book(&self, booking: &Booking) -> Result<BookingVerdict, StockError> {
        // What is removed is used; what is added is a negative use.
        let grams = stamp::grams_to_use(booking);
        let path = format!("api/v1/spool/{}/use", booking.item);
        let spool = self.rest.send_json(Method::PUT, &path, &json!({"use_weight": grams})).await?.value;
        // What is given back beyond what was used is cut off there, and nothing is said of it.
        let expected = booking.mark - booking.delta;
        let cut = amount(&spool["used_weight"]) == Some(Amount::ZERO) && expected > Amount(MAX_ROUNDING);
        if cut && booking.delta > Amount::ZERO {
            return Ok(BookingVerdict::Unclear("its used weight was less than the amount to return".to_owned()));
        }
        Ok(BookingVerdict::Booked)
    }

    async fn left(&self, item: i64) -> Result<Option<Amount>, StockError> {
        let Some(spool) = self.spool(item).await? else { return Ok(None) };
        Ok(full(&spool).map(|full| (full - used(&spool).unwrap_or_default()).max(Amount::ZERO)))
    }

    async fn verdict(&self, booking: &Booking) -> Result<BookingVerdict, StockError> {
        let Some(spool) = self.spool(booking.item).await? else {
            return Ok(BookingVerdict::Unclear("the spool was deleted in Spoolman".to_owned()));
        };
        stamp::verdict(booking, &spool)
    }
}
