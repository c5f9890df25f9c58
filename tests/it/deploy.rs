//! Files of `deploy/`: everything that they name exists.

mod alerts;
mod dashboard;

use std::collections::BTreeSet;

use crate::support::{App, Db};

/// Returns the names of metrics in a text: words with one of our two prefixes.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("printfloor_") || word.starts_with("process_")).collect()
}

#[tokio::test]
async fn every_metric_of_the_dashboard_and_the_alerts_is_shown() {
    let app = App::new(Db::sqlite()).await;
    let page = app.get("/metrics").await;
    assert_eq!(page.status, 200);
    let families: BTreeSet<&str> =
        page.text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for file in ["deploy/grafana-dashboard.json", "deploy/prometheus-alerts.yml"] {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/").to_owned() + file).unwrap();
        let named = metrics(&text);
        assert!(named.len() > 10, "{file}: {named:?}");
        for name in named {
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(families.contains(name) || families.contains(family), "{file}: there is no {name}");
        }
    }
    let dashboard = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/grafana-dashboard.json")).unwrap();
    let dashboard = bounded_json::read(&dashboard, bounded_json::ANSWER).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10));
}

/// Reads a file of the project.
pub fn text_of(file: &str) -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/").to_owned() + file).unwrap()
}

/// Returns whether the program understands this command line.
fn is_understood(line: &str) -> bool {
    <printfloor::cli::Cli as clap::Parser>::try_parse_from(line.split_whitespace()).is_ok()
}

#[test]
fn the_unit_starts_what_there_is_with_few_rights() {
    let unit = text_of("deploy/printfloor.service");
    let value = |name: &str| unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let starts = value("ExecStart").expect("a command");
    assert!(starts.starts_with("/usr/bin/printfloor ") && is_understood(starts), "{starts}");
    for (name, expected) in [
        ("DynamicUser", "yes"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateDevices", "yes"),
        ("CapabilityBoundingSet", ""),
        ("MemoryDenyWriteExecute", "yes"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}");
    }
    // The data is where the unit may write.
    assert!(starts.contains("--data /var/lib/printfloor/") && value("StateDirectory") == Some("printfloor"), "{unit}");
}

#[test]
fn containers_run_what_there_is_and_not_as_root() {
    let (image, services) = (text_of("deploy/Dockerfile"), text_of("deploy/compose.yaml"));
    let stages: Vec<_> = image.lines().filter(|line| line.starts_with("FROM ")).collect();
    assert_eq!(stages.len(), 2, "the compiler stays behind: {stages:?}");
    let last = image.rsplit("FROM ").next().unwrap();
    assert!(last.lines().any(|line| line == "USER 10001:10001"), "{last}");
    let command = last.lines().find_map(|line| line.strip_prefix("CMD ")).unwrap();
    let words = bounded_json::read(command.as_bytes(), bounded_json::ANSWER).expect("a list");
    let words: Vec<&str> = words.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert!(is_understood(&format!("printfloor {}", words.join(" "))), "{words:?}");
    let set = last.lines().filter_map(|line| line.strip_prefix("ENV ")?.split('=').next());
    let names = services.lines().map(str::trim).filter_map(|line| line.split_once(": ")).map(|(name, _)| name);
    let names = names.filter(|name| name.ends_with("_URL") || name.starts_with("PRINTFLOOR_"));
    let all: Vec<&str> = set.chain(names).collect();
    assert!(all.len() >= 3, "{all:?}");
    for name in all {
        assert!(printfloor::config::changes::key_of(name).is_some(), "{name} sets nothing");
    }
}

/// Simulations for demos and tests are in separate programs, which are shipped together with the server.
#[test]
fn the_server_holds_no_simulated_payment_processor() {
    let manifest = text_of("Cargo.toml");
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("what the server is built of");
    let (dependencies, _) = dependencies.split_once("\n[").expect("its end");
    assert!(dependencies.lines().all(|line| !line.starts_with("simulator")), "{dependencies}");
    for program in ["printfloor-demo", "printfloor-simulator"] {
        assert!(manifest.contains(&format!("[\"target/release/{program}\", \"usr/bin/\", \"755\"]")), "{program}");
        assert!(text_of("deploy/Dockerfile").contains(&format!("target/dist/{program}")), "{program}");
    }
}

#[test]
fn the_package_has_what_it_names_and_the_release_is_stripped() {
    let manifest = text_of("Cargo.toml");
    let (_, package) = manifest.split_once("[package.metadata.deb]").expect("a package");
    let (_, assets) = package.split_once("assets = [").expect("parts");
    let (assets, _) = assets.split_once("\n]").expect("their end");
    let files: Vec<&str> =
        assets.lines().filter_map(|line| line.trim().strip_prefix("[\"")?.split('"').next()).collect();
    assert!(files.len() >= 6, "{files:?}");
    let script = text_of("scripts/package");
    for file in files {
        // cargo-deb looks into the folder of its profile for what is named below target/release.
        let file = file.replace("target/release/", "target/dist/");
        let there = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).exists();
        // Of a pattern, the folder is made.
        let folder = file.split("/*").next().unwrap_or(&file);
        assert!(there || script.contains(folder), "{file} is neither there nor made");
    }
    let (_, release) = manifest.split_once("[profile.release]").expect("how a release is built");
    let (release, _) = release.split_once("\n\n").expect("its end");
    assert!(release.contains("strip = true"), "the release is not stripped");
    assert!(manifest.contains("[profile.dist]\ninherits = \"release\""), "what is handed out is not stripped");
}
