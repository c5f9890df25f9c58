//! The program `printfloor` itself, as it is installed, with its commands; and figures of processes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::ground::variables;

/// Interval between two samples of a command's memory usage.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Measurements of a command that succeeded.
pub struct ProgramRun {
    /// Standard output.
    pub output: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Peak resident memory of the process, in bytes, without the PostgreSQL programs that it starts.
    pub peak_memory: u64,
}

/// Clock ticks per second, in which the system counts CPU time.
const TICKS_PER_SECOND: f64 = 100.0;

/// Builds the program for a shop in this folder, with the settings shared by all benchmarks.
pub fn command(folder: &Path, database: Option<&str>) -> Command {
    command_on(None, folder, database)
}

/// Does what [`command`] does, on this core alone if there is one.
pub fn command_on(core: Option<&str>, folder: &Path, database: Option<&str>) -> Command {
    let mut command = pinned(Path::new(env!("CARGO_BIN_EXE_printfloor")), core);
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // The folder is on the disk of the build folder, where there is room for a copy of the database.
    command.env("TMPDIR", folder).envs(variables(folder, database));
    command
}

/// Builds a command that runs a program, on this core alone if there is one.
pub fn pinned(program: &Path, core: Option<&str>) -> Command {
    let Some(core) = core else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(program);
    command
}

/// Runs a command to its end, which must be a good one.
pub fn run(mut command: Command) -> ProgramRun {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let (process, mut peak_memory) = (child.id().to_string(), 0);
    while child.try_wait().unwrap().is_none() {
        // It has none between its end and the next look.
        peak_memory = memory(&process, "VmHWM:").unwrap_or_default().max(peak_memory);
        sleep(LOOK_EVERY);
    }
    let seconds = began.elapsed().as_secs_f64();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?} failed");
    ProgramRun { output: String::from_utf8(output.stdout).unwrap(), seconds, peak_memory }
}

/// Returns a memory figure of a process by its name in `/proc/PID/status`, in bytes; `None` if the process has exited.
pub fn memory(process: &str, figure: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(figure))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024)
}

/// Returns the CPU time of a process in seconds.
pub fn cpu_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // Behind the name: state, ten other numbers, then ticks in its own code and in the system's.
    let numbers = stat.rsplit(')').next().unwrap().split_whitespace();
    numbers.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / TICKS_PER_SECOND
}
