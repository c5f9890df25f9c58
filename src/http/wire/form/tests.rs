//! Tests that a form is read as the JSON body that means the same.

#![expect(clippy::unwrap_used, reason = "tests")]
use proptest::prelude::*;

use super::*;
use crate::wire::{Filled, ItemsWithin, MaxChars, Optional, Within, read_body};
use domain::amount::Amount;
use domain::id::Id;
use domain::order::Address;
use domain::sku::{Component, Dimensions, MachineType};
use domain::time::Timestamp;

/// Request with a member of each shape.
#[expect(dead_code, reason = "requests are compared as they are printed")]
#[derive(api_derive::Request, Debug)]
struct NewBox {
    #[api(Filled, MaxChars(20))]
    name: String,
    note: Option<String>,
    #[api(Within(0..=9), default = 5)]
    priority: u8,
    price_cents: i64,
    weight: Optional<Amount>,
    wall: Option<f64>,
    #[api(default = true)]
    active: bool,
    #[api(name = "type")]
    kind: Optional<MachineType>,
    due_at: Optional<Option<Timestamp>>,
    owner: Option<Id>,
    dimensions: Option<Dimensions>,
    address: Option<Address>,
    #[api(ItemsWithin(0..=2), default = Vec::new())]
    components: Vec<Component>,
    slots: Optional<Vec<u32>>,
    #[api(default = Vec::new())]
    tags: Vec<String>,
}

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8063";

fn texts(fields: &[(&str, &str)]) -> FieldTexts {
    fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn new_box(fields: &[(&str, &str)]) -> Value {
    Value::Object(form_members::<NewBox>(&texts(fields), EmptyField::Absent))
}

fn change(fields: &[(&str, &str)]) -> Value {
    Value::Object(form_members::<NewBox>(&texts(fields), EmptyField::Clear))
}

/// Returns the paths and messages of the faults in a body.
fn faults_of(body: &Value) -> Vec<(String, String)> {
    let error = read_body::<NewBox>(body.to_string().as_bytes()).unwrap_err();
    let faults = error.body()["errors"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    faults.as_array().unwrap().iter().map(|fault| (text(&fault["path"]), text(&fault["message"]))).collect()
}

#[test]
fn each_text_is_read_by_the_shape_of_its_member() {
    let body = new_box(&[
        ("name", "7"),
        ("note", "true"),
        ("priority", "3"),
        ("priceCents", "-2"),
        ("weight", "20,5"),
        ("wall", "1.25"),
        ("active", "false"),
        ("type", "fdm_large"),
        ("dueAt", "2030-01-31T12:00:00Z"),
        ("owner", ID),
        ("dimensions.x", "80"),
        ("dimensions.y", "0,5"),
        ("dimensions.z", "1e2"),
    ]);
    let expected = json!({
        "name": "7", "note": "true", "priority": 3, "priceCents": -2, "weight": 20.5, "wall": 1.25, "active": false,
        "type": "fdm_large", "dueAt": "2030-01-31T12:00:00Z", "owner": ID,
        "dimensions": {"x": 80, "y": 0.5, "z": 100.0},
    });
    assert_eq!(body, expected);
    assert!(read_body::<NewBox>(body.to_string().as_bytes()).is_ok());
}

#[test]
fn numbers_are_read_as_people_type_them() {
    for (text, value) in [
        ("1000", json!(1000)),
        ("-12", json!(-12)),
        ("0.5", json!(0.5)),
        ("0,5", json!(0.5)),
        ("-1,5", json!(-1.5)),
        ("0,125", json!(0.125)),
    ] {
        assert_eq!(typed_number(text), value, "{text}");
    }
    for text in ["", "much", "1,000", "-1,000", "1,000.5", "1.000,5", "inf", "NaN", "--5", "1e400"] {
        assert_eq!(typed_number(text), json!(text), "{text}");
    }
}

#[test]
fn a_comma_that_may_part_thousands_is_no_decimal_comma() {
    for same in ["1,000", "-12,345", "1,000.5", "1.000,5", "1,000,000", "1000", "0.125", ""] {
        let read = with_point(same).parse::<f64>();
        assert_eq!(read.is_ok(), !same.contains(',') && !same.is_empty(), "{same}");
        assert_eq!(typed_number(same).is_string(), same.contains(',') || same.is_empty(), "{same}");
    }
    for (text, point) in [("0,125", "0.125"), ("-0,500", "-0.500"), ("12,5", "12.5"), ("1,0005", "1.0005")] {
        assert_eq!(with_point(text), point);
    }
}

#[test]
fn what_is_not_sent_is_absent_and_what_is_empty_follows_the_form() {
    assert_eq!((new_box(&[]), change(&[])), (json!({}), json!({})));
    let empty = [
        ("name", ""),
        ("note", ""),
        ("priority", ""),
        ("weight", ""),
        ("type", ""),
        ("dueAt", ""),
        ("dimensions.x", ""),
        ("dimensions.y", ""),
        ("components.0.skuId", ""),
        ("components.0.quantity", ""),
        ("slots.0", ""),
        ("tags", ""),
    ];
    assert_eq!(new_box(&empty), json!({"name": ""}), "a required member is rejected in the API's words");
    let cleared = json!({
        "name": "", "note": null, "priority": "", "weight": "", "type": "", "dueAt": null, "dimensions": null,
        "components": [], "slots": [], "tags": [],
    });
    assert_eq!(change(&empty), cleared);
}

#[test]
fn texts_that_cannot_be_read_are_rejected_as_the_api_does() {
    let body = new_box(&[
        ("name", "a"),
        ("priority", "3.5"),
        ("priceCents", "much"),
        ("weight", "1,000"),
        ("active", "yes"),
        ("dimensions.x", "wide"),
        ("components.0.skuId", ID),
        ("components.0.quantity", "two"),
        ("slots.0", "first"),
    ]);
    let faults = faults_of(&body);
    let paths: Vec<&str> = faults.iter().map(|(path, _)| path.as_str()).collect();
    let expected = [
        "priority",
        "priceCents",
        "weight",
        "active",
        "dimensions.x",
        "dimensions.y",
        "dimensions.z",
        "components.0.quantity",
        "slots.0",
    ];
    assert_eq!(paths, expected, "{faults:?}");
    assert_eq!(faults[1].1, "must be a whole number");
    assert_eq!(faults[2].1, "must be a number");
}

#[test]
fn rows_are_read_in_order_and_empty_ones_left_out() {
    let body = new_box(&[
        ("components.10.skuId", "C"),
        ("components.2.quantity", "4"),
        ("components.2.skuId", "B"),
        ("components.0.skuId", ""),
        ("components.x.skuId", "D"),
        ("components.03.skuId", "E"),
        ("components.99999999999999999999.skuId", "F"),
        ("slots.1", "7"),
        ("slots.0", ""),
        ("tags.0", "a b"),
    ]);
    let expected =
        json!({"components": [{"skuId": "B", "quantity": 4}, {"skuId": "C"}], "slots": [7], "tags": ["a b"]});
    assert_eq!(body, expected);
    assert_eq!(new_box(&[("slots", "3")]), json!({"slots": [3]}), "one text is the only item");
}

#[test]
fn more_rows_than_allowed_are_rejected_as_the_api_does() {
    let rows: Vec<String> = (0..3).map(|row| format!("components.{row}")).collect();
    let names: Vec<[String; 2]> = rows.iter().map(|row| [format!("{row}.skuId"), format!("{row}.quantity")]).collect();
    let mut fields = vec![("name", "a"), ("priceCents", "1")];
    for [sku, quantity] in &names {
        fields.extend([(sku.as_str(), ID), (quantity.as_str(), "1")]);
    }
    let expected = [("components".to_owned(), "must have 0 to 2 items".to_owned())];
    assert_eq!(faults_of(&new_box(&fields)), expected);
}

#[test]
fn a_nested_object_is_there_as_soon_as_one_of_its_fields_is_filled_in() {
    let (city, line2) = (("address.city", "Springfield"), ("address.line2", ""));
    assert_eq!(new_box(&[("address.line1", ""), line2]), json!({}));
    assert_eq!(
        change(&[("address.line1", ""), line2, city]),
        json!({"address": {"line1": "", "city": "Springfield"}}),
        "line 1 is required, line 2 is not"
    );
}

#[test]
fn names_that_are_no_members_are_ignored() {
    let fields = [("nobody", "1"), ("name.first", "a"), ("dimensions.w", "1"), ("form_token", "x"), ("", "y")];
    assert_eq!(new_box(&fields), json!({"dimensions": {}}));
}

proptest! {
    #[test]
    fn a_form_is_the_request_that_its_json_is(
        name in "[a-z]{1,20}",
        note in proptest::option::of("[ -~]{1,40}"),
        priority in 0..=9_u8,
        price_cents in any::<i64>(),
        thousandths in 1..1_000_000_000_i64,
        active in any::<bool>(),
        comma in any::<bool>(),
        slots in proptest::collection::vec(any::<u32>(), 1..5),
    ) {
        let weight = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
        let number: f64 = weight.parse().unwrap();
        let mut json = json!({
            "name": name, "priority": priority, "priceCents": price_cents, "weight": number, "active": active,
            "slots": slots,
        });
        let mut texts = FieldTexts::from([
            ("name".to_owned(), name),
            ("priority".to_owned(), priority.to_string()),
            ("priceCents".to_owned(), price_cents.to_string()),
            ("active".to_owned(), active.to_string()),
            ("note".to_owned(), note.clone().unwrap_or_default()),
        ]);
        // Three digits behind a comma may be thousands: with a fourth, they are decimals.
        let typed = if comma { format!("{}0", weight.replace('.', ",")) } else { weight };
        texts.insert("weight".to_owned(), typed);
        texts.extend((0..).zip(&slots).map(|(at, slot): (usize, &u32)| (format!("slots.{at}"), slot.to_string())));
        if let Some(note) = note {
            json["note"] = json!(note);
        }
        let form = Value::Object(form_members::<NewBox>(&texts, EmptyField::Absent));
        let read = |body: &Value| read_body::<NewBox>(body.to_string().as_bytes()).unwrap();
        prop_assert_eq!(format!("{:?}", read(&form)), format!("{:?}", read(&json)));
    }
}
