//! Runs the PostgreSQL client programs, which are located through `PATH`. The database address is passed to them in
//! environment variables, which other users cannot read, and never on the command line.

use std::io;
use std::process::Stdio;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use url::{Url, form_urlencoded};

use crate::connect::OpenError;
use crate::copy::CopyError;

/// Maximum number of bytes kept from a program's error output.
const MAX_KEPT_WORDS_BYTES: u64 = 4096;
/// Size of each read from a program's output, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// Environment variables that the programs inherit from this server: those needed to locate the programs, and those in
/// which the driver also looks up missing parts of the address.
const HANDED_ON: [&str; 7] = ["PATH", "HOME", "PGPASSWORD", "PGPASSFILE", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"];

/// Launcher for the PostgreSQL client programs of a database.
pub(super) struct PgPrograms {
    environment: Vec<(&'static str, String)>,
}

impl PgPrograms {
    /// Prepares the programs for the database at the given address, which is parsed as the driver parses it.
    pub(super) fn new(url: &str) -> Result<Self, CopyError> {
        let unreadable = |error: sqlx::Error| OpenError::from(sea_orm::DbErr::Custom(error.to_string()));
        let options = url.parse::<PgConnectOptions>().map_err(unreadable)?;
        let socket = options.get_socket().map(|path| path.display().to_string());
        let host = socket.unwrap_or_else(|| options.get_host().trim_matches(['[', ']']).to_owned());
        let mut environment = vec![
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("PGCONNECT_TIMEOUT", "5".to_owned()),
            ("PGHOST", host),
            ("PGPORT", options.get_port().to_string()),
            ("PGUSER", options.get_username().to_owned()),
            ("PGDATABASE", options.get_database().unwrap_or(options.get_username()).to_owned()),
            ("PGSSLMODE", ssl_word(options.get_ssl_mode()).to_owned()),
        ];
        environment.extend(options.get_options().map(|options| ("PGOPTIONS", options.to_owned())));
        environment.extend(kept_back(url));
        Ok(Self { environment })
    }

    /// Returns the name of the database.
    pub(super) fn database(&self) -> &str {
        let name = self.environment.iter().rev().find(|(name, _)| *name == "PGDATABASE");
        name.map_or("", |(_, value)| value)
    }

    /// Builds the command for a program, which gets no input and is killed when its handle is dropped.
    pub(super) fn command(&self, program: &'static str) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        command.envs(HANDED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Checks that a program is installed and not older than a database server of the given major version.
    pub(super) async fn must_know(&self, program: &'static str, server_version: u32) -> Result<(), CopyError> {
        let mut command = self.command(program);
        command.arg("--version");
        let mut output = Vec::new();
        read_out(program, command, |bytes| output.extend_from_slice(bytes)).await?;
        let output = String::from_utf8_lossy(&output);
        match major(&output) {
            Some(version) if version >= server_version => Ok(()),
            Some(version) => Err(CopyError::OldProgram { program, version, server_version }),
            None => Err(CopyError::Failed { program, words: format!("unknown version: {}", output.trim()) }),
        }
    }
}

/// Runs a program until it exits and discards its output.
pub(super) async fn is_done(program: &'static str, command: Command) -> Result<(), CopyError> {
    read_out(program, command, |_| {}).await
}

/// Runs a program until it exits and passes its output to a function as it arrives.
pub(super) async fn read_out(
    program: &'static str,
    mut command: Command,
    mut take: impl FnMut(&[u8]),
) -> Result<(), CopyError> {
    command.stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CopyError::NoProgram(program),
        _ => CopyError::Failed { program, words: error.to_string() },
    })?;
    let (printed, stderr) = (child.stdout.take(), child.stderr.take());
    let (drained, words) = tokio::join!(taken_to_the_end(printed, &mut take), words_of(stderr));
    drained?;
    let status = child.wait().await?;
    if status.success() {
        return Ok(());
    }
    let words = if words.is_empty() { format!("it exited with {status}") } else { words };
    Err(CopyError::Failed { program, words })
}

async fn taken_to_the_end(printed: Option<impl AsyncRead + Unpin>, take: &mut impl FnMut(&[u8])) -> io::Result<()> {
    let Some(mut printed) = printed else { return Ok(()) };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match printed.read(&mut piece).await? {
            0 => return Ok(()),
            read => take(&piece[..read]),
        }
    }
}

/// Returns the beginning of a program's error output, which contains the first error; drains the rest.
async fn words_of(stderr: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stderr) = stderr else { return String::new() };
    let mut excerpt = Vec::new();
    // What cannot be read is no reason to give up: the program's end tells how it went.
    let _ = (&mut stderr).take(MAX_KEPT_WORDS_BYTES).read_to_end(&mut excerpt).await;
    let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&excerpt).trim().to_owned()
}

/// Parses the major version from a program's version line, such as `pg_dump (PostgreSQL) 16.4 (Debian 16.4-1)`.
fn major(output: &str) -> Option<u32> {
    output.split_whitespace().find_map(|word| {
        let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        word[..end].parse().ok()
    })
}

fn ssl_word(mode: PgSslMode) -> &'static str {
    match mode {
        PgSslMode::Disable => "disable",
        PgSslMode::Allow => "allow",
        PgSslMode::Prefer => "prefer",
        PgSslMode::Require => "require",
        PgSslMode::VerifyCa => "verify-ca",
        PgSslMode::VerifyFull => "verify-full",
    }
}

/// Returns the parts of an address that the driver parses but does not expose: the password and certificates, each with
/// its environment variable.
fn kept_back(url: &str) -> Vec<(&'static str, String)> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let mut secrets: Vec<_> = url.password().map(|text| ("PGPASSWORD", decoded(text))).into_iter().collect();
    for (name, value) in url.query_pairs() {
        let variable = match &*name {
            "password" => "PGPASSWORD",
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => "PGSSLROOTCERT",
            "sslcert" | "ssl-cert" => "PGSSLCERT",
            "sslkey" | "ssl-key" => "PGSSLKEY",
            _ => continue,
        };
        secrets.push((variable, value.into_owned()));
    }
    secrets
}

/// Decodes the percent-encoded characters (`%40`) in a part of an address.
fn decoded(text: &str) -> String {
    // In forms two more characters have a meaning, which they do not have here.
    let as_form = format!("={}", text.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(as_form.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (output, is) in [
            ("pg_dump (PostgreSQL) 16.4 (Debian 16.4-1.pgdg120+1)\n", Some(16)),
            ("pg_restore (PostgreSQL) 17beta1", Some(17)),
            ("pg_dump (PostgreSQL) 9.6.24", Some(9)),
            ("no version", None),
        ] {
            assert_eq!(major(output), is, "{output}");
        }
    }

    #[test]
    fn where_the_database_is_stands_in_the_environment_alone() {
        let url = "postgres://sam:p%40s+s=%26&1@db.example:5433/shop?sslmode=require&sslrootcert=%2Fa%2Fb.pem";
        let programs = PgPrograms::new(url).unwrap();
        let of =
            |name: &str| programs.environment.iter().rev().find(|(variable, _)| *variable == name).unwrap().1.clone();
        assert_eq!((of("PGHOST"), of("PGPORT")), ("db.example".to_owned(), "5433".to_owned()));
        assert_eq!(
            (of("PGUSER"), of("PGDATABASE"), of("PGPASSWORD")),
            ("sam".to_owned(), "shop".to_owned(), "p@s+s=&&1".to_owned())
        );
        assert_eq!((of("PGSSLMODE"), of("PGSSLROOTCERT")), ("require".to_owned(), "/a/b.pem".to_owned()));
        let command = programs.command("pg_dump");
        assert_eq!(command.as_std().get_args().count(), 0);
        assert!(PgPrograms::new("postgres://[").is_err());
    }

    #[tokio::test]
    async fn a_program_that_is_missing_or_fails_is_told() {
        let programs = PgPrograms::new("postgres://sam@localhost/shop").unwrap();
        let missing = programs.must_know("printfloor-no-such-program", 16).await;
        assert!(matches!(missing, Err(CopyError::NoProgram(_))), "{missing:?}");
        let mut sh = programs.command("sh");
        sh.args(["-c", "echo out; echo wrong >&2; exit 3"]);
        let mut printed = Vec::new();
        let failed = read_out("sh", sh, |bytes| printed.extend_from_slice(bytes)).await;
        assert!(matches!(&failed, Err(CopyError::Failed { words, .. }) if words == "wrong"), "{failed:?}");
        assert_eq!(printed, b"out\n");
    }
}
