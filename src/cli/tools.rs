//! `printfloor demo` and `printfloor simulate`: each replaces this process with a separate program.
//!
//! The server binary contains neither simulated printers nor a simulated payment processor. They are in
//! `printfloor-demo` and `printfloor-simulator`, which are located in the same directory as the server binary or on
//! PATH. In a checkout, Cargo builds them on demand.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::CliError;

/// Directory of the checkout that this program was built from.
const CHECKOUT: &str = env!("CARGO_MANIFEST_DIR");
/// File name of a package's manifest.
const MANIFEST: &str = "Cargo.toml";
/// Cargo profile for debug builds; its output directory is named `debug`.
const DEV_PROFILE: &str = "dev";

/// Separate program that a command starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// Simulated shop with a real server.
    Demo,
    /// Simulated printers and payment processor, without a server.
    Simulator,
}

impl Tool {
    /// Returns the program's file name.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Demo => "printfloor-demo",
            Self::Simulator => "printfloor-simulator",
        }
    }
}

/// Command that launches an external tool.
#[derive(PartialEq, Eq, Debug)]
enum ToolCommand {
    /// Program at a path; a bare file name is looked up on PATH.
    Program(PathBuf),
    /// `cargo run` with this program's build profile, which builds the tool first.
    Build {
        /// Cargo executable.
        cargo: OsString,
        /// This program's build profile.
        profile: String,
    },
}

/// Replaces this process with a tool and passes it the given arguments, so that signals and exit codes are those of the
/// tool. Returns only if the tool cannot be started.
pub fn run(tool: Tool, arguments: impl IntoIterator<Item = OsString>) -> Result<(), CliError> {
    let failed = || CliError::io(format!("{} cannot be started", tool.program()));
    let own = env::current_exe().map_err(failed())?;
    let mut command = launch(tool, &own, Path::new(CHECKOUT), running_cargo()).command(tool);
    if tool == Tool::Demo {
        command.arg("--server").arg(&own);
    }
    let error = command.args(arguments).exec();
    match error.kind() {
        io::ErrorKind::NotFound => Err(CliError::NoTool { program: tool.program() }),
        _ => Err(failed()(error)),
    }
}

/// Returns the Cargo executable that is running this program, as in `cargo run -- demo`; `None` if it was started in
/// any other way.
fn running_cargo() -> Option<OsString> {
    env::var_os("CARGO").filter(|_| env::var_os("CARGO_MANIFEST_DIR").is_some_and(|folder| folder == CHECKOUT))
}

/// Chooses how the program at `own`, built from `checkout`, starts a tool. Under Cargo, the tool is always built first,
/// because an existing build may be older than the sources.
fn launch(tool: Tool, own: &Path, checkout: &Path, running_cargo: Option<OsString>) -> ToolCommand {
    let folder = own.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let profile = folder.filter(|name| name != "debug").unwrap_or_else(|| DEV_PROFILE.to_owned());
    if let Some(cargo) = running_cargo {
        return ToolCommand::Build { cargo, profile };
    }
    let beside = own.with_file_name(tool.program());
    if beside.is_file() {
        ToolCommand::Program(beside)
    } else if own.starts_with(checkout) && checkout.join(MANIFEST).is_file() {
        ToolCommand::Build { cargo: "cargo".into(), profile }
    } else {
        ToolCommand::Program(tool.program().into())
    }
}

impl ToolCommand {
    /// Returns the command that runs the tool, without the tool's arguments.
    fn command(self, tool: Tool) -> Command {
        match self {
            Self::Program(path) => Command::new(path),
            Self::Build { cargo, profile } => {
                let mut command = Command::new(cargo);
                // No `--package`: Cargo then selects the same features of dependencies as for this program, and
                // compiles nothing twice.
                command.args(["run", "--profile", &profile, "--bin", tool.program(), "--manifest-path"]);
                command.arg(Path::new(CHECKOUT).join(MANIFEST)).arg("--");
                command
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::fs;

    use super::*;

    fn built(profile: &str) -> ToolCommand {
        ToolCommand::Build { cargo: "cargo".into(), profile: profile.to_owned() }
    }

    #[test]
    fn a_tool_beside_the_program_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("printfloor");
        let elsewhere = Path::new("/nowhere");
        assert_eq!(
            launch(Tool::Demo, &own, elsewhere, None),
            ToolCommand::Program("printfloor-demo".into()),
            "by PATH"
        );
        let beside = folder.path().join("printfloor-demo");
        fs::write(&beside, "").unwrap();
        assert_eq!(launch(Tool::Demo, &own, elsewhere, None), ToolCommand::Program(beside));
        assert_eq!(launch(Tool::Simulator, &own, elsewhere, None), ToolCommand::Program("printfloor-simulator".into()));
    }

    #[test]
    fn a_checkout_builds_what_is_missing_in_the_same_profile() {
        let checkout = tempfile::tempdir().unwrap();
        fs::write(checkout.path().join(MANIFEST), "").unwrap();
        for (folder, profile) in [("debug", "dev"), ("release", "release"), ("release-debug", "release-debug")] {
            let own = checkout.path().join("target").join(folder).join("printfloor");
            assert_eq!(launch(Tool::Demo, &own, checkout.path(), None), built(profile));
        }
    }

    #[test]
    fn run_by_cargo_a_tool_is_built_although_one_stands_there() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("release/printfloor");
        fs::create_dir(folder.path().join("release")).unwrap();
        fs::write(own.with_file_name("printfloor-demo"), "an old one").unwrap();
        assert_eq!(launch(Tool::Demo, &own, folder.path(), Some("cargo".into())), built("release"));
    }
}
