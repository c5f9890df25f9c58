//! Schemas for values that are objects in both requests and responses. The rules for reading requests are defined with
//! the routes, whose tests compare them with these schemas.

use std::ops::RangeBounds;

use api_schema::ToSchema;
use api_schema::shape::{Shape, above_zero, closed_object, number, optional, required, text_like, text_of, whole};
use serde_json::{Value, json};

use crate::amount::MAX_AMOUNT;
use crate::bounds::{MAX_LENGTH_MM, MAX_NOZZLE_MM};
use crate::id::Id;
use crate::order::Address;
use crate::printer::{MAX_ROOM_PLACE, Nozzle, RoomPosition};
use crate::sku::{Component, Dimensions, SkuMaterial};

/// Regular expression for text without line breaks, tabs and other control characters.
const ONE_LINE: &str = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$";

/// Material ID used in examples.
const EXAMPLE_MATERIAL: &str = "01890a5d-ac96-774b-bcce-b302099a8061";
/// SKU ID used in examples.
const EXAMPLE_SKU: &str = "01890a5d-ac96-774b-bcce-b302099a8063";

/// Returns the shape of a single line of text with the given length range, in characters.
fn one_line(length: impl RangeBounds<usize>) -> Shape {
    text_of(length).edit(|object| object.pattern = Some(ONE_LINE.to_owned()))
}

impl ToSchema for Address {
    const NAME: Option<&'static str> = Some("Address");
    fn schema() -> Shape {
        closed_object([
            required("line1", one_line(1..=200).about("Street and house number, or a post-office box.")),
            optional("line2", one_line(..=200).or_null().about("Second address line, such as a flat or a company.")),
            required("city", one_line(1..=100).about("City, town or village.")),
            optional(
                "region",
                one_line(..=100).or_null().about("State, province or canton, for countries that have them."),
            ),
            required("postalCode", one_line(1..=20).about("Postal code, in the country's format.")),
            required("country", text_like("^[A-Za-z]{2}$").about("ISO 3166-1 alpha-2 country code.")),
        ])
        .about("Postal address, as sent in requests.")
    }
    fn example() -> Value {
        json!({
            "line1": "1 Main Street", "line2": null, "city": "Springfield", "region": "IL", "postalCode": "62701",
            "country": "US",
        })
    }
}

impl ToSchema for Dimensions {
    const NAME: Option<&'static str> = Some("Dimensions");
    fn schema() -> Shape {
        let members =
            ["x", "y", "z"].map(|axis| required(axis, above_zero(MAX_LENGTH_MM).about("Length in millimetres.")));
        closed_object(members).about("Dimensions in millimetres.")
    }
    fn example() -> Value {
        json!({"x": 80, "y": 80, "z": 120.5})
    }
}

impl ToSchema for RoomPosition {
    const NAME: Option<&'static str> = Some("RoomPosition");
    fn schema() -> Shape {
        let place = || whole(1..=i64::from(MAX_ROOM_PLACE));
        closed_object([
            required("row", place().about("Row, starting at 1 at the front of the room.")),
            required("column", place().about("Column, starting at 1 on the left.")),
        ])
        .about("Position of a printer on its room's floor plan.")
    }
    fn example() -> Value {
        json!({"row": 1, "column": 3})
    }
}

impl ToSchema for Nozzle {
    const NAME: Option<&'static str> = Some("Nozzle");
    fn schema() -> Shape {
        let kind = "Material of the nozzle, such as `brass` or `hardened steel`.";
        closed_object([
            required("diameter", above_zero(MAX_NOZZLE_MM).about("Diameter, in millimetres.")),
            optional("kind", one_line(..=50).or_null().about(kind)),
        ])
        .about("Nozzle installed in the printer; files are sliced for a specific diameter.")
    }
    fn example() -> Value {
        json!({"diameter": 0.4, "kind": "brass"})
    }
}

impl ToSchema for SkuMaterial {
    const NAME: Option<&'static str> = Some("SkuMaterial");
    fn schema() -> Shape {
        let consumption = "Consumption for one full plate, in the material's unit, if the file does not specify it; at most three decimals.";
        closed_object([
            required("materialId", Id::schema().about("Material of the filament.")),
            required("estimatedConsumption", number(0.001..=MAX_AMOUNT.0 as f64 / 1000.0).about(consumption)),
            required("filament", whole(0..=1000).about("Index of the filament in the file, starting at 0.")),
        ])
        .about("Additional material of a product.")
    }
    fn example() -> Value {
        json!({"materialId": EXAMPLE_MATERIAL, "estimatedConsumption": 4.5, "filament": 1})
    }
}

impl ToSchema for Component {
    const NAME: Option<&'static str> = Some("Component");
    fn schema() -> Shape {
        let members = [
            required("skuId", Id::schema()),
            required("quantity", whole(1..=10_000).about("Number of parts per set.")),
        ];
        closed_object(members).about("Component of a kit.")
    }
    fn example() -> Value {
        json!({"skuId": EXAMPLE_SKU, "quantity": 2})
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::amount::Amount;

    /// Returns the example of a record, deserialized as that record.
    fn example_of<T: ToSchema + DeserializeOwned>() -> Option<T> {
        serde_json::from_value(T::example()).ok()
    }

    #[test]
    fn the_example_of_a_record_reads_as_the_record() {
        let id = |text: &str| text.parse().unwrap_or(Id::ONLY);
        let address = Address {
            line1: "1 Main Street".to_owned(),
            line2: None,
            city: "Springfield".to_owned(),
            region: Some("IL".to_owned()),
            postal_code: "62701".to_owned(),
            country: "US".to_owned(),
        };
        assert_eq!(example_of::<Address>(), Some(address));
        assert_eq!(example_of::<Dimensions>(), Some(Dimensions { x: 80.0, y: 80.0, z: 120.5 }));
        assert_eq!(example_of::<RoomPosition>(), Some(RoomPosition { row: 1, column: 3 }));
        assert_eq!(example_of::<Nozzle>(), Some(Nozzle { diameter: 0.4, kind: Some("brass".to_owned()) }));
        let material_id = id("01890a5d-ac96-774b-bcce-b302099a8061");
        let material = SkuMaterial { material_id, estimated_consumption: Amount(4_500), filament: 1 };
        assert_eq!(example_of::<SkuMaterial>(), Some(material));
        let component = Component { sku_id: id("01890a5d-ac96-774b-bcce-b302099a8063"), quantity: 2 };
        assert_eq!(example_of::<Component>(), Some(component));
    }

    #[test]
    fn an_amount_is_bounded_on_both_sides() {
        let expected = number(-1_000_000_000.0..=1_000_000_000.0).about("At most three decimals.");
        assert!(Amount::schema() == expected);
    }
}
