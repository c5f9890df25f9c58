//! The lines to other shops: each channel has a client, a circuit breaker and turns of its own, so that one that fails
//! slows no other.

use std::sync::Arc;

use dashmap::DashMap;
use reqwest::Client;
use tokio::sync::Semaphore;

use crate::domain::channel_order::{ChannelOrder, TrackingOutcome};
use crate::domain::id::Id;
use crate::domain::sales_channel::SalesChannel;
use crate::secrets::encryption::SecretCipher;
use crate::services::circuit::{Circuit, CircuitSettings};
use crate::services::sales_channels::{ShipmentNotice, ShopClient, Told, channel_type};

/// Most calls under way at one shop.
const MAX_CALLS_PER_SHOP: usize = 2;

/// The lines to the shops that are told of shipments.
pub struct ShopLines {
    /// For systems that the shop's own people configured.
    pub client: Client,
    /// Decrypts access tokens.
    pub cipher: Arc<SecretCipher>,
    /// Time limit and pauses of each line.
    pub settings: CircuitSettings,
    /// By channel.
    pub lines: DashMap<Id, Arc<ShopLine>>,
}

/// The line to one shop: its client, with a breaker and turns of its own.
pub struct ShopLine {
    /// Address and encrypted token that it was made of: when they change it is made anew.
    made_of: (String, String),
    shop: Box<dyn ShopClient>,
    circuit: Circuit,
    turns: Semaphore,
}

impl ShopLines {
    /// Tells a shop of a shipment of an order that it sold, unless it knows it.
    pub(super) async fn tell(
        &self,
        channel: &SalesChannel,
        record: &ChannelOrder,
        number: u32,
        chance: f64,
    ) -> TrackingOutcome {
        let line = match self.line(channel) {
            Ok(Some(line)) => line,
            Ok(None) => return TrackingOutcome::NotWanted,
            Err(words) => return TrackingOutcome::Again(words),
        };
        let (Some(tracking), Some(content)) =
            (record.trackings.iter().find(|one| one.shipment.number == number), &record.content)
        else {
            return TrackingOutcome::NotWanted;
        };
        let shipment = &tracking.shipment;
        let mut so_far = vec![0; content.lines.len()];
        let same = record.trackings.iter().map(|one| &one.shipment);
        for one in same.filter(|one| one.tracking_number == shipment.tracking_number && one.number <= number) {
            for (sum, units) in so_far.iter_mut().zip(&one.units) {
                *sum += u64::from(*units);
            }
        }
        let mark = record.order_id.to_string();
        let external_id = record.external_id.as_str();
        let notice = ShipmentNotice { external_id, lines: &content.lines, shipment, so_far: &so_far, mark: &mark };
        let Ok(_turn) = line.turns.acquire().await else { return TrackingOutcome::NotWanted };
        line.circuit.ready().await;
        match line.circuit.call(chance, line.shop.tell(&notice)).await {
            Ok(Told::Known) => TrackingOutcome::Told,
            Ok(Told::Refused(words)) => TrackingOutcome::Refused(words),
            Err(fault) => TrackingOutcome::Again(fault.in_one_line()),
        }
    }

    /// The line of a channel; `None` when such a shop is told nothing.
    fn line(&self, channel: &SalesChannel) -> Result<Option<Arc<ShopLine>>, String> {
        let connect = channel_type(&channel.kind).and_then(|kind| kind.connect);
        let (Some(connect), Some(url), false) = (connect, &channel.base_url, channel.archived) else {
            self.lines.remove(&channel.id);
            return Ok(None);
        };
        let made_of = (url.clone(), channel.encrypted_token.clone());
        if let Some(line) = self.lines.get(&channel.id).filter(|line| line.made_of == made_of) {
            return Ok(Some(line.clone()));
        }
        let token = match channel.encrypted_token.as_str() {
            "" => String::new(),
            encrypted => self.cipher.decrypt(encrypted).map_err(|error| error.to_string())?,
        };
        let shop = connect(self.client.clone(), url, &token).map_err(|error| error.to_string())?;
        let (circuit, turns) = (Circuit::new(self.settings), Semaphore::new(MAX_CALLS_PER_SHOP));
        let line = Arc::new(ShopLine { made_of, shop, circuit, turns });
        self.lines.insert(channel.id, line.clone());
        Ok(Some(line))
    }
}
