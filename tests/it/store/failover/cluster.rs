//! Two PostgreSQL servers started by the test: a primary, and a standby that replicates it.

use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, mem};

use tempfile::TempDir;

use crate::support::database::{TestDatabase, services_wanted, until};
use crate::support::ports::free_port;
use platform::secrets::random::secret_bytes;

/// Folder that contains a folder for each version of PostgreSQL.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Environment variable with the address of the tests' server. A cluster does not use that server, but starts only if
/// PostgreSQL is required.
const SERVER: &str = "PRINTFLOOR_TEST_POSTGRES";
/// User and owner of the databases.
const USER: &str = "printfloor";
/// Settings of both servers. The servers are only ever killed, so they need not wait for the disk. A standby never
/// cancels a query, such as the one that promotes it, because of replicated changes.
const SETTINGS: &str = "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 100\n\
                        wal_keep_size = '64MB'\nfsync = off\nfull_page_writes = off\n\
                        max_standby_streaming_delay = -1\n";

/// SQL for the number of standbys that receive the primary's changes.
const STREAMING: &str = "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'";
/// SQL for the number of standbys that commits wait for.
const SYNCHRONOUS: &str =
    "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')";
/// SQL for the number of standbys that have not received all changes.
const BEHIND: &str = "SELECT COUNT(*) FROM pg_stat_replication WHERE flush_lsn < pg_current_wal_flush_lsn()";

/// PostgreSQL server and its data folder.
struct Host {
    port: u16,
    data: PathBuf,
}

pub struct Cluster {
    programs: PathBuf,
    dir: TempDir,
    /// `true` if the test runs as root: PostgreSQL refuses to run as root, so it runs as another user.
    as_root: bool,
    password: String,
    is_synchronous: bool,
    primary: Host,
    standby: Host,
    /// Number of folders so far.
    folders: u32,
}

/// Returns the folder with the PostgreSQL programs; `None` if PostgreSQL is not required.
fn programs() -> Option<PathBuf> {
    if std::env::var_os(SERVER).is_none() && !services_wanted() {
        eprintln!("not run: {SERVER} names no server");
        return None;
    }
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let programs = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    Some(programs.max().unwrap_or_else(|| panic!("no initdb in {VERSIONS}")))
}

impl Cluster {
    /// Starts both servers; `None` if PostgreSQL is not required. If `is_synchronous`, commits wait for the standby.
    pub async fn start(is_synchronous: bool) -> Option<Self> {
        let programs = programs()?;
        let dir = tempfile::Builder::new().prefix("printfloor-pg-").tempdir().unwrap();
        // The user of PostgreSQL must be able to enter it.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let as_root = dir.path().metadata().unwrap().uid() == 0;
        let host = |name: &str| Host { port: free_port(), data: dir.path().join(name) };
        let (primary, standby) = (host("first"), host("second"));
        let password = hex::encode(secret_bytes::<16>());
        let cluster = Self { programs, dir, as_root, password, is_synchronous, primary, standby, folders: 0 };
        cluster.create_primary();
        cluster.launch(&cluster.primary);
        cluster.add_standby().await;
        Some(cluster)
    }

    fn create_primary(&self) {
        let file = self.dir.path().join("password");
        fs::write(&file, &self.password).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        self.hand_over(&file);
        self.create_folder(&self.primary.data);
        let mut initdb = self.command("initdb");
        initdb.arg("-D").arg(&self.primary.data).args(["-U", USER, "--auth=scram-sha-256", "--no-sync"]);
        initdb.args(["--encoding=UTF8", "--locale=C.UTF-8"]).arg("--pwfile").arg(&file);
        run(initdb);
        let names = if self.is_synchronous { "synchronous_standby_names = '*'\n" } else { "" };
        let settings = self.primary.data.join("postgresql.conf");
        let mut settings = fs::OpenOptions::new().append(true).open(settings).unwrap();
        settings.write_all(format!("{SETTINGS}{names}").as_bytes()).unwrap();
    }

    /// Creates the standby as a copy of the primary, and waits until it receives all changes.
    async fn add_standby(&self) {
        self.create_folder(&self.standby.data);
        let mut copy = self.command("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-p", &self.primary.port.to_string(), "-U", USER, "--no-password"]);
        // With a slot, the copy itself would count as a standby for which commits wait.
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-slot", "--no-sync"]);
        copy.arg("-D").arg(&self.standby.data);
        run(copy);
        self.launch(&self.standby);
        let query = if self.is_synchronous { SYNCHRONOUS } else { STREAMING };
        until("the standby to receive changes", async || self.number(query).await == 1).await;
    }

    /// Starts a server, and waits until it accepts connections.
    fn launch(&self, host: &Host) {
        let mut start = self.command("pg_ctl");
        start.arg("-D").arg(&host.data).arg("-l").arg(host.data.join("log")).args(["-w", "-t", "60", "start", "-o"]);
        start.arg(format!("-p {}", host.port));
        run(start);
    }

    /// Returns a command for a PostgreSQL program, run as the required user.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if self.as_root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir("/").env("PGPASSWORD", &self.password);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn create_folder(&self, folder: &Path) {
        fs::create_dir(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        self.hand_over(folder);
    }

    /// Makes the user that runs PostgreSQL the owner of a file or folder.
    fn hand_over(&self, path: &Path) {
        if self.as_root {
            let mut chown = Command::new("chown");
            chown.arg("postgres:").arg(path);
            run(chown);
        }
    }

    fn address_on(&self, hosts: &str) -> String {
        format!("postgres://{USER}:{}@{hosts}/postgres", self.password)
    }

    /// Returns the URL of the database on both servers, which are always in the same order.
    pub fn address(&self) -> String {
        let mut ports = [self.primary.port, self.standby.port];
        ports.sort_unstable();
        let hosts = ports.map(|port| format!("127.0.0.1:{port}")).join(",");
        format!("{}?target_session_attrs=read-write", self.address_on(&hosts))
    }

    /// Returns the password in the URLs.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Returns the database on the primary.
    pub fn primary(&self) -> TestDatabase {
        TestDatabase::at(&self.address_on(&format!("127.0.0.1:{}", self.primary.port)))
    }

    /// Returns the database on the standby.
    pub fn standby(&self) -> TestDatabase {
        TestDatabase::at(&self.address_on(&format!("127.0.0.1:{}", self.standby.port)))
    }

    /// Queries one number of the primary.
    async fn number(&self, sql: &str) -> i64 {
        self.primary().number(sql).await
    }

    /// Waits until the standby has received all changes.
    pub async fn until_received(&self) {
        until("the standby to receive all changes", async || self.number(BEHIND).await == 0).await;
    }

    /// Stops replication to the standby.
    pub async fn stop_receiving(&self) {
        let standby = self.standby();
        standby.execute("ALTER SYSTEM SET primary_conninfo = ''").await;
        standby.execute("SELECT pg_reload_conf()").await;
        until("the standby to receive nothing", async || self.number(STREAMING).await == 0).await;
    }

    /// Promotes the standby to primary. The former primary continues as if nothing had happened.
    pub async fn promote(&mut self) {
        self.standby().execute("SELECT pg_promote(true, 60)").await;
        let standby = self.standby();
        until("the standby to be promoted", async || {
            standby.number("SELECT CASE WHEN pg_is_in_recovery() THEN 1::bigint ELSE 0 END").await == 0
        })
        .await;
        mem::swap(&mut self.primary, &mut self.standby);
    }

    /// Kills the primary in the middle of its work, and promotes the standby.
    pub async fn fail_over(&mut self) {
        let process = fs::read_to_string(self.primary.data.join("postmaster.pid")).unwrap();
        let id = process.lines().next().unwrap().trim();
        let mut kill = Command::new("kill");
        kill.args(["-9", id]);
        run(kill);
        let port = self.primary.port;
        until("the primary to be gone", async || TcpStream::connect(("127.0.0.1", port)).is_err()).await;
        self.promote().await;
    }

    /// Makes the killed server a standby of the promoted one.
    pub async fn rejoin(&mut self) {
        self.folders += 1;
        let folder = self.dir.path().join(format!("again-{}", self.folders));
        let _ = fs::remove_dir_all(mem::replace(&mut self.standby.data, folder));
        self.add_standby().await;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for host in [&self.standby, &self.primary] {
            let mut stop = self.command("pg_ctl");
            stop.arg("-D").arg(&host.data).args(["-m", "immediate", "-w", "stop"]);
            let _ = stop.status();
        }
    }
}

/// Runs a program to its end; it must succeed.
fn run(mut command: Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{} ended with {status}", command.get_program().display());
}
