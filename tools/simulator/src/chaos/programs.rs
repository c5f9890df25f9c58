//! Programs installed on this machine that a run starts.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::arguments::DatabaseKind;
use crate::error::ChaosError;
use crate::story::ChaosStory;

/// Environment variable with the path of the server's program.
const SERVER_VARIABLE: &str = "PRINTFLOOR_BIN";
/// File name of the server's program, which Cargo places next to this one.
const SERVER_PROGRAM: &str = "printfloor";
/// Folder that contains a folder for each version of PostgreSQL.
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";
/// Folders that may be missing from a user's search path.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];

/// Paths of the programs; `None` for those that are not used.
#[derive(Debug)]
pub struct Programs {
    /// Server under test.
    pub server: PathBuf,
    /// Folder with the PostgreSQL programs.
    pub postgres: Option<PathBuf>,
    /// `redis-server`.
    pub redis: Option<PathBuf>,
    /// `mosquitto`.
    pub mosquitto: Option<PathBuf>,
    /// Path of `prlimit`, which prevents the server from writing files.
    pub prlimit: Option<PathBuf>,
}

impl Programs {
    /// Finds the programs. Missing ones are reported; they are an error unless SQLite was chosen.
    pub fn find(database: DatabaseKind, story: ChaosStory) -> Result<Self, ChaosError> {
        let wants_postgres = database == DatabaseKind::Postgres;
        let programs = Self {
            server: server()?,
            postgres: if wants_postgres { postgres(Path::new(POSTGRES_VERSIONS)) } else { None },
            redis: installed("redis-server"),
            mosquitto: installed("mosquitto"),
            prlimit: installed("prlimit"),
        };
        let missing = programs.missing(wants_postgres);
        if missing.is_empty() {
            return Ok(programs);
        }
        let missing = missing.join(", ");
        if wants_postgres {
            let advice = "install what is missing, or run with --database sqlite, which leaves it out";
            return Err(ChaosError::Failed(format!("not installed: {missing}; {advice}")));
        }
        story.tell(&format!("left out, because not installed: {missing}"));
        Ok(programs)
    }

    /// Returns the names of the programs that are not installed.
    fn missing(&self, wants_postgres: bool) -> Vec<&'static str> {
        let all = [
            ("PostgreSQL", wants_postgres && self.postgres.is_none()),
            ("Redis", self.redis.is_none()),
            ("Mosquitto", self.mosquitto.is_none()),
            ("prlimit (util-linux)", self.prlimit.is_none()),
        ];
        all.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| name).collect()
    }
}

/// Returns the path of the server: from the environment variable, or next to this program.
fn server() -> Result<PathBuf, ChaosError> {
    let variable = env::var_os(SERVER_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = env::current_exe().ok().map(|program| program.with_file_name(SERVER_PROGRAM));
    let path = variable.or(beside).filter(|path| path.is_file());
    let path = path.ok_or_else(|| {
        ChaosError::Failed(format!(
            "the server is not built: run `cargo build --bin {SERVER_PROGRAM}` first, or set {SERVER_VARIABLE} to its path"
        ))
    })?;
    // Programs are started in other folders.
    std::path::absolute(&path).map_err(ChaosError::io(format!("{} has no absolute path", path.display())))
}

/// Returns the folder with the programs of the newest PostgreSQL version; `None` if there is none.
fn postgres(versions: &Path) -> Option<PathBuf> {
    let number = |folder: &Path| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = fs::read_dir(versions).into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = versions.filter(|folder| folder.join("bin/initdb").is_file()).max_by_key(|folder| number(folder))?;
    Some(newest.join("bin"))
}

/// Returns the path of a program on the search path or in the system's folders; `None` if it is not installed.
fn installed(name: &str) -> Option<PathBuf> {
    let search = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&search).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_newest_postgres_is_chosen_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(postgres(folder.path()), None);
        for version in ["9", "15", "16"] {
            fs::create_dir_all(folder.path().join(version).join("bin")).unwrap();
        }
        for version in ["9", "15"] {
            fs::write(folder.path().join(version).join("bin/initdb"), "").unwrap();
        }
        assert_eq!(postgres(folder.path()), Some(folder.path().join("15/bin")), "16 is not whole");
    }

    #[test]
    fn what_is_missing_is_named() {
        let server = PathBuf::new();
        let all = Programs { server, postgres: None, redis: None, mosquitto: None, prlimit: None };
        assert_eq!(all.missing(true), ["PostgreSQL", "Redis", "Mosquitto", "prlimit (util-linux)"]);
        assert_eq!(all.missing(false)[0], "Redis", "SQLite needs no PostgreSQL");
        let shell = Programs { redis: installed("sh"), ..all };
        assert_eq!(shell.missing(false), ["Mosquitto", "prlimit (util-linux)"]);
    }
}
