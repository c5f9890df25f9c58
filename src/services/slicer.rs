//! Slicer: a local program that converts a model to G-code, invoked through the command line of the program named in
//! `config.toml`.
//!
//! Models and profiles come from users, so the program runs confined: without a shell or input, with an empty
//! environment and its own directory, and with limits on time, memory and output. It is killed together with all
//! processes that it has started. Profiles that would run scripts are rejected, and only the shapes of a project are
//! passed on (`project`).

pub mod process;
pub mod profile;
mod project;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use tokio::fs;
use tokio::process::Command;
use tokio::sync::Mutex;

use self::process::{RunError, RunLimits};
use self::profile::SlicerProfile;
use config::Config;
use config::sections::SlicingConfig;

/// Time limit for reading the program's version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of the stored version, in characters.
const MAX_VERSION_CHARS: usize = 100;
/// Search path for a program given without a path, if the environment does not set one.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// File name of the result in a run's directory.
const RESULT_FILE: &str = "sliced.gcode";

/// Program, directories and limits for slicing.
#[derive(Clone, Debug)]
pub struct SlicerSettings {
    /// Program to run: a path, or a name to search in `PATH`.
    pub program: PathBuf,
    /// Directory that contains the profiles.
    pub profiles: PathBuf,
    /// Directory in which each run has its own subdirectory. Nothing else may use this directory.
    pub work: PathBuf,
    /// Maximum number of concurrent runs. Callers must enforce this limit and decide whose turn is next.
    pub parallel: usize,
    /// Resource limits for one run.
    pub limits: RunLimits,
}

impl SlicerSettings {
    /// Returns the slicer settings from the configuration. The output of a run may be as large as an upload.
    pub fn of(config: &Config) -> Self {
        let SlicingConfig { program, profiles_dir, max_parallel, timeout_seconds, memory_max_bytes, .. } =
            &config.slicing;
        let data = &config.server.data_dir;
        let is_default = profiles_dir.as_os_str().is_empty();
        Self {
            program: program.clone(),
            profiles: if is_default { data.join("slicer-profiles") } else { profiles_dir.clone() },
            work: data.join("slicing"),
            parallel: *max_parallel,
            limits: RunLimits {
                time: timeout_seconds.duration(),
                memory_bytes: *memory_max_bytes,
                file_bytes: config.server.upload_max_bytes,
            },
        }
    }
}

/// Reason why slicing failed.
#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    /// The program or the profile is missing; the message contains instructions.
    #[error("{0}")]
    Absent(String),
    /// The slicer, or the rules for profiles, rejected this model or profile, with the given message.
    #[error("{0}")]
    Refused(String),
    /// An I/O error on the server's disk.
    #[error("the slicer's working directory cannot be used: {0}")]
    Disk(#[from] std::io::Error),
}

/// Path, modification time and size of a program file at the time its version was read.
type ProgramMark = (PathBuf, Option<SystemTime>, u64);

/// Slicer program. Callers must limit the number of concurrent runs ([`SlicerSettings::parallel`]).
#[derive(Debug)]
pub struct Slicer {
    settings: SlicerSettings,
    next: AtomicU64,
    version: Mutex<Option<(ProgramMark, String)>>,
}

/// Result of a run, whose G-code is in a directory that is removed on drop.
#[derive(Debug)]
pub struct SlicerOutput {
    _folder: RunFolder,
    /// G-code file path.
    pub path: PathBuf,
}

/// Model to slice, and the settings for slicing it.
#[derive(Clone, Copy, Debug)]
pub struct SliceRequest<'a> {
    /// Path of the file with the model's content, which may have any name.
    pub model: &'a Path,
    /// Slicer profile.
    pub profile: &'a SlicerProfile,
    /// Number of copies of a mesh to place on the plate. A project's own arrangement is used, but not its settings.
    pub copies: u32,
}

impl Slicer {
    /// Creates a slicer with the given settings. Removes directories left behind by runs of an earlier process.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory for runs cannot be emptied.
    pub fn new(settings: SlicerSettings) -> std::io::Result<Self> {
        if let Ok(work) = std::fs::canonicalize(&settings.work) {
            process::kill_within(&work);
        }
        match std::fs::remove_dir_all(&settings.work) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { settings, next: AtomicU64::new(0), version: Mutex::new(None) })
    }

    /// Returns the settings with which the slicer was created.
    pub fn settings(&self) -> &SlicerSettings {
        &self.settings
    }

    /// Returns the path of the slicer program.
    ///
    /// # Errors
    ///
    /// Returns an error if the program does not exist; the message names the locations searched.
    pub fn program(&self) -> Result<PathBuf, SliceError> {
        let program = &self.settings.program;
        let executable = if program.components().count() > 1 {
            std::path::absolute(program).ok().filter(|path| path.is_file())
        } else {
            let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
            std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
        };
        executable.ok_or_else(|| {
            let program = program.display();
            SliceError::Absent(format!("no slicer is installed: {program} does not exist (setting slicing.program)"))
        })
    }

    /// Returns the name and version of the program, as the program prints them.
    ///
    /// # Errors
    ///
    /// Returns an error if the program does not exist or does not start.
    pub async fn version(&self) -> Result<String, SliceError> {
        let program = self.program()?;
        let about = fs::metadata(&program).await?;
        let mark = (program.clone(), about.modified().ok(), about.len());
        let mut cached = self.version.lock().await;
        if let Some((of, version)) = cached.as_ref()
            && *of == mark
        {
            return Ok(version.clone());
        }
        let folder = self.folder().await?;
        let mut command = Command::new(&program);
        command.arg("--help").current_dir(&folder.path);
        let limits = RunLimits { time: VERSION_TIMEOUT, ..self.settings.limits };
        let ended = process::run(&mut command, &limits).await;
        let silent =
            |words: String| SliceError::Absent(format!("the slicer {} cannot be run: {words}", program.display()));
        let ended = ended.map_err(|error| silent(error.to_string()))?;
        let version = process::lines(&ended.output).next().map(|line| {
            line.split(" based on")
                .next()
                .unwrap_or_default()
                .trim()
                .chars()
                .take(MAX_VERSION_CHARS)
                .collect::<String>()
        });
        let version = version.filter(|version| !version.is_empty() && ended.status.success());
        let version = version.ok_or_else(|| silent("it does not print its version".to_owned()))?;
        *cached = Some((mark, version.clone()));
        Ok(version)
    }

    /// Reads the profile with the given name.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such profile, or it is rejected.
    pub async fn profile(&self, name: &str) -> Result<SlicerProfile, SliceError> {
        profile::read(&self.settings.profiles, name).await
    }

    /// Slices a model to G-code. If the future is dropped, the program is killed and its directory removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the program does not exist, fails, or produces no file.
    pub async fn slice(&self, request: SliceRequest<'_>) -> Result<SlicerOutput, SliceError> {
        let program = self.program()?;
        let folder = self.folder().await?;
        let project = is_project(request.model).await?;
        let model = if project { "model.3mf" } else { "model.stl" };
        let (from, to) = (std::path::absolute(request.model)?, folder.path.join(model));
        if project {
            let copied = tokio::task::spawn_blocking(move || project::copy_shapes(&from, &to)).await;
            copied.map_err(|error| SliceError::Disk(std::io::Error::other(error)))??;
        } else {
            fs::symlink(from, to).await?;
        }
        fs::write(folder.path.join("profile.ini"), request.profile.text()).await?;
        let mut command = Command::new(program);
        command.current_dir(&folder.path).args(["--export-gcode", "--datadir", "data", "--load", "profile.ini"]);
        if !project && request.copies > 1 {
            command.args(["--duplicate", &request.copies.to_string()]);
        }
        command.args(["--output", RESULT_FILE, model]);
        let limits = &self.settings.limits;
        let ended = process::run(&mut command, limits).await.map_err(|error| match error {
            RunError::TimedOut => {
                let seconds = limits.time.as_secs();
                SliceError::Refused(format!("slicing took longer than {seconds} s (setting slicing.timeout_seconds)"))
            }
            RunError::Start(error) => SliceError::Absent(format!("the slicer cannot be started: {error}")),
            RunError::Io(error) => SliceError::Disk(error),
        })?;
        if !ended.status.success() {
            return Err(SliceError::Refused(ended.words(limits)));
        }
        let path = folder.path.join(RESULT_FILE);
        match fs::metadata(&path).await {
            Ok(about) if about.is_file() && about.len() > 0 => Ok(SlicerOutput { _folder: folder, path }),
            _ => Err(SliceError::Refused(format!("the slicer created no file: {}", ended.words(limits)))),
        }
    }

    /// Creates a new directory for one run.
    async fn folder(&self) -> std::io::Result<RunFolder> {
        let path = std::path::absolute(self.settings.work.join(self.next.fetch_add(1, Relaxed).to_string()))?;
        fs::create_dir_all(&path).await?;
        Ok(RunFolder { path })
    }
}

/// Returns whether the model file is an archive, and therefore a 3MF project rather than a mesh.
async fn is_project(model: &Path) -> std::io::Result<bool> {
    use tokio::io::AsyncReadExt as _;
    let mut beginning = [0; 4];
    let mut file = fs::File::open(model).await?;
    let read = file.read(&mut beginning).await?;
    Ok(beginning[..read] == *b"PK\x03\x04")
}

/// Directory for one run, removed on drop.
#[derive(Debug)]
struct RunFolder {
    path: PathBuf,
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, "cannot remove the slicer's working directory");
        }
    }
}
