//! Branding of the pages for customers: they show the shop's name, logo, colour and contact details; pictures are
//! visible only to the customer they belong to.

use super::{is_sound, ordered};
use crate::billing::customer;
use crate::support::{App, Db};

const ANN: &str = "ann@example.org";

#[tokio::test]
async fn each_page_has_the_name_colour_and_contact_of_the_shop() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_INVOICES__SELLER_NAME", "Nordlicht & Prints")
        .env("PRINTFLOOR_INVOICES__SELLER_EMAIL", "hello@nordlicht.example")
        .env("PRINTFLOOR_PDF__ACCENT_COLOR", "#0f766e")
        .start()
        .await;
    let (ann, nobody) = (customer(&app, ANN).await, app.nobody());
    let order = ordered(&app, ANN).await;
    for (client, path) in
        [(&ann, "/orders".to_owned()), (&ann, format!("/orders/{order}")), (&nobody, "/sign-in".to_owned())]
    {
        let page = client.get(&path).await;
        is_sound(&page);
        for part in ["Nordlicht &amp; Prints", "href=\"mailto:hello@nordlicht.example\"", "/brand/style.css?0f766e"] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        assert!(!page.text.contains("/brand/logo"), "{}", page.text);
    }
    let style = nobody.get("/brand/style.css?0f766e").await;
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(style.text.contains("--accent:#0f766e;--accent-ink:#ffffff"), "{}", style.text);
    assert_eq!(nobody.get("/brand/logo").await.status, 404);
}

#[tokio::test]
async fn the_picture_of_an_item_is_for_its_customer_alone() {
    let app = App::new(Db::sqlite()).await;
    let (ann, bob) = (customer(&app, ANN).await, customer(&app, "bob@example.org").await);
    let path = format!("/orders/{}", ordered(&app, ANN).await);
    let picture = format!("{path}/pictures/0");
    for page in [path.as_str(), "/orders"] {
        let page = ann.get(page).await;
        assert!(page.text.contains(&format!("src=\"{picture}\"")), "{}", page.text);
    }
    let own = ann.get(&picture).await;
    assert_eq!((own.status, own.header("content-type")), (200, Some("image/png")));
    assert_eq!(bob.get(&picture).await.status, 403);
    assert_eq!(app.nobody().get(&picture).await.status, 303);
    for nothing in ["1", "-1", "x"] {
        assert_eq!(ann.get(&format!("{path}/pictures/{nothing}")).await.status, 404, "{nothing}");
    }
}

/// Encodes a red PNG of 2 × 2 pixels.
fn red_png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[200_u8, 30, 30].repeat(4)).unwrap();
    writer.finish().unwrap();
    bytes
}

#[tokio::test]
async fn the_logo_of_the_settings_is_on_each_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logo.png");
    std::fs::write(&path, red_png()).unwrap();
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_INVOICES__SELLER_NAME", "Nordlicht Prints")
        .env("PRINTFLOOR_PDF__LOGO_FILE", path.display())
        .start()
        .await;
    let page = app.nobody().get("/sign-in").await;
    is_sound(&page);
    assert!(page.text.contains("src=\"/brand/logo\" alt=\"Nordlicht Prints\""), "{}", page.text);
    let logo = app.nobody().get("/brand/logo").await;
    assert_eq!((logo.status, logo.header("content-type")), (200, Some("image/png")));
}
