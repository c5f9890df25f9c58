//! What `deploy/` offers to operators names things that there are.

use std::collections::BTreeSet;

use crate::support::{App, Db};

/// The names of metrics in a text: words with one of our two prefixes.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("printfloor_") || word.starts_with("process_")).collect()
}

#[tokio::test]
async fn every_metric_of_the_dashboard_and_the_alerts_is_shown() {
    let app = App::new(Db::sqlite()).await;
    let page = app.get("/metrics").await;
    assert_eq!(page.status, 200);
    let shown: BTreeSet<&str> =
        page.text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for file in ["deploy/grafana-dashboard.json", "deploy/prometheus-alerts.yml"] {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/").to_owned() + file).unwrap();
        let named = metrics(&text);
        assert!(named.len() > 10, "{file}: {named:?}");
        for name in named {
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(shown.contains(name) || shown.contains(family), "{file}: there is no {name}");
        }
    }
    let dashboard = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/grafana-dashboard.json")).unwrap();
    let dashboard = bounded_json::read(&dashboard, bounded_json::ANSWER).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10));
}
