#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;

#[test]
fn amounts_are_read_as_numbers_and_as_decimals_in_texts() {
    assert_eq!(amount(&json!(12.3456)), Some(Amount(12_346)));
    assert_eq!(amount(&json!("5.20000")), Some(Amount(5_200)));
    assert_eq!(amount(&json!(-3)), Some(Amount(-3_000)));
    for strange in [json!(null), json!("many"), json!(1e300), json!("NaN"), json!("inf"), json!([1])] {
        assert_eq!(amount(&strange), None, "{strange}");
    }
}

#[test]
fn names_are_one_line_within_bounds() {
    assert_eq!(line("PLA\nblack"), "PLA black");
    assert_eq!(line(&"x".repeat(1000)).chars().count(), MAX_NAME_CHARS);
}

#[test]
fn no_address_of_a_metadata_service_and_none_with_a_password_is_taken() {
    platform::tls::install_provider();
    let is_accepted = |url: &str| {
        let client = platform::http::lan(&platform::http::LanSettings::default());
        client.is_ok_and(|client| stock_client(StockSystem::Parts, client, url, "inv-1").is_ok())
    };
    assert!(is_accepted("http://127.0.0.1:8000/parts"));
    for url in ["http://169.254.169.254/", "ftp://127.0.0.1/", "http://me:secret@127.0.0.1/", "nowhere"] {
        assert!(!is_accepted(url), "{url}");
    }
}

#[tokio::test]
async fn a_removal_tells_what_it_moved() {
    use simulator::stock::parts::PartsSystem;

    use domain::testing::id;
    use domain::time::Timestamp;

    platform::tls::install_provider();
    let there = PartsSystem::start((std::net::Ipv4Addr::LOCALHOST, 0).into(), "inv-1").await.unwrap();
    let part = there.add_part("PLA", "g");
    let item = there.add_item(part, 100_000);
    let http = platform::http::lan(&platform::http::LanSettings::default()).unwrap();
    let client = stock_client(StockSystem::Parts, http, &there.url(), "inv-1").unwrap();
    let booking = |n: u32, delta: i64| {
        let (before, mark, at) = (Amount(100_000), Amount(100_000), Timestamp(0));
        Booking { id: id(n), item, delta: Amount(delta), before, mark, trace: None, at }
    };
    let whole = booking(1, -10_000);
    assert_eq!(client.verdict(&whole).await, Ok(BookingVerdict::NotBooked));
    assert_eq!(client.book(&whole).await, Ok(BookingVerdict::Booked));
    // Somebody there takes 80 of what was seen.
    there.edit(item, -80_000);
    let cut = booking(2, -90_000);
    assert_eq!(client.book(&cut).await, Ok(BookingVerdict::Partly(Amount(-10_000))));
    assert_eq!(client.verdict(&cut).await, Ok(BookingVerdict::Partly(Amount(-10_000))), "also when it is asked later");
    // What was booked is never said to have been refused, whatever is said to the question what it moved.
    there.edit(item, 50_000);
    let untold = booking(4, -20_000);
    there.hide_tracking(true);
    let outcome = client.book(&untold).await;
    assert!(matches!(&outcome, Err(StockError::NoAnswer(words)) if words.contains("403")), "{outcome:?}");
    there.hide_tracking(false);
    assert_eq!((client.verdict(&untold).await, there.total(part)), (Ok(BookingVerdict::Booked), 30_000));
    there.delete_item(item);
    assert!(matches!(client.verdict(&booking(3, -1)).await, Ok(BookingVerdict::Unclear(_))));
}
