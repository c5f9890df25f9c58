//! API responses about a shop: all lists, and everything in them. Later versions may add to a response, but must keep
//! everything that an earlier one contained.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::support::App;
use crate::support::contract::CONTRACT;

/// Lists of the API.
const LISTS: [&str; 19] = [
    "/api/accounting/postings",
    "/api/audit-log",
    "/api/auth/api-keys",
    "/api/channel-orders",
    "/api/custom-requests",
    "/api/customers",
    "/api/exports",
    "/api/files",
    PRINTERS,
    "/api/inventory/materials",
    "/api/invoices",
    "/api/jobs",
    "/api/orders",
    "/api/payments",
    "/api/payments/unmatched",
    "/api/quotes",
    "/api/sales-channels",
    "/api/skus",
    "/api/users",
];
const ENDPOINTS: &str = "/api/webhooks/endpoints";
const PRINTERS: &str = "/api/printers";
/// Last part of the path of an order's history.
const TIMELINE: &str = "timeline";

/// Lists that belong to an entry of another list.
const SUBLISTS: [(&str, &str); 6] = [
    ("/api/inventory/materials", "movements"),
    ("/api/orders", TIMELINE),
    (PRINTERS, "attempts"),
    (PRINTERS, "maintenance-log"),
    (PRINTERS, "reminders"),
    (ENDPOINTS, "deliveries"),
];

/// Paths of other responses.
const SINGLE: [&str; 3] =
    ["/api/invoices/numbering", "/api/events?event=order.paid&limit=200", "/api/events?event=order.shipped&limit=200"];

/// Lists that a start may extend.
const GROWING: [&str; 1] = ["/api/audit-log"];

/// Members that depend on the time, the floor or the last request.
const VOLATILE: [&str; 9] = [
    "expectedAt",
    "lastUsedAt",
    "progress",
    "remainingSeconds",
    "timing",
    "updatedAt",
    "version",
    "waitingCauses",
    "waitingReason",
];

/// Members of a printer that do not depend on its status.
const OF_PRINTERS: [&str; 9] =
    ["autoClear", "baseUrl", "buildVolume", "id", "location", "machineType", "name", "tags", "type"];

/// Answers by their path.
pub type Answers = BTreeMap<String, Value>;

fn is_list(path: &str) -> bool {
    LISTS.contains(&path) || path == ENDPOINTS || SUBLISTS.iter().any(|(_, name)| path.ends_with(&format!("/{name}")))
}

/// Reads all lists and all entries in them.
pub async fn read_all(app: &App) -> Answers {
    let mut answers = Answers::new();
    for path in LISTS.into_iter().chain([ENDPOINTS]) {
        let list = read(app, path).await;
        let is_served = |route: &str| CONTRACT.served.iter().any(|one| one.method == "GET" && one.path == route);
        let ids: Vec<String> = items(&list).filter_map(|item| item["id"].as_str().map(str::to_owned)).collect();
        let sublists = SUBLISTS.iter().filter(|(of, _)| *of == path);
        let mut routes: Vec<String> = sublists.map(|(_, name)| format!("/{name}")).collect();
        if path != PRINTERS && is_served(&format!("{path}/{{id}}")) {
            routes.push(String::new());
        }
        for (id, route) in ids.iter().flat_map(|id| routes.iter().map(move |route| (id, route))) {
            let path = format!("{path}/{id}{route}");
            let answer = read(app, &path).await;
            answers.insert(path, answer);
        }
        answers.insert(path.to_owned(), list);
    }
    for path in SINGLE {
        answers.insert(path.to_owned(), read(app, path).await);
    }
    answers
}

/// Reads one response, without volatile members; of a list, reads all pages.
pub async fn read(app: &App, path: &str) -> Value {
    let mut body = if is_list(path) { whole_list(app, path).await } else { app.get(path).await.expect(200) };
    if path == PRINTERS {
        for printer in items_mut(&mut body) {
            printer.as_object_mut().unwrap().retain(|name, _| OF_PRINTERS.contains(&name.as_str()));
        }
    }
    strip(&mut body);
    // Links lead to the address at which the server listens now.
    serde_json::from_str(&body.to_string().replace(&app.base, "http://shop.invalid")).unwrap()
}

async fn whole_list(app: &App, path: &str) -> Value {
    let mut whole = app.get(&format!("{path}?limit=200")).await.expect(200);
    while whole["pagination"]["hasMore"] == true {
        let next = format!("{path}?limit=200&offset={}", items(&whole).count());
        let page = app.get(&next).await.expect(200);
        let member = list_member(&whole);
        whole[&member].as_array_mut().unwrap().extend(items(&page).cloned());
        whole["pagination"] = page["pagination"].clone();
    }
    if path.ends_with(TIMELINE) {
        leave_out_printers(&mut whole);
    }
    let total = whole["pagination"]["total"].take();
    whole["pagination"] = if GROWING.contains(&path) { json!({}) } else { json!({ "total": total }) };
    whole
}

/// Removes the events about printers from the history of an order, and from their number: the recorded printers are
/// gone, which the server may notice while the history is read.
fn leave_out_printers(timeline: &mut Value) {
    let total = timeline["pagination"]["total"].as_u64().unwrap();
    let events = timeline["timeline"].as_array_mut().unwrap();
    let before = events.len();
    events.retain(|event| event["subject"]["kind"] != "printer");
    timeline["pagination"]["total"] = json!(total - (before - events.len()) as u64);
}

/// Returns the name of the member with the items of a list.
fn list_member(list: &Value) -> String {
    let member = list.as_object().unwrap().iter().find(|(_, value)| value.is_array());
    member.unwrap_or_else(|| panic!("no list: {list}")).0.clone()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list[list_member(list)].as_array().unwrap().iter()
}

fn items_mut(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    let member = list_member(list);
    list[&member].as_array_mut().unwrap().iter_mut()
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns the parts of the responses that are the same in both readings.
pub fn common_answers(first: &Answers, second: &Answers) -> Answers {
    let common = |(path, answer): (&String, &Value)| Some((path.clone(), common(answer, second.get(path)?)?));
    first.iter().filter_map(common).collect()
}

fn common(first: &Value, second: &Value) -> Option<Value> {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            let both = first.iter().filter_map(|(name, value)| Some((name.clone(), common(value, second.get(name)?)?)));
            Some(Value::Object(both.collect::<Map<_, _>>()))
        }
        (Value::Array(all), Value::Array(others)) => {
            if all.len() != others.len() && all.iter().all(|item| item["id"].is_null()) {
                return None;
            }
            let pairs = all.iter().enumerate().filter_map(|(at, item)| Some((item, counterpart(item, at, others)?)));
            pairs.map(|(item, other)| common(item, other)).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => (first == second).then(|| first.clone()),
    }
}

/// Returns the entry of another list that corresponds to this one: by ID or, without IDs, by index.
fn counterpart<'a>(item: &Value, at: usize, others: &'a [Value]) -> Option<&'a Value> {
    match item["id"].as_str() {
        Some(id) => others.iter().find(|other| other["id"] == id),
        None => others.get(at),
    }
}

/// Lists everything in an earlier response that is missing from the current one.
pub fn losses(path: &str, earlier: &Value, now: &Value) -> Vec<String> {
    match (earlier, now) {
        (Value::Object(earlier), Value::Object(now)) => {
            let of_member = |(name, value): (&String, &Value)| {
                losses(&format!("{path} .{name}"), value, now.get(name).unwrap_or(&Value::Null))
            };
            earlier.iter().flat_map(of_member).collect()
        }
        (Value::Array(earlier), Value::Array(now)) => {
            let of_item = |(at, item): (usize, &Value)| match counterpart(item, at, now) {
                Some(other) => losses(&format!("{path} [{at}]"), item, other),
                None => vec![format!("{path} [{at}]: {item} is gone")],
            };
            let mut all: Vec<String> = earlier.iter().enumerate().flat_map(of_item).collect();
            let has_ids = earlier.iter().any(|item| !item["id"].is_null());
            if now.len() > earlier.len() && !has_ids && !earlier.is_empty() {
                all.push(format!("{path}: {} items instead of {}", now.len(), earlier.len()));
            }
            all
        }
        _ if earlier == now => Vec::new(),
        _ => vec![format!("{path}: {now} instead of {earlier}")],
    }
}

#[test]
fn a_loss_is_found_and_an_addition_is_none() {
    let earlier = json!({"orders": [{"id": "a", "lines": [1, 2]}, {"id": "b", "notes": null}], "total": 2});
    let more =
        json!({"orders": [{"id": "c"}, {"id": "b", "notes": null}, {"id": "a", "lines": [1, 2], "x": 1}], "total": 2});
    assert_eq!(losses("", &earlier, &more), [""; 0]);
    for (path, value) in [
        ("/orders/0/id", json!("c")),
        ("/orders/0/lines", json!([1])),
        ("/orders/0/lines", json!([1, 2, 3])),
        ("/orders/0/lines/1", json!("2")),
        ("/orders/1/notes", json!("x")),
        ("/total", json!(3)),
    ] {
        let mut other = earlier.clone();
        *other.pointer_mut(path).unwrap() = value;
        assert_eq!(losses("", &earlier, &other).len(), 1, "{path}: {other}");
    }
    let answers = |value: Value| Answers::from([("/api/orders".to_owned(), value)]);
    let other = json!({"orders": [{"id": "b", "notes": "x"}, {"id": "a", "lines": [1, 2]}], "total": 3});
    let both = common_answers(&answers(earlier), &answers(other));
    assert_eq!(both["/api/orders"], json!({"orders": [{"id": "a", "lines": [1, 2]}, {"id": "b"}]}));
}
