//! How the values of the rules look in JSON, where events show them: their schemas.

use api_schema::ToSchema;
use api_schema::shape::{Shape, id, number, time};
use api_schema::words::word_of;

use crate::domain::amount::{Amount, MAX_AMOUNT};
use crate::domain::id::Id;
use crate::domain::order_status::OrderStatus;
use crate::domain::time::Timestamp;

impl ToSchema for Id {
    fn schema() -> Shape {
        id()
    }
}

impl ToSchema for Timestamp {
    fn schema() -> Shape {
        time()
    }
}

impl ToSchema for Amount {
    fn schema() -> Shape {
        let most = MAX_AMOUNT.0 as f64 / 1000.0;
        number(-most..=most).about("At most three decimals.")
    }
}

impl ToSchema for OrderStatus {
    const NAME: Option<&'static str> = Some("OrderStatus");
    fn schema() -> Shape {
        word_of::<Self>().about("How far an order is, from its placing to its shipment or cancellation.")
    }
}
