//! Files in `deploy/`: everything that they refer to exists.

mod alerts;
mod dashboard;
mod kubernetes;
mod scaling;

use std::collections::BTreeSet;

use crate::support::{App, Db};

/// Returns the names of metrics in a text: words with one of the server's two prefixes.
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

/// Checks that simulations for demos and tests are in separate programs, which are shipped with the server.
#[test]
fn the_server_holds_no_simulated_payment_processor() {
    let manifest = text_of("Cargo.toml");
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("what the server is built of");
    let (dependencies, _) = dependencies.split_once("\n[").expect("its end");
    assert!(dependencies.lines().all(|line| !line.starts_with("simulator")), "{dependencies}");
    for program in ["printfloor-demo", "printfloor-simulator"] {
        assert!(package_files().iter().any(|(source, _)| *source == format!("programs/{program}")), "{program}");
        assert!(text_of("deploy/Dockerfile").contains(&format!("target/dist/{program}")), "{program}");
    }
}

/// Returns the files of the Debian package, each with the place where it is installed.
fn package_files() -> Vec<(String, String)> {
    let list = text_of("deploy/debian/files");
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let files = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words.len() == 3 && ["644", "755"].contains(&words[2]), "{line}");
        (words[0].to_owned(), words[1].to_owned())
    });
    files.collect()
}

#[test]
fn the_package_has_what_it_names_and_the_release_is_stripped() {
    let (files, script) = (package_files(), text_of("scripts/package"));
    assert!(files.len() >= 6, "{files:?}");
    for (file, _) in &files {
        // The script builds the programs, and lets the server write what it says about itself.
        let is_made = file.strip_prefix("programs/").is_some_and(|program| script.contains(program))
            || file.starts_with("package/openapi/")
            || file.strip_prefix("package/").is_some_and(|name| script.contains(&format!("/{name}")));
        let is_there = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists();
        assert!(is_there || is_made, "{file} is neither there nor made");
    }
    // The unit starts the program from where it is installed.
    assert!(files.iter().any(|(_, place)| place == "usr/bin/printfloor"), "{files:?}");
    let manifest = text_of("Cargo.toml");
    let (_, release) = manifest.split_once("[profile.release]").expect("how a release is built");
    let (release, _) = release.split_once("\n\n").expect("its end");
    assert!(release.contains("strip = true"), "the release is not stripped");
    assert!(manifest.contains("[profile.dist]\ninherits = \"release\""), "what is handed out is not stripped");
}
