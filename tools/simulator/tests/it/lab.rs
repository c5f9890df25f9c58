//! Test harness: one printer, and a plain HTTP client.

use std::time::Duration;

use reqwest::{
    Client, Method, RequestBuilder, StatusCode,
    multipart::{Form, Part},
};
use serde_json::{Value, json};
use simulator::{
    Fleet, FleetOptions, PrinterFaults, PrinterKind, SimPrinter,
    gcode::gcode,
    printer::{LogEntry, PhysicalEvent},
};

/// Maximum time to wait in these tests.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Lab {
    pub printer: SimPrinter,
    pub client: Client,
    pub base: String,
}

/// Starts a printer of the given kind that is `speed` times as fast as a real one.
pub async fn lab(kind: PrinterKind, speed: f64) -> Lab {
    let fleet = Fleet::start(FleetOptions { speed, seed: 7, ..FleetOptions::of(kind, 1) }).await.unwrap();
    let printer = fleet.printers[0].clone();
    Lab {
        base: printer.base_url.clone(),
        printer,
        client: Client::builder().no_proxy().timeout(PATIENCE).build().unwrap(),
    }
}

pub async fn fw(speed: f64) -> Lab {
    lab(PrinterKind::FwRest, speed).await
}

pub async fn octo(speed: f64) -> Lab {
    lab(PrinterKind::ServerRest, speed).await
}

impl Lab {
    /// Builds a request with the correct key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).header("X-Api-Key", &self.printer.api_key)
    }

    pub async fn send(&self, request: RequestBuilder) -> (StatusCode, Value) {
        let response = request.send().await.unwrap();
        let status = response.status();
        let body = response.bytes().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str) -> (StatusCode, Value) {
        self.send(self.request(Method::POST, path)).await
    }

    pub async fn post_json(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    pub async fn delete(&self, path: &str) -> (StatusCode, Value) {
        self.send(self.request(Method::DELETE, path)).await
    }

    fn upload_path(&self) -> &'static str {
        if self.printer.kind == PrinterKind::FwRest { "/server/files/upload" } else { "/api/files/local" }
    }

    pub fn upload_request(&self, name: &str, contents: Vec<u8>, fields: &[(&'static str, &str)]) -> RequestBuilder {
        let mut form = Form::new();
        for (field, value) in fields {
            form = form.text(*field, (*value).to_owned());
        }
        let form = form.part("file", Part::bytes(contents).file_name(name.to_owned()));
        self.request(Method::POST, self.upload_path()).multipart(form)
    }

    /// Uploads a print that takes the given number of seconds.
    pub async fn upload(&self, name: &str, seconds: u64) -> (StatusCode, Value) {
        self.send(self.upload_request(name, gcode(name, seconds, 5.0, 1000.0).into_bytes(), &[])).await
    }

    /// Starts a print of a stored file with the protocol's own call.
    pub async fn start(&self, name: &str) -> (StatusCode, Value) {
        if self.printer.kind == PrinterKind::FwRest {
            self.post(&format!("/printer/print/start?filename={name}")).await
        } else {
            self.post_json(&format!("/api/files/local/{name}"), json!({"command": "select", "print": true})).await
        }
    }

    /// Deletes a stored file with the protocol's own call.
    pub async fn remove(&self, name: &str) -> StatusCode {
        let root = if self.printer.kind == PrinterKind::FwRest { "/server/files/gcodes" } else { "/api/files/local" };
        self.delete(&format!("{root}/{name}")).await.0
    }

    pub fn faults(&self, change: impl FnOnce(&mut PrinterFaults)) {
        self.printer.handle.update_faults(change);
    }

    /// Waits until the log contains a matching event.
    pub async fn logged(&self, condition: impl Fn(&PhysicalEvent) -> bool) -> Vec<LogEntry> {
        let is_logged = |log: &[LogEntry]| log.iter().any(|entry| condition(&entry.what));
        self.printer.handle.wait_for_log(is_logged, PATIENCE).await.unwrap()
    }

    pub async fn finished(&self) {
        self.logged(|what| matches!(what, PhysicalEvent::Finished { .. })).await;
    }

    pub fn starts(&self, name: &str) -> usize {
        self.printer.handle.starts_of(name)
    }

    /// Returns a Moonraker printer's `print_stats`.
    pub async fn print_stats(&self) -> Value {
        self.get("/printer/objects/query?print_stats").await.1["result"]["status"]["print_stats"].clone()
    }

    /// Returns an `OctoPrint` printer's `/api/job`.
    pub async fn job(&self) -> Value {
        self.get("/api/job").await.1
    }
}
