//! Calls by their JSON-RPC names, shared by HTTP and WebSocket.

use serde_json::{Value, json};

use super::{MoonrakerError, MoonrakerHost, RpcParams, files, history, objects};
use crate::{
    faults::HostDisconnect,
    printer::{CommandError, Controller, Machine, machine::SHUTDOWN_BY_REQUEST},
};

/// Returns Klipper's state and message, as Moonraker reports them.
pub(super) fn klippy(machine: &Machine) -> (&'static str, String) {
    match machine.controller() {
        Controller::Ready => ("ready", "Printer is ready".to_owned()),
        Controller::Starting => (
            "startup",
            "Printer is not ready\nThe klippy host software is attempting to connect.  Please\nretry in a few moments.\n".to_owned(),
        ),
        Controller::Halted { message } => (
            "shutdown",
            format!(
                "{message}\nOnce the underlying issue is corrected, use the\n\"FIRMWARE_RESTART\" command to reset the firmware, reload the\nconfig, and restart the host software.\nPrinter is shutdown\n"
            ),
        ),
        Controller::Closed | Controller::Away(_) => ("disconnected", "Klippy Host not connected".to_owned()),
    }
}

/// Checks that Klipper's own calls are available. They exist only once Klipper has connected; after that, they fail
/// with 503 while Klipper is disconnected.
fn require_klippy(machine: &Machine) -> Result<(), MoonrakerError> {
    match machine.controller() {
        Controller::Away(HostDisconnect::NeverConnected) => Err(MoonrakerError::new(404, "Not Found")),
        _ => require_connected(machine),
    }
}

fn require_connected(machine: &Machine) -> Result<(), MoonrakerError> {
    match machine.controller() {
        Controller::Away(_) | Controller::Closed => Err(MoonrakerError::new(503, "Klippy Host not connected")),
        _ => Ok(()),
    }
}

pub(super) fn text<'a>(params: &'a RpcParams, name: &str) -> Result<&'a str, MoonrakerError> {
    params
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| MoonrakerError::new(400, format!("No data for argument: {name}")))
}

impl MoonrakerHost {
    /// Executes one call and returns its result.
    pub(super) async fn call(&self, method: &str, params: &RpcParams) -> Result<Value, MoonrakerError> {
        match method {
            "server.info" => Ok(self.server_info()),
            "server.files.list" => Ok(self.printer.with(files::list)),
            "server.files.get_directory" => Ok(json!({"disk_usage": {"free": self.printer.free_space()}})),
            "server.files.metadata" | "server.files.metascan" => {
                let filename = text(params, "filename")?;
                self.printer.with(|machine| files::metadata(machine, filename))
            }
            "server.files.delete_file" => {
                self.printer.with(|machine| files::remove(machine, text(params, "path")?.trim_start_matches("gcodes/")))
            }
            "server.gcode_store" => self.printer.with(|machine| history::console(machine, params)),
            "server.history.list" => {
                let mut list = self.printer.with(|machine| history::list(machine, params))?;
                for job in list["jobs"].as_array_mut().into_iter().flatten() {
                    *job = self.with_spools(job.take());
                }
                Ok(list)
            }
            "server.history.get_job" => {
                let mut one = self.printer.with(|machine| history::one(machine, text(params, "uid")?))?;
                one["job"] = self.with_spools(one["job"].take());
                Ok(one)
            }
            "server.history.totals" => Ok(self.printer.with(history::totals)),
            "server.job_queue.status" => Ok(json!({"queued_jobs": [], "queue_state": "ready"})),
            "server.spoolman.status" => self.spoolman_status(),
            "server.spoolman.post_spool_id" => self.choose_spool(params),
            "server.webcams.list" => {
                let webcam =
                    |url: String| json!({"name": "camera", "enabled": true, "stream_url": "", "snapshot_url": url});
                Ok(json!({"webcams": self.printer.camera().map(webcam).into_iter().collect::<Vec<_>>()}))
            }
            "machine.system_info" => Ok(self.system_info()),
            "access.oneshot_token" => Ok(json!(self.oneshot_token())),
            "access.get_api_key" => Ok(json!(self.api_key.as_deref())),
            "printer.info" => self.printer.with(|machine| self.printer_info(machine)),
            "printer.objects.list" => self.printer.with(|machine| {
                require_klippy(machine)?;
                Ok(json!({"objects": objects::all(machine).keys().collect::<Vec<_>>()}))
            }),
            "printer.objects.query" => self.query(params),
            "printer.gcode.script" => self.script(text(params, "script")?).await,
            "printer.emergency_stop" => {
                self.printer.with(|machine| {
                    require_klippy(machine)?;
                    machine
                        .emergency_stop(SHUTDOWN_BY_REQUEST)
                        .map_err(|error| MoonrakerError::of_command(&error, &klippy(machine).1))
                })?;
                self.printer.answer_stop().await;
                Ok(json!("ok"))
            }
            "printer.print.start" => {
                let filename = text(params, "filename")?;
                self.command(|machine| machine.start(filename)).await
            }
            "printer.print.pause" => self.command(|machine| machine.pause().map(drop)).await,
            "printer.print.resume" => self.command(|machine| machine.resume().map(drop)).await,
            "printer.print.cancel" => self.command(|machine| machine.cancel().map(drop)).await,
            "printer.restart" | "printer.firmware_restart" => self.command(Machine::restart).await,
            _ => Err(MoonrakerError::new(404, "Not Found")),
        }
    }

    /// Returns the current values of the requested status objects.
    pub(super) fn query(&self, params: &RpcParams) -> Result<Value, MoonrakerError> {
        let selection = params
            .get("objects")
            .and_then(Value::as_object)
            .ok_or_else(|| MoonrakerError::new(400, "No data for argument: objects"))?;
        self.printer.with(|machine| {
            require_klippy(machine)?;
            let status = objects::select(&objects::all(machine), selection);
            Ok(json!({"eventtime": machine.uptime(), "status": status}))
        })
    }

    /// Executes a print command; returns once the machine has completed it.
    async fn command(
        &self,
        act: impl FnOnce(&mut Machine) -> Result<(), CommandError>,
    ) -> Result<Value, MoonrakerError> {
        self.printer.with(|machine| {
            require_connected(machine)?;
            act(machine).map_err(|error| MoonrakerError::of_command(&error, &klippy(machine).1))
        })?;
        self.quiet().await;
        Ok(json!("ok"))
    }

    /// Runs G-code line by line; returns once all lines have been completed.
    async fn script(&self, script: &str) -> Result<Value, MoonrakerError> {
        self.printer.with(require_ready_for_script)?;
        for line in script.lines() {
            self.printer.with(|machine| {
                machine.gcode(line).map_err(|error| MoonrakerError::of_command(&error, &klippy(machine).1))
            })?;
            self.quiet().await;
        }
        Ok(json!("ok"))
    }

    /// Waits until no operation that a macro would wait for is in progress.
    async fn quiet(&self) {
        self.printer
            .until(|machine| !machine.is_homing() && !machine.job().is_some_and(|job| job.phase.is_transitional()))
            .await;
    }

    fn server_info(&self) -> Value {
        let state = self.printer.with(|machine| klippy(machine).0);
        let mut components = json!([
            "application",
            "websockets",
            "internal_transport",
            "database",
            "file_manager",
            "klippy_apis",
            "history",
            "job_queue",
            "webcam",
            "machine",
            "authorization"
        ]);
        if let (Some(all), Some(_)) = (components.as_array_mut(), self.spoolman_shown()) {
            all.push(json!("spoolman"));
        }
        json!({
            "klippy_connected": state != "disconnected",
            "klippy_state": state,
            "components": components,
            "failed_components": [],
            "registered_directories": ["gcodes"],
            "warnings": [],
            "websocket_count": self.state.sockets.load(std::sync::atomic::Ordering::Relaxed),
            "moonraker_version": "v0.10.0-1-gd5ee171",
            "missing_klippy_requirements": [],
            "api_version": [1, 5, 0],
            "api_version_string": "1.5.0",
        })
    }

    fn printer_info(&self, machine: &Machine) -> Result<Value, MoonrakerError> {
        require_klippy(machine)?;
        let (state, message) = klippy(machine);
        Ok(json!({
            "state": state,
            "state_message": message,
            "hostname": &*self.name,
            "klipper_path": "/home/pi/klipper",
            "python_path": "/home/pi/klippy-env/bin/python",
            "process_id": 615,
            "user_id": 1000,
            "group_id": 1000,
            "log_file": "/home/pi/printer_data/logs/klippy.log",
            "config_file": "/home/pi/printer_data/config/printer.cfg",
            "software_version": "v0.13.0-190-g84104bb",
            "cpu_info": "4 core ARMv7 Processor rev 4 (v7l)",
        }))
    }

    fn system_info(&self) -> Value {
        json!({"system_info": {
            "cpu_info": {"cpu_count": 4, "bits": "32bit", "processor": "armv7l", "cpu_desc": "ARMv7 Processor rev 4 (v7l)", "serial_number": &*self.name, "hardware_desc": "BCM2835", "model": "Raspberry Pi 4 Model B Rev 1.2", "total_memory": 3_934_272, "memory_units": "kB"},
            "sd_info": {},
            "distribution": {"name": "Debian GNU/Linux 12 (bookworm)", "id": "debian", "version": "12", "version_parts": {"major": "12", "minor": "", "build_number": ""}, "like": "", "codename": "bookworm"},
            "available_services": ["klipper", "moonraker"],
            "service_state": {"klipper": {"active_state": "active", "sub_state": "running"}, "moonraker": {"active_state": "active", "sub_state": "running"}},
            "instance_ids": {"moonraker": "moonraker", "klipper": "klipper"},
            "virtualization": {"virt_type": "none", "virt_identifier": "none"},
            "python": {"version": [3, 11, 2, "final", 0], "version_string": "3.11.2"},
            "network": {},
            "canbus": {},
            "provider": "systemd_dbus",
        }})
    }
}

fn require_ready_for_script(machine: &mut Machine) -> Result<(), MoonrakerError> {
    require_klippy(machine)?;
    match klippy(machine) {
        ("ready", _) => Ok(()),
        (_, message) => Err(MoonrakerError::new(400, message)),
    }
}
