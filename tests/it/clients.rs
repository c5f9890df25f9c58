//! Clients that common generators create from the API description: they compile, and one typed call through each
//! reaches the real server. Skipped if the generators are not installed, unless all services are required.

use std::path::PathBuf;
use std::process::Command;

use crate::support::db::SERVICES;
use crate::support::{App, Db};

/// Environment variable with the path of a Python environment that contains openapi-python-client.
const PYTHON: &str = "PRINTFLOOR_TEST_PYTHON_CLIENT";

/// Environment variable with the path of a folder that contains the npm packages of the TypeScript client.
const TYPESCRIPT: &str = "PRINTFLOOR_TEST_TYPESCRIPT_CLIENT";

/// Generates a client from the description that the binary prints, and creates a material with it. `tools` is the name
/// under which the script in `tests/peers/clients` expects the path from `variable`.
async fn creates_a_material(variable: &str, script: &str, tools: &str, name: &str) {
    let Ok(path) = std::env::var(variable) else {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {variable} is not");
        eprintln!("left out: no {variable}");
        return;
    };
    let app = App::on(Db::sqlite()).start().await;
    let generated = app.folder().join("generated");
    std::fs::create_dir(&generated).unwrap();
    let description = generated.join("description.json");
    std::fs::write(&description, app.command(&["openapi", "production"], "")).unwrap();

    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/clients").join(script);
    let mut run = Command::new(script);
    run.arg("run").arg(description).arg(&app.base).arg(generated);
    run.env(tools, path).env("API_KEY", app.key.as_ref().unwrap());
    let ran = tokio::task::spawn_blocking(move || run.output().unwrap()).await.unwrap();
    let (output, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{}\n{output}\n{errors}", ran.status);
    let material = app.get(&format!("/api/inventory/materials/{}", output.trim())).await.expect(200);
    assert_eq!((material["name"].as_str(), material["quantity"].as_f64()), (Some(name), Some(1500.5)), "{material}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generated_python_client_creates_a_material() {
    creates_a_material(PYTHON, "python", "VENV", "PETG from Python").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generated_typescript_client_creates_a_material() {
    creates_a_material(TYPESCRIPT, "typescript", "TOOLS", "PETG from TypeScript").await;
}
