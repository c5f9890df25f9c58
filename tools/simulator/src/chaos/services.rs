//! Private services used by the server: PostgreSQL, Redis and Mosquitto, each if it is installed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rustix::process::Signal;
use tokio::process::Command;

use crate::error::ChaosError;
use crate::keeper::Keeper;
use crate::network::ProxiedNetwork;
use crate::ports::Ports;
use crate::postgres::Postgres;
use crate::programs::Programs;
use crate::story::ChaosStory;

/// Running services; `None` for those that are not used.
#[derive(Debug)]
pub struct Services {
    /// Database server; `None` if the database is a file.
    pub postgres: Option<Postgres>,
    /// Redis, for shared counters and copies of events.
    pub redis: Option<Keeper>,
    /// MQTT broker of the smart home.
    pub broker: Option<Keeper>,
    /// Networks to the database and Redis.
    pub networks: Vec<Arc<ProxiedNetwork>>,
    /// Server settings that contain the addresses of the services.
    pub variables: Vec<(&'static str, String)>,
}

impl Services {
    /// Starts the services in a folder, without waiting until they respond.
    pub async fn start(
        programs: &Programs,
        folder: &Path,
        ports: &mut Ports,
        password: &str,
        story: ChaosStory,
    ) -> Result<Self, ChaosError> {
        let mut services =
            Self { postgres: None, redis: None, broker: None, networks: Vec::new(), variables: Vec::new() };
        if let Some(programs) = &programs.postgres {
            let port = ports.free()?;
            let postgres = Postgres::start(programs, folder, port, password, story).await?;
            let own = services.add_network("the database", port).await?;
            services.variables.push(("DATABASE_URL", postgres.url(own)));
            services.postgres = Some(postgres);
        }
        if let Some(program) = &programs.redis {
            let port = ports.free()?;
            let own = services.add_network("Redis", port).await?;
            services.variables.push(("REDIS_URL", format!("redis://127.0.0.1:{own}")));
            services.redis = Some(redis(program, folder, port, story)?);
        }
        if let Some(program) = &programs.mosquitto {
            let port = ports.free()?;
            services.variables.push(("SMART_HOME_MQTT_URL", format!("mqtt://127.0.0.1:{port}")));
            services.broker = Some(mosquitto(program, folder, port, story)?);
        }
        Ok(services)
    }

    /// Creates a network to a service. Returns the port for the server.
    async fn add_network(&mut self, name: &str, port: u16) -> Result<u16, ChaosError> {
        let network = ProxiedNetwork::to(name, &[port]).await?;
        let own = network.ports.first().copied().unwrap_or(port);
        self.networks.push(Arc::new(network));
        Ok(own)
    }

    /// Stops all services.
    pub async fn end(&self) {
        if let Some(postgres) = &self.postgres {
            // All of its processes end at once, and need no clean state.
            postgres.keeper.end(Signal::QUIT).await;
        }
        for keeper in [&self.redis, &self.broker].into_iter().flatten() {
            keeper.end(Signal::TERM).await;
        }
    }
}

fn redis(program: &Path, folder: &Path, port: u16, story: ChaosStory) -> Result<Keeper, ChaosError> {
    let (program, data) = (program.to_owned(), folder.join("redis"));
    fs::create_dir(&data).map_err(ChaosError::io("the folder of Redis cannot be made"))?;
    Ok(Keeper::start("Redis", None, story, move || {
        let mut command = Command::new(&program);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"]).arg(&data);
        command.args(["--save", "", "--appendonly", "no"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }))
}

fn mosquitto(program: &Path, folder: &Path, port: u16, story: ChaosStory) -> Result<Keeper, ChaosError> {
    let (program, settings) = (program.to_owned(), folder.join("mosquitto.conf"));
    let text = format!("listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n");
    fs::write(&settings, text).map_err(ChaosError::io("the settings of Mosquitto cannot be written"))?;
    Ok(Keeper::start("Mosquitto", None, story, move || {
        let mut command = Command::new(&program);
        command.arg("-c").arg(&settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }))
}
