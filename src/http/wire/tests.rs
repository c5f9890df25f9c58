//! Tests that parsing and schema agree for each rule and type.

#![expect(clippy::unwrap_used, reason = "tests")]
use api_schema::shape::Shape;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};

use super::*;
use domain::amount::Amount;
use domain::id::Id;
use domain::refusal::Faults;
use domain::sku::{Dimensions, MachineType};
use domain::time::Timestamp;
use domain::time_span::{SpanEnd, SpanStart};

like!(WORD, "^[a-z]+$", "must be lower-case letters");

fn values() -> Vec<Value> {
    let long = |letter: &str, length| json!(letter.repeat(length));
    let texts = ["", "  ", "a", "vase-01", "-a", "usd", "usd\n", "no", "fdm_standard", "lunar", "2026-11-01"];
    let mut all: Vec<Value> = texts.map(Value::from).into();
    all.extend([long("x", 64), long("x", 65), long("é", 64), long("é", 65)]);
    all.extend(["01890a5d-ac96-774b-bcce-b302099a8061", "2026-11-01T08:00:00Z"].map(Value::from));
    all.extend([json!(null), json!(true), json!(0), json!(1), json!(-1), json!(10_000), json!(10_001), json!(2.5)]);
    all.extend([json!(0.0005), json!(0.001), json!(1.0005), json!(1e300), json!(u64::MAX), json!(i64::MIN)]);
    all.extend([json!([]), json!(["a"]), json!([1]), json!(vec!["a"; 20]), json!(vec!["a"; 21]), json!([null])]);
    all.extend([json!([long("é", 300)]), json!([long("é", 301)]), json!({}), json!({"x": 1, "y": 2, "z": 3})]);
    all.extend([json!({"x": 1, "y": 2}), json!({"x": 0, "y": 1, "z": 1}), json!({"x": 1, "y": 2, "z": 3, "w": 4})]);
    all
}

fn as_json(schema: Shape) -> Value {
    serde_json::to_value(RefOr::<Schema>::from(schema)).unwrap()
}

/// Returns the values on which parsing and schema disagree.
fn disagree<T: FromJson>(rules: &[&dyn Rule<T::Inner>]) -> Vec<Value> {
    let mut schema = as_json(request_member::<T>("it", "", rules, None).schema);
    let mut components = Components::default();
    components.add::<T>();
    for (name, shape, _) in components.into_schemas() {
        schema["components"]["schemas"][name] = as_json(shape);
    }
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
    let read = |value: &Value| {
        let mut faults = Faults::default();
        let body = json!({"it": value});
        let place = ValuePath { path: "", in_query: false };
        let mut members = Members::of(body, &place, &mut faults).unwrap();
        let read = members.read::<T>("it", rules, None).is_some();
        assert!(read || !faults.is_empty(), "{value} is not read, and nobody says why");
        faults.is_empty()
    };
    values().into_iter().filter(|value| read(value) != validator.is_valid(value)).collect()
}

#[test]
fn what_a_rule_judges_is_what_it_says() {
    let none = Vec::<Value>::new();
    assert_eq!(disagree::<String>(&[&MaxChars(64)]), none);
    assert_eq!(disagree::<Option<String>>(&[&MaxChars(64)]), none);
    assert_eq!(disagree::<Optional<Option<String>>>(&[&MaxChars(64)]), none);
    assert_eq!(disagree::<Option<String>>(&[&MaxChars(64), &SecretText]), none);
    assert_eq!(disagree::<EmptyBody>(&[]), none);
    assert_eq!(disagree::<f64>(&[]), none);
    assert_eq!(disagree::<String>(&[&&WORD]), none);
    assert_eq!(disagree::<String>(&[&COUNTRY]), none);
    assert_eq!(disagree::<String>(&[&EmailAddress]), none);
    assert_eq!(disagree::<String>(&[&NewPassword]), none);
    assert_eq!(disagree::<i64>(&[&Within(1..=10_000)]), none);
    assert_eq!(disagree::<Option<u32>>(&[&Within(1..=10_000)]), none);
    assert_eq!(disagree::<u8>(&[]), none);
    assert_eq!(disagree::<bool>(&[]), none);
    assert_eq!(disagree::<Id>(&[]), none);
    assert_eq!(disagree::<Timestamp>(&[]), none);
    assert_eq!(disagree::<SpanStart>(&[]), none);
    assert_eq!(disagree::<Option<SpanEnd>>(&[]), none);
    assert_eq!(disagree::<MachineType>(&[]), none);
    assert_eq!(disagree::<Optional<Option<MachineType>>>(&[]), none);
    assert_eq!(disagree::<Option<Dimensions>>(&[]), none);
    assert_eq!(disagree::<Vec<String>>(&[&TextList { max_items: 20, max_chars: 300 }]), none);
    assert_eq!(disagree::<Option<Vec<String>>>(&[&ItemsWithin(0..=20)]), none);
    assert_eq!(disagree::<Vec<String>>(&[&ItemsWithin(1..=20)]), none);
    assert_eq!(disagree::<Option<String>>(&[&CalendarDay]), none);
    assert_eq!(disagree::<Vec<MachineType>>(&[&OneOrMoreDistinct("machine")]), none);
    assert_eq!(disagree::<Vec<String>>(&[&OneOrMoreDistinct("text")]), none);
    assert_eq!(disagree::<JsonObject>(&[]), none);
    assert_eq!(disagree::<EmptyBody>(&[]), none);
    // What a schema cannot say: blanks; three decimals, which are not exact in floating point; the ends of 64 bits,
    // which are not exact either and stand as `format: int64`.
    assert_eq!(disagree::<String>(&[&Filled]), [json!("  ")]);
    assert_eq!(disagree::<Amount>(&[&AboveZero]), [json!(1.0005)]);
    assert_eq!(disagree::<Amount>(&[&NotNegative]), [json!(0.0005), json!(1.0005)]);
    assert_eq!(disagree::<Option<i64>>(&[&AboveZero]), [json!(1e300), json!(u64::MAX)]);
}

#[derive(api_derive::Request, Debug, Clone)]
#[api(change = ThingChange, check = check_note)]
struct NewThing {
    #[api(Filled, MaxChars(5))]
    name: String,
    #[expect(dead_code, reason = "only checked")]
    #[api(name = "type")]
    kind: MachineType,
    #[api(Within(1..=9), default = 3)]
    price_cents: i64,
    note: Optional<Option<String>>,
}

fn check_note(change: &ThingChange, faults: &mut Faults) {
    if let (Optional::Present(MachineType::LaserCutter), Optional::Present(Some(note))) = (change.kind, &change.note) {
        faults.note("note", format!("a laser has no note: {note}"));
    }
}

fn faults_of<T: Request>(body: &str) -> Vec<(String, String)> {
    let error = read_body::<T>(body.as_bytes()).err().unwrap();
    let faults = error.body()["errors"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    faults.as_array().unwrap().iter().map(|fault| (text(&fault["path"]), text(&fault["message"]))).collect()
}

#[test]
fn a_check_of_several_members_is_told_with_the_rest() {
    let faults = faults_of::<NewThing>(r#"{"name": 7, "type": "laser_cutter", "note": "x", "more": 1, "more": 2}"#);
    let paths: Vec<&str> = faults.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["more", "name", "note", "more"]);
    let faults = faults_of::<ThingChange>(r#"{"priceCents": 0, "type": "laser_cutter", "note": "x"}"#);
    assert_eq!(faults[0], ("priceCents".to_owned(), "must be from 1 to 9".to_owned()));
    assert_eq!(faults[1].0, "note");
}

#[test]
fn absent_null_and_defaults_differ() {
    let new = read_body::<NewThing>(br#"{"name": "a", "type": "fdm_large"}"#).unwrap();
    assert_eq!((new.name.as_str(), new.price_cents, new.note), ("a", 3, Optional::Absent));
    let change = read_body::<ThingChange>(br#"{"note": null}"#).unwrap();
    assert_eq!((change.price_cents, change.note), (Optional::Absent, Optional::Present(None)));
    assert!(!change.name.is_present() && !change.kind.is_present());
    assert_eq!(faults_of::<ThingChange>(r#"{"name": null}"#), [("name".to_owned(), "must not be null".to_owned())]);
    assert!(read_body::<OptionalBody<ThingChange>>(b"").is_ok());
    assert_eq!(read_body::<ThingChange>(b"").unwrap_err().code(), "malformed_json");
}

#[derive(api_derive::Request, Debug)]
struct ThingQuery {
    public: Option<bool>,
    kind: Option<MachineType>,
    id: Option<Id>,
    #[api(flatten)]
    page: crate::page::PageQuery,
}

fn query(text: &str) -> Result<ThingQuery, crate::error::ApiError> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    read_query(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[test]
fn all_faults_of_a_query_are_told_at_once() {
    let error = query("public=maybe&kind=lunar&id=7&limit=0&offset=x&size=1").unwrap_err();
    let body = error.body();
    let paths: Vec<&str> =
        body["errors"].as_array().unwrap().iter().filter_map(|fault| fault["path"].as_str()).collect();
    assert_eq!(paths, ["size", "public", "kind", "id", "limit", "offset"]);
    assert_eq!(
        body["errors"][0]["message"],
        "is not a valid parameter; valid parameters are public, kind, id, limit, offset"
    );
    assert_eq!(error.code(), "validation_failed");
    assert_eq!(query("q=a\0").unwrap_err().code(), "malformed_query");
}

#[test]
fn the_first_of_a_repeated_parameter_counts_and_an_empty_one_is_absent() {
    let actual = query("public=true&public=false&kind=").unwrap();
    assert_eq!((actual.public, actual.kind, actual.id), (Some(true), None, None));
    let page: store::queries::Page = actual.page.into();
    assert_eq!((page.limit, page.offset), (50, 0));
    let body = query("limit=&offset=&kind=").unwrap_err().body();
    let faults = body["errors"].as_array().unwrap().iter().map(|fault| (&fault["path"], &fault["message"]));
    let number = json!("must be a whole number");
    assert_eq!(faults.collect::<Vec<_>>(), [(&json!("limit"), &number), (&json!("offset"), &number)]);
}
