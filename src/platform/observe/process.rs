//! Metrics about the server's own process from Linux's `/proc`, under the standard names that monitoring systems
//! expect.

use std::fs;

/// Number of clock ticks per second in `/proc/self/stat`, which is the same on every Linux architecture that Rust
/// supports.
const TICKS_PER_SECOND: f64 = 100.0;

/// Process metrics; those that the system does not provide are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ProcessNumbers {
    /// CPU time in user and kernel mode, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Resident memory, in bytes.
    pub resident_bytes: Option<u64>,
    /// Virtual memory, in bytes.
    pub virtual_bytes: Option<u64>,
    /// Number of open file descriptors.
    pub open_fds: Option<u64>,
    /// Maximum number of open file descriptors.
    pub max_fds: Option<u64>,
    /// Number of threads.
    pub threads: Option<u64>,
    /// Process start time, in Unix seconds.
    pub started_at: Option<f64>,
}

impl ProcessNumbers {
    /// Reads the current metrics. Reads a few files in `/proc`, so it should run on a thread that may block.
    pub fn read() -> Self {
        let file = |name: &str| fs::read_to_string(name).unwrap_or_default();
        let mut numbers = Self::parse(
            &file("/proc/self/stat"),
            &file("/proc/self/status"),
            &file("/proc/self/limits"),
            &file("/proc/stat"),
        );
        // One of them is the descriptor that lists them.
        numbers.open_fds = fs::read_dir("/proc/self/fd").ok().map(|all| (all.count() as u64).saturating_sub(1));
        numbers
    }

    fn parse(stat: &str, status: &str, limits: &str, system: &str) -> Self {
        // The name of the program, in brackets, may hold blanks: what follows it has a fixed order, from field 3 on.
        let fields: Vec<&str> = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
        let ticks = |field: usize| fields.get(field - 3)?.trim().parse::<f64>().ok();
        let kib = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches(':').trim().split(' ').next()?.parse::<u64>().ok()? * 1024)
        };
        let booted = system.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<f64>().ok());
        let max_fds = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        Self {
            cpu_seconds: ticks(14).zip(ticks(15)).map(|(user, system)| (user + system) / TICKS_PER_SECOND),
            resident_bytes: kib("VmRSS"),
            virtual_bytes: kib("VmSize"),
            open_fds: None,
            max_fds: max_fds.and_then(|line| line.split_whitespace().next()?.parse().ok()),
            threads: ticks(20).map(|threads| threads as u64),
            started_at: booted.zip(ticks(22)).map(|(booted, start)| booted + start / TICKS_PER_SECOND),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_kernel_are_read() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 7 0 12345 1000 10 0";
        let status = "Name:\tx\nVmSize:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096  files\n";
        let numbers = ProcessNumbers::parse(stat, status, limits, "cpu 1\nbtime 1700000000\n");
        let expected = ProcessNumbers {
            cpu_seconds: Some(3.0),
            resident_bytes: Some(1024 * 1024),
            virtual_bytes: Some(2048 * 1024),
            open_fds: None,
            max_fds: Some(1024),
            threads: Some(7),
            started_at: Some(1_700_000_123.45),
        };
        assert_eq!(numbers, expected);
        assert_eq!(ProcessNumbers::parse("", "", "", ""), ProcessNumbers::default());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_numbers() {
        let numbers = ProcessNumbers::read();
        assert!(numbers.resident_bytes.is_some_and(|bytes| bytes > 1 << 20), "{numbers:?}");
        assert!(numbers.open_fds.is_some_and(|open| open >= 3) && numbers.started_at.is_some(), "{numbers:?}");
    }
}
