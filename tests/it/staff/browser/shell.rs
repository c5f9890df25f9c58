//! The shell around the pages in a real browser: the search with its keyboard shortcuts, the connection indicator, and
//! the navigation on a phone.

use serde_json::json;

use super::floor;
use crate::support::browser::Browser;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_finds_the_search_by_keys_and_every_page_on_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    floor.app.patch(&floor.path(0, ""), &json!({"name": "Curie"})).await.expect(200);
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    let live = "(at => !at.hidden && at.textContent === 'Live')(document.getElementById('online'))";
    browser.until(&tab, "the stream to be open", live).await;
    let pressed = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))";
    browser.eval(&tab, pressed).await;
    assert_eq!(browser.eval(&tab, "document.activeElement.id").await, "site-search");
    // An exact name opens its page; otherwise, the results are shown.
    browser.write(&tab, "curie").await;
    browser.strike(&tab, "Enter").await;
    assert_eq!(browser.path(&tab).await, format!("/floor/printers/{}", floor.printers[0]));
    browser.eval(&tab, pressed).await;
    browser.write(&tab, "cur").await;
    browser.strike(&tab, "Enter").await;
    assert_eq!(browser.path(&tab).await, "/shop/search?q=cur");
    browser.sees(&tab, "All matching printers").await;
    browser.press(&tab, "Curie").await;
    assert_eq!(browser.path(&tab).await, format!("/floor/printers/{}", floor.printers[0]));
    // A sprite that the policy refused, or that did not load, has no size.
    let icons = "document.querySelector('.rail .icon use').getBBox().width > 0";
    browser.until(&tab, "the icons to be there", icons).await;
    let type_face = "document.fonts.check('14px \"Inter Variable\"')";
    browser.until(&tab, "the font to be there", type_face).await;

    browser.width(&tab, 390).await;
    let folded = "!document.querySelector('.rail a').checkVisibility()";
    browser.until(&tab, "the navigation to be folded", folded).await;
    browser.press(&tab, "More").await;
    browser.press(&tab, "Insights").await;
    assert_eq!(browser.path(&tab).await, "/shop/insights");
    assert_eq!(browser.eval(&tab, folded).await, true, "the next page has its navigation folded");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
