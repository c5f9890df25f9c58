//! Prometheus and promtool, both of Debian's package.

use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::client::http;
use super::db::SERVICES;
use super::ports::free_port;
use super::{App, until};

/// Environment variable that names the folder with both programs; `scripts/test` sets it.
const FOLDER: &str = "PRINTFLOOR_TEST_PROMETHEUS";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/prometheus");
/// File with the alert rules that Prometheus evaluates.
const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/prometheus-alerts.yml");

/// Returns the folder with the programs; `None` if it is not set and services are not required.
fn folder() -> Option<String> {
    let folder = std::env::var(FOLDER).ok();
    if folder.is_none() {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {FOLDER} is not");
        eprintln!("left out: no {FOLDER}");
    }
    folder
}

/// Runs promtool, which must succeed, and returns its output; `None` if promtool is not installed.
pub fn promtool(arguments: &[&str]) -> Option<String> {
    let ran = Command::new(SCRIPT).args(["promtool", &folder()?]).args(arguments).output().unwrap();
    let output = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{output}");
    Some(output)
}

/// A Prometheus server that scrapes one server every second and evaluates the alert rules; stopped when dropped.
pub struct Prometheus {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl Prometheus {
    /// Starts Prometheus with an admin's key for the server, and waits for the first scrape; `None` if it is not
    /// installed.
    pub async fn of(app: &App) -> Option<Self> {
        let programs = folder()?;
        let (port, folder) =
            (free_port(), tempfile::Builder::new().prefix("printfloor-prometheus-").tempdir().unwrap());
        let target = app.base.strip_prefix("http://").unwrap();
        let settings = format!(
            "global: {{ scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }}\n\
             rule_files: [{RULES}]\n\
             scrape_configs:\n\
             - job_name: printfloor\n  \
               authorization: {{ credentials: {} }}\n  \
               static_configs: [{{ targets: [\"{target}\"] }}]\n",
            app.key.as_ref().unwrap()
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, settings).unwrap();
        let child = Command::new(SCRIPT)
            .args(["serve", &programs])
            .arg(file)
            .arg(port.to_string())
            .arg(folder.path().join("data"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let prometheus = Self { child, url: format!("http://127.0.0.1:{port}"), _folder: folder };
        until("the first scrape", || async {
            let up = prometheus.query("up").await?;
            (up.first()?["value"][1] == "1").then_some(())
        })
        .await;
        Some(prometheus)
    }

    /// Evaluates a query; returns its series, each with `metric` and `value`, or `None` if Prometheus does not respond.
    pub async fn query(&self, expression: &str) -> Option<Vec<Value>> {
        let body = self.ask("query", &[("query", expression)]).await?;
        Some(body["data"]["result"].as_array()?.clone())
    }

    /// Returns the rules that Prometheus evaluates, each with `name`, `health` and `state`; `None` if it does not
    /// respond.
    pub async fn rules(&self) -> Option<Vec<Value>> {
        let body = self.ask("rules", &[]).await?;
        let groups = body["data"]["groups"].as_array()?.iter();
        Some(groups.filter_map(|group| group["rules"].as_array()).flatten().cloned().collect())
    }

    async fn ask(&self, what: &str, query: &[(&str, &str)]) -> Option<Value> {
        let answer = http().get(format!("{}/api/v1/{what}", self.url)).query(query).send().await.ok()?;
        let (status, text) = (answer.status(), answer.text().await.ok()?);
        assert!(status.is_success() || status.as_u16() == 503, "{status}: {text}");
        serde_json::from_str(&text).ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
