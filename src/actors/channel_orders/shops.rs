//! Connections to external shops. Each sales channel has its own client, circuit breaker and concurrency limit, so that
//! a failing shop does not slow down the others.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::Semaphore;

use domain::channel_order::{ChannelOrder, TrackingOutcome};
use domain::id::Id;
use domain::sales_channel::SalesChannel;
use platform::secrets::encryption::SecretCipher;
use services::circuit::{Circuit, CircuitSettings};
use services::peer_client::PeerHttp;
use services::sales_channels::{ShipmentNotice, ShipmentResponse, ShopClient, channel_type};

/// Maximum number of concurrent calls to a shop.
const MAX_CALLS_PER_SHOP: usize = 2;

/// Connections to the shops, which are notified of shipments.
pub struct ShopClients {
    /// HTTP client for systems that staff configured.
    pub http: PeerHttp,
    /// Cipher that decrypts access tokens.
    pub cipher: Arc<SecretCipher>,
    /// Timeout and backoff for each connection.
    pub settings: CircuitSettings,
    /// Connections by sales channel ID.
    pub lines: DashMap<Id, Arc<ShopConnection>>,
}

/// Connection to a shop, with its own client, circuit breaker and concurrency limit.
pub struct ShopConnection {
    /// Address and encrypted token from which the client was built; the client is rebuilt when either changes.
    made_of: (String, String),
    shop: Box<dyn ShopClient>,
    circuit: Circuit,
    turns: Semaphore,
}

impl ShopClients {
    /// Notifies a shop of a shipment for an order that it sold, unless it has already been notified.
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
            Ok(ShipmentResponse::Known) => TrackingOutcome::Told,
            Ok(ShipmentResponse::Refused(words)) => TrackingOutcome::Refused(words),
            Err(fault) => TrackingOutcome::Again(fault.in_one_line()),
        }
    }

    /// Returns the connection for a sales channel; `None` if the shop does not accept notifications or the channel is
    /// archived.
    fn line(&self, channel: &SalesChannel) -> Result<Option<Arc<ShopConnection>>, String> {
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
        let shop = connect(self.http.clone(), url, &token).map_err(|error| error.to_string())?;
        let (circuit, turns) = (Circuit::new(self.settings), Semaphore::new(MAX_CALLS_PER_SHOP));
        let line = Arc::new(ShopConnection { made_of, shop, circuit, turns });
        self.lines.insert(channel.id, line.clone());
        Ok(Some(line))
    }
}
