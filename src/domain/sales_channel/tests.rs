#![expect(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::channel_order::MAX_VARIANT_CHARS;
use crate::testing::{Bench, id};

fn map_entry(variant: &str, sku: u32, quantity: u32) -> VariantUpdate {
    VariantUpdate { variant: variant.to_owned(), sku_id: id(sku), quantity }
}

/// Builds a sold line with the given variant ID and SKU code.
fn sold(variant: Option<&str>, code: Option<&str>) -> SoldLine {
    SoldLine {
        line_id: "1".to_owned(),
        variant: variant.map(str::to_owned),
        code: code.map(str::to_owned),
        title: "Vase by hand".to_owned(),
        quantity: 1,
        unit_price_cents: 500,
        tax_rate_bps: 0,
    }
}

fn new() -> SalesChannelCommand {
    SalesChannelCommand::Create(Box::new(NewChannel {
        kind: "csv".to_owned(),
        name: "Fair".to_owned(),
        site: None,
        currency: Some("EUR".to_owned()),
        encrypted_secret: String::new(),
        base_url: Some("https://a.example".to_owned()),
        encrypted_token: "sealed".to_owned(),
    }))
}

#[test]
fn the_map_goes_by_the_variant_then_by_its_code() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    assert_eq!(bench.tell(&mut this, id(1), &MapVariants(vec![])).unwrap_err().code, "sales_channel_not_found");
    bench.tell(&mut this, id(1), &new()).unwrap();
    bench.tell(&mut this, id(1), &MapVariants(vec![map_entry("77", 5, 1), map_entry("VASE", 6, 4)])).unwrap();
    let channel = this.clone().unwrap();
    let sku = |variant, code| channel.mapped(&sold(variant, code)).map(|one| (one.sku_id, one.quantity));
    assert_eq!(sku(Some("77"), Some("VASE")), Some((id(5), 1)));
    assert_eq!(sku(Some("78"), Some("VASE")), Some((id(6), 4)));
    assert_eq!(sku(None, Some("CUP")), None);
    // What is said again stays the same entry.
    let of_77 = sold(Some("77"), None);
    let before = channel.mapped(&of_77).unwrap().id;
    let again = bench.tell(&mut this, id(1), &MapVariants(vec![map_entry("77", 5, 2)])).unwrap();
    assert_eq!(again.rows.len(), 1);
    assert_eq!(this.as_ref().unwrap().mapped(&of_77).unwrap().id, before);
    assert!(
        bench.tell(&mut this, id(1), &MapVariants(vec![map_entry("77", 5, 2)])).unwrap().next.is_none(),
        "nothing changes"
    );
    bench.tell(&mut this, id(1), &SalesChannelRemoval::Unmap(before)).unwrap();
    assert!(this.as_ref().unwrap().mapped(&of_77).is_none());
}

#[test]
fn a_line_without_variant_and_code_is_mapped_by_its_title() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    bench.tell(&mut this, id(1), &new()).unwrap();
    let by_hand = sold(None, None);
    // As people are told that it is missing, so they map it.
    let map = MapVariants(vec![map_entry(&by_hand.primary_name(), 5, 1)]);
    bench.tell(&mut this, id(1), &map).unwrap();
    let channel = this.unwrap();
    assert_eq!(channel.mapped(&by_hand).map(|one| one.sku_id), Some(id(5)));
    for other in [sold(Some("77"), None), sold(None, Some("VASE"))] {
        assert_eq!(channel.mapped(&other), None, "what has a name of its own is not found by its title");
    }
}

#[test]
fn a_name_that_is_too_long_or_no_line_is_mapped_as_it_is_told() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    bench.tell(&mut this, id(1), &new()).unwrap();
    let titled = |title: String| SoldLine { title, ..sold(None, None) };
    let long = titled(format!(" Vase\tby\u{2028}hand, {}", "ä".repeat(300)));
    let name = long.primary_name();
    assert!(name.starts_with("Vase by hand, ää") && name.ends_with("ä…"), "{name}");
    assert_eq!(name.chars().count(), MAX_VARIANT_CHARS);
    bench.tell(&mut this, id(1), &MapVariants(vec![map_entry(&name, 5, 1), map_entry(" Cup ", 6, 1)])).unwrap();
    let channel = this.unwrap();
    let sku = |sold: &SoldLine| channel.mapped(sold).map(|one| one.sku_id);
    assert_eq!(sku(&long), Some(id(5)));
    assert_eq!(sku(&titled("Cup\n".to_owned())), Some(id(6)), "what is entered goes the same way");
    // What was kept by an earlier version was cut one character later.
    let older_name: String = long.title.trim().chars().take(200).chain(['…']).collect();
    assert_eq!(sku(&titled(older_name)), Some(id(5)));
    assert_eq!(titled("ä".repeat(MAX_VARIANT_CHARS)).primary_name(), "ä".repeat(MAX_VARIANT_CHARS));
}

#[test]
fn faults_of_a_map_are_told_together() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    bench.tell(&mut this, id(1), &new()).unwrap();
    let wrong = MapVariants(vec![map_entry("a", 5, 0), map_entry("a", 5, 1), map_entry(" ", 5, 1)]);
    let refusal = bench.tell(&mut this, id(1), &wrong).unwrap_err();
    let paths: Vec<&str> = refusal.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["variants.0.quantity", "variants.1.variant", "variants.2.variant"]);
}

#[test]
fn a_token_is_not_shown_to_another_address() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    bench.tell(&mut this, id(1), &new()).unwrap();
    assert_eq!(this.as_ref().unwrap().currency, "eur");
    let to = |url: &str| ChannelChange { base_url: Some(Some(url.to_owned())), ..ChannelChange::default() };
    bench.tell(&mut this, id(1), &SalesChannelCommand::Update(Box::new(to("https://a.example")))).unwrap();
    assert_eq!(this.as_ref().unwrap().encrypted_token, "sealed");
    bench.tell(&mut this, id(1), &SalesChannelCommand::Update(Box::new(to("https://b.example")))).unwrap();
    assert_eq!(this.as_ref().unwrap().encrypted_token, "");
    bench.tell(&mut this, id(1), &SalesChannelRemoval::Archive).unwrap();
    let late = MapVariants(vec![map_entry("a", 5, 1)]);
    assert_eq!(bench.tell(&mut this, id(1), &late).unwrap_err().code, "sales_channel_not_found");
}

#[test]
fn a_channel_takes_what_is_given_and_counts_what_changed() {
    let (mut bench, mut this) = (Bench::new(), None::<SalesChannel>);
    let created = bench.tell(&mut this, id(1), &new()).unwrap().answer.channel;
    assert_eq!((created.site.as_str(), created.currency.as_str(), created.active), ("industries", "eur", true));
    assert_eq!(bench.tell(&mut this, id(1), &new()).unwrap_err().code, "exists");
    let created_at = bench.now;
    bench.now = bench.now.plus_ms(5);
    let nothing = ChannelChange { if_version: Some(3), currency: Some("EUR".to_owned()), ..ChannelChange::default() };
    let update = SalesChannelCommand::Update(Box::new(nothing));
    assert_eq!((update.if_version(), new().if_version()), (Some(3), None));
    assert!(bench.tell(&mut this, id(1), &update).unwrap().next.is_none());
    let text = |text: &str| Some(text.to_owned());
    let change = ChannelChange {
        if_version: None,
        name: text("Market"),
        site: text("north"),
        currency: text("CHF"),
        encrypted_secret: text("sealed secret"),
        base_url: Some(None),
        encrypted_token: text("another"),
        active: Some(false),
    };
    bench.tell(&mut this, id(1), &SalesChannelCommand::Update(Box::new(change))).unwrap();
    let expected = SalesChannel {
        name: "Market".to_owned(),
        site: "north".to_owned(),
        currency: "chf".to_owned(),
        encrypted_secret: "sealed secret".to_owned(),
        base_url: None,
        encrypted_token: "another".to_owned(),
        active: false,
        updated_at: bench.now,
        ..*created
    };
    assert_eq!((this.as_ref(), expected.created_at), (Some(&expected), created_at));
}

#[test]
fn a_channel_is_at_rest_once_it_is_deleted() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    assert_eq!(
        bench.tell(&mut this, id(1), &SalesChannelRemoval::Archive).unwrap_err().code,
        "sales_channel_not_found"
    );
    bench.tell(&mut this, id(1), &new()).unwrap();
    let states = |this: Option<&SalesChannel>| this.map(|one| (one.is_archived(), one.at_rest(), one.active));
    assert_eq!(states(this.as_ref()), Some((false, false, true)));
    let unknown = SalesChannelRemoval::Unmap(id(9));
    assert!(bench.tell(&mut this, id(1), &unknown).unwrap().next.is_none());
    bench.tell(&mut this, id(1), &SalesChannelRemoval::Archive).unwrap();
    assert_eq!(states(this.as_ref()), Some((true, true, false)));
    assert!(bench.tell(&mut this, id(1), &SalesChannelRemoval::Archive).unwrap().next.is_none(), "once");
    assert_eq!(bench.tell(&mut this, id(1), &unknown).unwrap_err().code, "sales_channel_not_found");
}

#[test]
fn the_map_is_bounded_and_relies_on_the_skus_that_are_new_in_it() {
    let (bench, mut this) = (Bench::new(), None::<SalesChannel>);
    bench.tell(&mut this, id(1), &new()).unwrap();
    let channel = this.as_mut().unwrap();
    for number in 1..MAX_VARIANTS as u32 {
        let variant = number.to_string();
        let entry = Variant {
            id: id(10_000 + number),
            channel_id: id(1),
            variant: variant.clone(),
            sku_id: id(5),
            quantity: 1,
        };
        channel.variants.insert_mut(variant, Arc::new(entry));
    }
    let map = MapVariants(vec![map_entry("1", 5, 1), map_entry("7", 6, 1), map_entry("last", 5, 1)]);
    let moved = bench.tell(&mut this, id(1), &map).unwrap();
    let requirements = [(6, "variants.1.skuId"), (5, "variants.2.skuId")]
        .map(|(sku, member)| Requirement::not_deleted(Referenced::Sku, id(sku), member));
    assert_eq!((moved.rows.len(), moved.answer.variants.len()), (2, 3));
    assert_eq!(moved.requirements, requirements);
    let refusal = bench.tell(&mut this, id(1), &MapVariants(vec![map_entry("more", 5, 1)])).unwrap_err();
    assert_eq!((refusal.faults.len(), refusal.faults[0].path.as_str()), (1, "variants"));
}
