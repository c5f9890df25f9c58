//! A template shop that is created once for all tests of a run, with tables, its own secrets and an admin's key. The
//! server of a test starts on a copy, which saves each test the migrations and a process.
//!
//! Shops on the embedded database may also have a staff member who is signed in ([`Db::with_staff`]), which saves each
//! test the two hashes of a password. Such a shop is a copy of the first one, too.
//!
//! Tests run in separate processes. The first one that needs the shop creates it, while the others wait for a lock; the
//! finished shop is moved into place, so that an interrupted test leaves nothing that looks complete.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use printfloor::store::rows::samples::{SHOP_PREFIX, test_run};

use super::variables::process_variables;
use super::{App, Db, db, until};
use crate::api::session_of;

/// Maximum time between a run's first test and its last start of a server. Shops that are older are removed by a later
/// run.
const LONGEST_RUN: Duration = Duration::from_hours(6);
/// Permissions of a server's folders: its user, and no one else.
const FOLDER_MODE: u32 = 0o700;

/// Folder with a subfolder for each kind of database, which contains a folder for each run.
static SHOPS: LazyLock<PathBuf> = LazyLock::new(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("shops"));

/// Staff member whom a template shop may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StaffMember {
    pub email: &'static str,
    /// Role in the API's words.
    pub role: &'static str,
}

/// Template shop of this run for one kind of database.
pub struct Template {
    folder: PathBuf,
}

impl Template {
    /// Returns the template shop on the embedded database, after creating it if necessary.
    pub async fn on_sqlite() -> Self {
        let run_folder = RunFolder::of("sqlite").await;
        if let Some(unfinished) = run_folder.begin() {
            create_shop(&unfinished, None);
            collect_rows(&unfinished.join("data")).await;
            run_folder.finish(&unfinished);
        }
        run_folder.template()
    }

    /// Returns the template shop on the embedded database that has this staff member, who has just signed in, after
    /// creating it if necessary.
    pub async fn with_staff(member: StaffMember) -> Self {
        let run_folder = RunFolder::of(&format!("sqlite-{}-{}", member.role, member.email)).await;
        if let Some(unfinished) = run_folder.begin() {
            let plain = Self::on_sqlite().await;
            let mut app = App::on(Db::sqlite()).prepare().with_admin_key(&plain.key());
            plain.copy_data(&app.data());
            app.start().await;
            let cookie = session_of(&app, member).await;
            app.stop().await;
            collect_rows(&app.data()).await;
            copy_folder(&app.data(), &unfinished.join("data"));
            fs::write(unfinished.join("key"), plain.key()).unwrap();
            fs::write(unfinished.join("cookie"), cookie).unwrap();
            run_folder.finish(&unfinished);
        }
        run_folder.template()
    }

    /// Returns the template shop on this PostgreSQL server and the name of its database, which can be copied, after
    /// creating them if necessary.
    pub async fn on_postgres(server: &str) -> (Self, String) {
        let run_folder = RunFolder::of("postgres").await;
        let database = database_of(test_run());
        if let Some(unfinished) = run_folder.begin() {
            for run in run_folder.stale().chain([test_run().to_owned()]) {
                db::run(server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", database_of(&run))).await;
            }
            db::run(server, &format!("CREATE DATABASE {database}")).await;
            create_shop(&unfinished, Some(&db::address_of(server, &database)));
            // It could not be copied while somebody is connected to it.
            db::run(server, &format!("ALTER DATABASE {database} ALLOW_CONNECTIONS false")).await;
            run_folder.finish(&unfinished);
        }
        (run_folder.template(), database)
    }

    /// Copies the shop's data folder to this path, where nothing is yet.
    pub fn copy_data(&self, to: &Path) {
        copy_folder(&self.folder.join("data"), to);
    }

    /// Returns the key of the shop's admin.
    pub fn key(&self) -> String {
        fs::read_to_string(self.folder.join("key")).unwrap()
    }

    /// Returns the session cookie of the shop's staff member; `None` if it has none.
    pub fn cookie(&self) -> Option<String> {
        fs::read_to_string(self.folder.join("cookie")).ok()
    }
}

/// Folder of this run's shop, finished or not; used by one test at a time.
struct RunFolder {
    /// Folder of all runs with this kind of database.
    kind: PathBuf,
    /// Folder of this run.
    path: PathBuf,
    /// Lock on the folder, held until this value is dropped.
    _lock: File,
}

impl RunFolder {
    /// Opens the folder, waiting until no other test holds its lock.
    async fn of(kind: &str) -> Self {
        let kind = SHOPS.join(kind);
        let path = kind.join(test_run());
        fs::create_dir_all(&path).unwrap();
        let lock = File::create(path.join("lock")).unwrap();
        until("the shop that all tests share", || async { lock.try_lock().ok() }).await;
        Self { kind, path, _lock: lock }
    }

    fn shop(&self) -> PathBuf {
        self.path.join("shop")
    }

    /// Returns an empty folder in which to create the shop; `None` if the shop already exists.
    fn begin(&self) -> Option<PathBuf> {
        if self.shop().exists() {
            return None;
        }
        let unfinished = self.path.join("unfinished");
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir(&unfinished).unwrap();
        Some(unfinished)
    }

    /// Moves a finished shop into place, and removes shops from runs that ended long ago.
    fn finish(&self, unfinished: &Path) {
        fs::rename(unfinished, self.shop()).unwrap();
        for run in self.stale() {
            let _ = fs::remove_dir_all(self.kind.join(run));
        }
    }

    /// Returns the names of runs that ended long ago.
    fn stale(&self) -> impl Iterator<Item = String> {
        let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
        let now = modified(&self.path).unwrap();
        fs::read_dir(&self.kind).unwrap().map_while(Result::ok).filter_map(move |entry| {
            let age = now.duration_since(modified(&entry.path()).ok()?).ok()?;
            (age > LONGEST_RUN).then(|| entry.file_name().to_string_lossy().into_owned())
        })
    }

    fn template(&self) -> Template {
        Template { folder: self.shop() }
    }
}

/// Creates a shop with an admin's key, as its owner's first command does.
fn create_shop(folder: &Path, database_url: Option<&str>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_printfloor"));
    command.args(["key", "create", "--new", "--name", "tests", "--role", "admin", "--data"]).arg(folder.join("data"));
    command.current_dir(folder).env_clear().envs(process_variables()).stdin(Stdio::null());
    command.envs(database_url.map(|url| ("DATABASE_URL", url)));
    let output = command.output().unwrap();
    assert!(output.status.success(), "no shop was made: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(folder.join("key"), String::from_utf8(output.stdout).unwrap().trim()).unwrap();
}

/// Writes the rows that are still in the log beside the file of an embedded database into the file.
async fn collect_rows(data: &Path) {
    let file = data.join("printfloor.db");
    db::run(&format!("sqlite:{}", file.display()), "PRAGMA wal_checkpoint(TRUNCATE)").await;
}

/// Returns the name of the database that holds the shop of a run, as PostgreSQL spells names.
fn database_of(run: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("{SHOP_PREFIX}{}", run.chars().map(letter).collect::<String>())
}

/// Copies the files of a folder and of those in it; a socket that its server left there stays behind.
fn copy_folder(from: &Path, to: &Path) {
    DirBuilder::new().mode(FOLDER_MODE).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy_folder(&entry.path(), &target);
        } else if kind.is_file() {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}
