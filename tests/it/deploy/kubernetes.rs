//! Kubernetes manifests: they are valid against its schemas, and use only settings, commands and paths that exist.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use printfloor::config::changes::key_of;

use super::{is_understood, text_of};
use crate::support::db::SERVICES;

/// Environment variable with the path of a Python environment that contains kubernetes-validate; `scripts/test` sets
/// it.
const VENV: &str = "PRINTFLOOR_TEST_KUBERNETES_VALIDATE";
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/kubernetes/shop");

fn manifest(name: &str) -> String {
    text_of(&format!("deploy/kubernetes/shop/{name}"))
}

/// Returns the values of a key on all lines that have it.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let lines = text.lines().map(|line| line.trim_start_matches(['-', ' ']));
    lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim)).collect()
}

/// Returns the items of a list in brackets.
fn list(text: &str) -> Vec<&str> {
    text.trim_matches(['[', ']']).split(", ").collect()
}

#[test]
fn manifests_fit_the_schemas_of_kubernetes() {
    let Ok(venv) = std::env::var(VENV) else {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {VENV} is not");
        eprintln!("left out: no {VENV}");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/kubernetes-validate");
    let checked = Command::new(script).args(["check", &venv, FOLDER]).output().unwrap();
    let output = format!("{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
    assert!(checked.status.success(), "{output}");
    for kind in ["statefulset", "service", "configmap", "networkpolicy", "poddisruptionbudget", "namespace"] {
        assert!(output.contains(&format!("passed for resource {kind}/")), "{kind} in {output}");
    }
}

#[test]
fn every_manifest_is_part_of_the_whole() {
    let whole = manifest("kustomization.yaml");
    let named: BTreeSet<_> = whole
        .lines()
        .filter_map(|line| line.strip_prefix("  - "))
        .filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "yaml"))
        .collect();
    let names: Vec<String> =
        Path::new(FOLDER).read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let others: BTreeSet<_> = names.iter().map(String::as_str).filter(|name| *name != "kustomization.yaml").collect();
    assert_eq!(named, others);
}

#[test]
fn pods_are_set_up_with_what_there_is() {
    let (servers, settings, image) =
        (manifest("servers.yaml"), manifest("settings.yaml"), text_of("deploy/Dockerfile"));
    let (_, set) = settings.split_once("\ndata:\n").unwrap();
    let lines = set.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let set: BTreeSet<_> = lines.filter_map(|line| line.split(": ").next()).collect();
    let secrets: BTreeSet<_> =
        values(&servers, "name").into_iter().filter(|name| !name.contains(char::is_lowercase)).collect();
    assert!(set.len() >= 8 && secrets.len() >= 5, "{set:?}, {secrets:?}");
    assert!(set.is_disjoint(&secrets), "{set:?}, {secrets:?}");
    for name in set.iter().chain(&secrets) {
        assert!(*name == "PRINTFLOOR_ENV" || key_of(name).is_some(), "{name} sets nothing");
    }
    // Secrets are named, never written down.
    for name in &secrets {
        assert!(servers.contains(&format!("secretKeyRef: {{ name: printfloor-secrets, key: {name} }}")), "{name}");
    }
    let arguments = list(values(&servers, "args")[0]).join(" ");
    assert!(is_understood(&format!("printfloor {arguments}")), "{arguments}");
    let end = values(&servers, "command").into_iter().find(|command| command.contains("handover")).unwrap();
    let (handover, wait) = end.trim_start_matches("[sh, -c, ").split_once(" && ").expect("a wait for the end");
    assert!(is_understood(handover), "{handover}");
    assert!(wait.starts_with("exec sleep "), "{wait}");
    let folder = |command: &str| command.split("--data ").nth(1).unwrap().to_owned();
    assert_eq!(folder(handover), folder(&arguments), "handed over is what was started");
    let user = image.lines().find_map(|line| line.strip_prefix("USER ")).unwrap().split(':').next().unwrap();
    assert_eq!(values(&servers, "runAsUser"), [user]);
    assert!(image.contains(&format!("EXPOSE {}\n", values(&servers, "containerPort")[0])));
}

#[test]
fn a_cell_changes_settings_that_every_shop_has() {
    let (cell, settings) = (text_of("deploy/kubernetes/cells/north/kustomization.yaml"), manifest("settings.yaml"));
    let lines: Vec<_> = cell.lines().map(str::trim).filter(|line| line.starts_with("PRINTFLOOR_")).collect();
    assert!(lines.len() >= 3, "{lines:?}");
    for line in lines {
        let name = line.split(": ").next().unwrap();
        assert!(settings.contains(&format!("\n  {name}: ")), "{name} is in no shop");
        assert!(!settings.contains(line), "{name} is as in every shop");
    }
    // The rule that it changes is that of the printers.
    let egress = manifest("network.yaml");
    let (_, egress) = egress.split_once("  egress:\n").unwrap();
    let third = egress.split("\n    - to:\n").nth(2).unwrap();
    assert!(cell.contains("/spec/egress/2/to/0/ipBlock/cidr") && third.contains("192.168.40.0/24"), "{third}");
}

/// Checks the probes. A standby server responds 503 at `/readyz`, so a liveness probe that used this path would restart
/// it again and again.
#[test]
fn only_readiness_depends_on_the_lead() {
    let servers = manifest("servers.yaml");
    for (probe, path) in [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")] {
        let (_, rest) = servers.split_once(&format!("{probe}:\n")).expect("a probe");
        let request = rest.lines().next().unwrap().trim();
        assert_eq!(request, format!("httpGet: {{ path: {path}, port: http }}"), "{probe}");
    }
    // A rolling update would wait for the standby to be ready.
    assert!(servers.contains("type: OnDelete") && servers.contains("podManagementPolicy: Parallel"));
}

#[test]
fn pods_have_no_rights() {
    let servers = manifest("servers.yaml");
    for (key, value) in [
        ("runAsNonRoot", "true"),
        ("allowPrivilegeEscalation", "false"),
        ("readOnlyRootFilesystem", "true"),
        ("automountServiceAccountToken", "false"),
        ("drop", "[ALL]"),
    ] {
        assert_eq!(values(&servers, key), [value], "{key}");
    }
    assert!(servers.contains("seccompProfile:\n          type: RuntimeDefault"));
    assert_eq!(values(&manifest("namespace.yaml"), "pod-security.kubernetes.io/enforce"), ["restricted"]);
}
