//! The insights page: figures from the API, as charts, as tables, and as a download.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::{OPERATOR, SAM, is_sound, operator};
use crate::api::{PASSWORD, sign_in, staff};
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::support::browser::Browser;
use crate::support::{App, on_both, on_sqlite};

/// Identifiers of all figures, as used in addresses, with their titles.
const FIGURES: [(&str, &str); 9] = [
    ("prints", "Prints per day"),
    ("utilisation", "Printer utilisation"),
    ("failures", "Failed prints by reason"),
    ("first-pass-yield", "First-pass yield by product"),
    ("scrap", "Scrap and cost by product"),
    ("scrap-reasons", "Bad parts by reason"),
    ("material", "Material used"),
    ("lead-time", "Order lead time"),
    ("promises", "Promises kept"),
];
/// Labels of all key figures.
const KEY_FIGURES: [&str; 9] = [
    "Prints",
    "Print time",
    "First-pass yield",
    "Failure rate",
    "Bad parts",
    "Scrap cost",
    "Promises kept",
    "Median lead time",
    "80th-percentile lead time",
];

/// Script that returns the numbers of key figures in each row, and whether the columns reach down as far as the table
/// beside them.
const ROWS_OF_TILES: &str = "(() => { const rows = Map.groupBy(document.querySelectorAll('.kpi'), at => at.offsetTop); \
    const [plot, table] = ['#prints .insight-columns', '#prints .insight-figure > :last-child'].map(part => \
    document.querySelector(part).getBoundingClientRect()); \
    return { rows: [...rows.values()].map(row => row.length), isHigh: plot.height >= Math.min(table.height, 416) - 1 }; \
    })()";

/// Returns the section of a page that shows a figure.
fn section<'a>(page: &'a str, figure: &str) -> &'a str {
    let begins = format!("<section class=\"card\" id=\"{figure}\"");
    page.split_once(&begins).unwrap_or_else(|| panic!("no {figure} in {page}")).1.split("</section>").next().unwrap()
}

/// Returns the names of what has no data, which the page folds into one line.
fn without_data(page: &str) -> Vec<&str> {
    let line = page.split_once("Nothing yet for: ").map_or("", |(_, rest)| rest.split("</p>").next().unwrap());
    line.split(", ").filter(|name| !name.is_empty()).collect()
}

on_both! {
    async fn what_was_printed_is_drawn_and_told(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let before = sam.get("/shop/insights").await;
        is_sound(&before);
        assert!(before.text.contains("No prints in this period"), "{}", before.text);
        let name = json!({"name": "=1+1, \"left\""});
        floor.app.patch(&floor.path(0, ""), &name).await.expect(200);
        let order = floor.order(2).await;
        floor.app.order_is(&order, "ready").await;

        let activity = floor.app.get("/api/insights").await.expect(200)["activity"].clone();
        assert_eq!((&activity["total"]["finished"], &activity["total"]["failed"]), (&json!(2), &json!(0)), "{activity}");
        assert_eq!(activity["total"]["failureRate"], 0.0, "{activity}");
        assert_eq!(activity["byPrinter"][0]["printerId"], floor.printers[0], "{activity}");
        let share = activity["byPrinter"][0]["utilisation"].as_f64();
        assert!(share.is_some_and(|share| (0.0..=1.0).contains(&share)), "{activity}");
        let of_days: i64 = activity["byDay"].as_array().unwrap().iter().map(|day| day["prints"].as_i64().unwrap()).sum();
        assert_eq!(of_days, 2, "{activity}");
        assert!((30..=31).contains(&activity["byDay"].as_array().unwrap().len()), "{activity}");
        let used = activity["materialUsed"][0]["amount"].as_f64().unwrap();
        assert!((used - 20.0).abs() < 1.0 && activity["materialUsed"][0]["unit"] == "g", "{activity}");
        let spread: i64 =
            activity["leadTime"]["spread"].as_array().unwrap().iter().map(|of| of["orders"].as_i64().unwrap()).sum();
        assert_eq!(activity["leadTime"]["orders"], spread, "{activity}");

        let page = sam.get("/shop/insights?days=7").await;
        is_sound(&page);
        assert!(!page.text.contains("No prints in"), "{}", page.text);
        assert!(page.text.contains("href=\"/shop/insights?days=7\" aria-current=\"true\""), "{}", page.text);
        // Each figure is compared with the span before, in which nothing was printed.
        let folded = without_data(&page.text);
        for label in KEY_FIGURES {
            let is_tile = page.text.contains(&format!("<span class=\"muted small\">{label}</span>"));
            assert_ne!(is_tile, folded.contains(&label), "{label} is shown once: {}", page.text);
        }
        assert!(folded.contains(&"Failed prints by reason"), "nothing failed: {folded:?}");
        assert_eq!(page.text.matches("No data for the previous 7 days").count(), 1, "{}", page.text);
        assert!(sam.get("/shop/insights").await.text.contains("for the previous 30 days"), "{}", page.text);
        let prints = section(&page.text, "prints");
        // The days of the order and of the shop's beginning may be two.
        let rows = prints.matches("<th scope=\"row\">").count();
        let others = format!(">{} more days without prints</p>", 7 - rows);
        assert!((1..=2).contains(&rows) && prints.contains(&others), "all other days are one line: {prints}");
        assert!(prints.contains("<rect class=\"bar\"") && prints.contains(">2</td>"), "{prints}");
        let printers = section(&page.text, "utilisation");
        assert!(printers.contains("<th scope=\"row\">=1+1, &quot;left&quot;</th>"), "{printers}");
        assert!(section(&page.text, "material").contains("PLA black"), "{}", page.text);
        // Whoever does not see a chart hears its title.
        for chart in page.text.split("<svg class=\"insight-chart").skip(1) {
            let named = chart.split_once("role=\"img\" aria-labelledby=\"").expect("a name").1.split('"').next().unwrap();
            assert!(chart.split("</svg>").next().unwrap().contains(&format!("<title id=\"{named}\">")), "{chart}");
        }

        for (figure, title) in FIGURES {
            let is_drawn = page.text.contains(&format!("<section class=\"card\" id=\"{figure}\""));
            assert_ne!(is_drawn, folded.contains(&title), "{figure} is shown once: {}", page.text);
            let table = sam.get(&format!("/shop/insights/table?figure={figure}&days=7")).await;
            assert_eq!(table.status, 200, "{figure}: {}", table.text);
            assert!(table.header("content-type").unwrap().starts_with("text/csv"), "{figure}");
            let file = table.header("content-disposition").unwrap();
            assert!(file.contains(&format!("insights-{figure}-7-days.csv")), "{file}");
        }
        let table = sam.get("/shop/insights/table?figure=utilisation").await.text;
        let rows: Vec<&str> = table.trim_start_matches('\u{feff}').split("\r\n").collect();
        assert_eq!(rows[0], "printer,utilisation,printSeconds,prints,failed,failureRate");
        assert!(rows[1].starts_with("\"'=1+1, \"\"left\"\"\",0"), "a name is no formula: {rows:?}");
        let unknown = sam.get("/shop/insights/table?figure=nothing").await;
        assert_eq!(unknown.status, 404, "{}", unknown.text);
        is_sound(&unknown);
    }
}

on_sqlite! {
    async fn what_deserves_a_look_is_named(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(1).await;
        floor.app.order_is(&order, "ready").await;
        assert!(!sam.get("/shop/insights").await.text.contains("Worth a look"), "all is well");
        let cost = json!({"unitCostCents": 2.5});
        floor.app.patch(&format!("/api/inventory/materials/{}", floor.material), &cost).await.expect(200);
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        let rejected = json!({"goodCount": 0, "reason": "layer_shift"});
        floor.app.post(&format!("/api/jobs/{job}/sign-off"), &rejected).await.expect(200);
        let page = sam.get("/shop/insights").await;
        is_sound(&page);
        for words in [
            "Worth a look",
            "has the highest scrap cost: $0.2",
            &format!("href=\"/shop/products/{}\"", floor.sku),
            "“layer shift”</a>: 1, up from none in the previous 30 days.",
        ] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
    }

    async fn an_empty_shop_says_what_to_do_next(db: Db) {
        let app = App::new(db).await;
        let sam = operator(&app).await;
        let page = sam.get("/shop/insights?days=365").await;
        is_sound(&page);
        for next in ["No printers yet", "href=\"/floor/printers/new\"", "href=\"/shop/stock\"", "href=\"/shop/products\""] {
            assert!(page.text.contains(next), "{next} in {}", page.text);
        }
        assert!(!page.text.contains("<rect"), "there is nothing to draw: {}", page.text);
        let is_empty = !page.text.contains("panel kpi") && without_data(&page.text).is_empty();
        assert!(is_empty, "the notice is enough: {}", page.text);
        let led = app.nobody().get("/shop/insights/table?figure=prints").await;
        assert_eq!(led.status, 303, "{}", led.text);
        let program = crate::api::with_role(&app, "admin").await;
        assert_eq!(program.get("/shop/insights").await.status, 403);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_fits_the_charts_into_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let order = floor.order(2).await;
    floor.app.order_is(&order, "ready").await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/shop/insights", Some(&cookie)).await;
    browser.until(&tab, "charts", "document.querySelectorAll('.insight-chart').length >= 3").await;
    for width in [720, 1280, 1920] {
        browser.window(&tab, width, 900, false).await;
        let layout = browser.eval(&tab, ROWS_OF_TILES).await;
        let rows: Vec<u64> = layout["rows"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        let alone = rows.len() > 1 && rows.contains(&1);
        assert!(!rows.is_empty() && !alone && layout["isHigh"] == true, "{layout} at {width} px");
    }
    browser.width(&tab, 360).await;
    browser.until(&tab, "the page to fit", "document.documentElement.scrollWidth <= window.innerWidth").await;
    let each = "[...document.querySelectorAll('.insight-chart')].every(chart => { const box = chart.getBoundingClientRect(); \
                return box.width > 200 && box.right <= window.innerWidth; })";
    assert_eq!(browser.eval(&tab, each).await, true, "a chart is cut off, or too small");
    let inks = "(of => of('.bar') !== of('.track'))(name => \
                getComputedStyle(document.querySelector('.insight-chart ' + name)).fill)";
    assert_eq!(browser.eval(&tab, inks).await, true, "bars have a colour of their own");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
