//! The dashboard: each query returns series with the labels that its legend uses.

use serde_json::Value;

use super::{metrics, text_of};
use crate::support::{App, Db};

/// A query of a panel.
struct Query {
    expression: String,
    /// Labels that the legend shows.
    labels: Vec<String>,
}

fn queries() -> Vec<Query> {
    let dashboard: Value = serde_json::from_str(&text_of("deploy/grafana-dashboard.json")).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let query = |target: &Value| {
        let legend = target["legendFormat"].as_str().unwrap();
        let labels = legend.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap().to_owned()).collect();
        Query { expression: target["expr"].as_str().unwrap().to_owned(), labels }
    };
    let queries: Vec<_> = targets.map(query).collect();
    assert!(queries.len() > 20, "{}", queries.len());
    queries
}

/// Returns the selector `label="value"` that follows a metric's name directly; `None` if there is none.
fn selector<'a>(expression: &'a str, metric: &str) -> Option<&'a str> {
    let (_, rest) = expression.split_once(metric)?;
    rest.strip_prefix('{')?.split('}').next()
}

#[tokio::test]
async fn every_query_of_the_dashboard_finds_samples_in_an_idle_shop() {
    let app = App::new(Db::sqlite()).await;
    // Its own request is counted from the next one on.
    app.get("/metrics").await;
    let page = app.get("/metrics").await.text;
    let samples: Vec<&str> = page.lines().filter(|line| !line.starts_with('#')).collect();
    for Query { expression, labels } in queries() {
        for metric in metrics(&expression) {
            let selector = selector(&expression, metric).unwrap_or_default();
            let is_selected = |line: &&&str| {
                line.strip_prefix(metric).is_some_and(|rest| rest.starts_with(['{', ' ']) && rest.contains(selector))
            };
            let matches: Vec<_> = samples.iter().filter(is_selected).collect();
            assert!(!matches.is_empty(), "{expression} finds no {metric} with {selector:?}");
            for label in &labels {
                assert!(matches.iter().all(|line| line.contains(&format!("{label}=\""))), "{expression}: no {label}");
            }
        }
    }
}

mod long {
    use std::collections::BTreeSet;

    use simulator::PrinterKind;
    use simulator::sink::Sink;

    use super::{Query, queries};
    use crate::api::webhooks;
    use crate::machines::{FAST, Floor};
    use crate::support::prometheus::Prometheus;
    use crate::support::waiting::until_seen;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_query_of_the_dashboard_returns_series_while_a_shop_prints() {
        let floor = Floor::new(PrinterKind::FwRest, 2, FAST, &[]).await;
        let sink = Sink::start().await.unwrap();
        webhooks::register(&floor.app, &sink, &["order.created", "order.ready"]).await;
        let Some(prometheus) = Prometheus::of(&floor.app).await else { return };
        // What rates are computed of happens between two scrapes.
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        for Query { expression, labels } in queries() {
            let series = until_seen(&format!("numbers of {expression}"), || async {
                let series = prometheus.query(&expression).await.ok_or_else(|| "no answer".to_owned())?;
                let is_number = series.iter().any(|one| one["value"][1].as_str().is_some_and(|text| text != "NaN"));
                if is_number { Ok(series) } else { Err(format!("{series:?}")) }
            })
            .await;
            for label in labels {
                assert!(
                    series.iter().all(|one| one["metric"][&label].is_string()),
                    "{expression}: no {label}: {series:?}"
                );
            }
        }
        let rules = prometheus.rules().await.unwrap();
        assert!(rules.len() > 10 && rules.iter().all(|rule| rule["health"] == "ok"), "{rules:?}");
        let states = |alert: &str| -> BTreeSet<String> {
            let named = rules.iter().filter(|rule| rule["name"] == alert);
            named.map(|rule| rule["state"].as_str().unwrap().to_owned()).collect()
        };
        for alert in ["PrintfloorDown", "PrintfloorDatabaseDown", "PrintfloorComponentDown", "PrintfloorPrinterLost"] {
            assert_eq!(states(alert), BTreeSet::from(["inactive".to_owned()]), "{alert}");
        }
    }
}
