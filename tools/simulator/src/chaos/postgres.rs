//! A private PostgreSQL server, which is killed with `kill -9` and restarted on the same data.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::geteuid;
use tokio::process::Command;

use crate::error::ChaosError;
use crate::keeper::Keeper;
use crate::story::ChaosStory;

/// User and owner of the database.
const USER: &str = "printfloor";
/// Account that runs PostgreSQL if this program runs as root, because PostgreSQL refuses to run as root.
const ACCOUNT: &str = "postgres";
/// Settings of the server. Only processes are killed, not the machine, so nothing has to wait for the disk.
const SETTINGS: [&str; 5] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=100",
    "fsync=off",
    "full_page_writes=off",
];

/// Running server.
#[derive(Debug)]
pub struct Postgres {
    /// Keeper of the main process; the other processes exit with it.
    pub keeper: Keeper,
    password: String,
}

/// PostgreSQL programs, and the account that runs them.
#[derive(Clone, Debug)]
struct PostgresPrograms {
    folder: PathBuf,
    /// User and group IDs; `None` for those of this program.
    account: Option<(u32, u32)>,
}

impl Postgres {
    /// Creates a database in a folder, and starts its server.
    pub async fn start(
        programs: &Path,
        folder: &Path,
        port: u16,
        password: &str,
        story: ChaosStory,
    ) -> Result<Self, ChaosError> {
        let programs = PostgresPrograms { folder: programs.to_owned(), account: account()? };
        let data = folder.join("postgres");
        programs.make(folder, &data, password).await?;
        let keeper = Keeper::start("PostgreSQL", None, story, move || {
            let mut command = programs.command("postgres");
            command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
            command.args(SETTINGS.iter().flat_map(|setting| ["-c", *setting]));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        });
        Ok(Self { keeper, password: password.to_owned() })
    }

    /// Returns the address of the database behind a port.
    pub fn url(&self, port: u16) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{port}/postgres", self.password)
    }
}

impl PostgresPrograms {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join(program));
        // The account may not enter the folder of whoever started this program.
        command.current_dir("/");
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group);
        }
        command
    }

    /// Makes an empty database.
    async fn make(&self, folder: &Path, data: &Path, password: &str) -> Result<(), ChaosError> {
        let failed = || ChaosError::io(format!("{} cannot be used", folder.display()));
        let secret = folder.join("postgres-password");
        // The account must be able to enter the folder.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).map_err(failed())?;
        fs::write(&secret, password).map_err(failed())?;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).map_err(failed())?;
        fs::create_dir(data).map_err(failed())?;
        fs::set_permissions(data, fs::Permissions::from_mode(0o700)).map_err(failed())?;
        if let Some((user, group)) = self.account {
            for path in [secret.as_path(), data] {
                chown(path, Some(user), Some(group)).map_err(failed())?;
            }
        }
        let mut command = self.command("initdb");
        command.arg("-D").arg(data).args(["-U", USER, "--auth=scram-sha-256", "--no-sync"]);
        command.args(["--encoding=UTF8", "--locale=C.UTF-8"]).arg("--pwfile").arg(&secret);
        command.stdin(Stdio::null()).process_group(0).kill_on_drop(true);
        let output = command.output().await.map_err(ChaosError::io("initdb cannot be started"))?;
        if output.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(ChaosError::Failed(format!("initdb made no database: {}", errors.trim())))
    }
}

/// Returns the user and group IDs of the account that runs PostgreSQL; `None` unless this program runs as root.
fn account() -> Result<Option<(u32, u32)>, ChaosError> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd").map_err(ChaosError::io("/etc/passwd cannot be read"))?;
    match entry(&accounts, ACCOUNT) {
        Some(account) => Ok(Some(account)),
        None => Err(ChaosError::Failed(format!(
            "PostgreSQL refuses to run as root, and there is no account {ACCOUNT} for it"
        ))),
    }
}

/// Returns the user and group IDs of an account; `None` if it does not exist.
fn entry(accounts: &str, name: &str) -> Option<(u32, u32)> {
    let mut lines = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = lines.find(|fields| fields.first() == Some(&name))?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_read_by_its_whole_name() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\npostgres2:x:7:8::/:\npostgres:x:104:107:admin:/var:/bin/sh\n";
        assert_eq!(entry(accounts, "postgres"), Some((104, 107)));
        assert_eq!(entry(accounts, "nobody"), None);
    }
}
