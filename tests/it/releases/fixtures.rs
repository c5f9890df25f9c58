//! Shops recorded by releases: each release has a folder with one shop for each kind of database, containing the
//! server's data, its responses at that time, and the facts needed to continue with it.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use migrations::label::Release;
use printfloor::actors::kernel::environment::machine_clock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tar::{Archive, Builder};

use crate::support::database::TestDatabase;
use crate::support::{App, Clock, Db};

/// Folder that contains a folder for each release, named after its version.
const RELEASES: &str = "tests/fixtures/releases";
const DATA: &str = "data.tar.gz";
const DUMP: &str = "database.sql.gz";
/// Files that are not data, or useless to a later version, such as sent emails.
const LEFT_OUT: [&str; 3] = ["lock", "control.sock", "outbox"];
/// Starts of dump lines that only some versions of PostgreSQL and its tools understand.
const NOT_IN_ALL_VERSIONS: [&str; 3] = ["\\restrict", "\\unrestrict", "SET transaction_timeout"];
/// Timeout after which a printer is offline, in seconds; the recorded printers do not reach it during a test.
const OFFLINE_SECONDS: u32 = 3_600;

/// Facts of a recorded shop.
#[derive(Clone, Serialize, Deserialize)]
pub struct ReleaseFacts {
    /// Names of the migrations applied to the shop's tables.
    pub migrations: Vec<String>,
    /// Time of the shop's last change, in milliseconds.
    pub recorded_at_ms: i64,
    /// API key of the admin.
    pub key: String,
    /// ID of a SKU whose parts any printer can print.
    pub sku: String,
    /// ID of an unpaid order for one part of that SKU.
    pub order: String,
}

/// Recorded shop on one kind of database.
#[derive(Clone)]
pub struct ReleaseFixture {
    folder: PathBuf,
}

/// Server on a copy of a recorded shop.
pub struct OpenedRelease {
    pub app: App,
    _clock: Clock,
}

/// Returns the folders of all releases in the order of their versions.
fn releases() -> Vec<(Release, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RELEASES);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| {
        panic!("{}: {error}; scripts/release-fixtures records a release", folder.display());
    });
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = paths.map(|path| (version_of(&path), path)).collect();
    assert!(!all.is_empty(), "{}: no release; scripts/release-fixtures records one", folder.display());
    all.sort();
    all
}

fn version_of(folder: &Path) -> Release {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Release::parse(name).unwrap_or_else(|| panic!("{} is not named after a version", folder.display()))
}

/// Returns the version of the last release, and the names of its migrations.
pub fn newest_release() -> (Release, Vec<String>) {
    let (release, folder) = releases().pop().unwrap();
    (release, ReleaseFixture { folder: folder.join("sqlite") }.facts().migrations)
}

/// Returns the recorded shops of all releases on one kind of database.
pub fn fixtures(is_postgres: bool) -> Vec<ReleaseFixture> {
    let kind = if is_postgres { "postgres" } else { "sqlite" };
    releases().into_iter().map(|(_, folder)| ReleaseFixture { folder: folder.join(kind) }).collect()
}

fn read_text(file: &Path) -> String {
    let mut text = String::new();
    let opened = File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    GzDecoder::new(opened).read_to_string(&mut text).unwrap();
    text
}

fn write_compressed(file: &Path, bytes: &[u8]) {
    let mut gzip = GzEncoder::new(File::create(file).unwrap(), Compression::best());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap();
}

impl ReleaseFixture {
    /// Records the shop of a server that has ended.
    pub fn record(app: &App, folder: PathBuf, facts: &ReleaseFacts) -> Self {
        fs::create_dir_all(&folder).unwrap();
        let gzip = GzEncoder::new(File::create(folder.join(DATA)).unwrap(), Compression::best());
        let mut archive = Builder::new(gzip);
        append(&mut archive, &app.data(), Path::new(""));
        archive.into_inner().unwrap().finish().unwrap();
        if let Some(url) = app.db.url() {
            write_compressed(&folder.join(DUMP), &dump(&url));
        }
        let fixture = Self { folder };
        fixture.write("facts", facts);
        fixture
    }

    /// Writes a further file of this name.
    pub fn write(&self, name: &str, value: &impl Serialize) {
        write_compressed(&self.folder.join(format!("{name}.json.gz")), &serde_json::to_vec(value).unwrap());
    }

    /// Reads the file of this name.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> T {
        let file = self.folder.join(format!("{name}.json.gz"));
        serde_json::from_str(&read_text(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    pub fn facts(&self) -> ReleaseFacts {
        self.read("facts")
    }

    /// Returns the total size of all files, in bytes.
    pub fn size(&self) -> u64 {
        fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    }

    /// Copies the data to this new folder, and the tables to an empty database. Returns the URL of the database.
    pub async fn copy_to(&self, data: &Path, db: &Db) -> String {
        Archive::new(GzDecoder::new(File::open(self.folder.join(DATA)).unwrap())).unpack(data).unwrap();
        let Some(url) = db.url() else { return format!("sqlite://{}?mode=rw", data.join("printfloor.db").display()) };
        let dump = read_text(&self.folder.join(DUMP));
        let is_common = |line: &&str| !NOT_IN_ALL_VERSIONS.iter().any(|start| line.starts_with(start));
        let statements: Vec<&str> = dump.split('\n').filter(is_common).collect();
        TestDatabase::at(&url).execute(&statements.join("\n")).await;
        url
    }

    /// Starts this build on a copy, with the clock at the time of the recording. None of the shop's printers is
    /// reachable.
    pub async fn open(&self) -> OpenedRelease {
        let db = if self.folder.ends_with("postgres") { Db::postgres().await.unwrap() } else { Db::sqlite() };
        let facts = self.facts();
        let clock = Clock::new();
        clock.set(facts.recorded_at_ms - machine_clock().0);
        let builder = App::on(db).clock(&clock).env("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", OFFLINE_SECONDS);
        let mut app = builder.prepare().with_admin_key(&facts.key);
        self.copy_to(&app.data(), &app.db).await;
        app.start().await;
        OpenedRelease { app, _clock: clock }
    }
}

/// Adds the files below a folder to an archive.
fn append(archive: &mut Builder<GzEncoder<File>>, folder: &Path, name: &Path) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let own = path.file_name().unwrap();
        if LEFT_OUT.iter().any(|left_out| own == *left_out) {
            continue;
        }
        if path.is_dir() {
            append(archive, &path, &name.join(own));
        } else {
            archive.append_path_with_name(&path, name.join(own)).unwrap();
        }
    }
}

/// Writes all tables as statements.
fn dump(url: &str) -> Vec<u8> {
    let mut command = Command::new("pg_dump");
    command.args(["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges"]);
    // Which server leads is nothing of the shop.
    let output = command.args(["--exclude-table=printfloor_leader", "--dbname", url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
