//! The reverse proxies from docs/OPERATIONS.md, run as documented except for addresses and certificates: event streams
//! are not delayed, large files pass, and clients are distinguished by address.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::{app, in_one_window};
use crate::api::{id, one_of, some_sku};
use crate::support::db::SERVICES;
use crate::support::ports::free_port;
use crate::support::stream::Stream;
use crate::support::waiting::LONG;
use crate::support::{App, Client, until};

/// Environment variable that is set if the proxies are installed; `scripts/test` sets it.
const PROXIES: &str = "PRINTFLOOR_TEST_PROXIES";
/// Address of the server in the documentation.
const SERVER: &str = "127.0.0.1:8787";
/// Size of a file that exceeds nginx's default limit (1 MiB), in bytes.
const LARGE_BYTES: usize = 3 * 1024 * 1024;
/// Number of requests per minute that a client without a key may send.
const FEW: u32 = 5;

/// Returns the first code block of a section of the documentation.
fn block(section: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/OPERATIONS.md");
    let document = fs::read_to_string(path).unwrap();
    let (_, section) = document.split_once(&format!("\n### {section}\n")).expect("a section on the proxy");
    let (_, fenced) = section.split_once("\n```").expect("a block of code");
    let (_, code) = fenced.split_once('\n').unwrap();
    code.split_once("\n```").expect("its end").0.to_owned()
}

/// Replaces a part of a code block, which must contain it.
fn replaced(block: &str, part: &str, by: &str) -> String {
    assert!(block.contains(part), "no {part:?} in {block}");
    block.replace(part, by)
}

/// A proxy in front of a server.
struct Proxy {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Proxy {
    /// Starts Caddy with the block of the document, without certificates.
    async fn caddy(server: &App) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let block = replaced(&block("Caddy"), "shop.example.com {", &format!("http://127.0.0.1:{port} {{"));
        let block = replaced(&block, SERVER, server.base.trim_start_matches("http://"));
        let file = folder.path().join("Caddyfile");
        let options = "{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\n";
        fs::write(&file, format!("{options}{block}\n")).unwrap();
        let mut command = Command::new("/usr/bin/caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
        for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, folder.path());
        }
        Self::start(command, port, folder).await
    }

    /// Starts nginx with the block of the document, without certificates.
    async fn nginx(server: &App) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let block = replaced(&block("nginx"), "listen 443 ssl;", &format!("listen 127.0.0.1:{port};"));
        let block = replaced(&block, "listen 80;", &format!("listen 127.0.0.1:{};", free_port()));
        let block = replaced(&block, SERVER, server.base.trim_start_matches("http://"));
        let of_tls = |line: &&str| ["ssl_certificate", "http2 on;"].iter().any(|word| line.trim().starts_with(word));
        let block = block.lines().filter(|line| !of_tls(line)).collect::<Vec<_>>().join("\n");
        let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {}/{name};\n", folder.path().display()))
            .concat();
        let file = folder.path().join("nginx.conf");
        // One process, which ends with the test.
        let process = format!("daemon off;\nmaster_process off;\npid {}/pid;\n", folder.path().display());
        let text = format!("{process}error_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{folders}{block}\n}}\n");
        fs::write(&file, text).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command.args(["-e", "stderr", "-p"]).arg(folder.path()).arg("-c").arg(file);
        Self::start(command, port, folder).await
    }

    async fn start(mut command: Command, port: u16, folder: TempDir) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let proxy = Self { child, port, _folder: folder };
        let client = proxy.client(Ipv4Addr::LOCALHOST, None);
        let answers = || async { client.http.get(format!("{}/healthz", client.base)).send().await.ok() };
        until("the proxy to answer", answers).await;
        proxy
    }

    /// Returns a client that sends its requests from this address of the machine through the proxy.
    #[expect(clippy::disallowed_methods, reason = "a test's own client")]
    fn client(&self, at: Ipv4Addr, key: Option<&str>) -> Client {
        let http = reqwest::Client::builder().no_proxy().local_address(IpAddr::V4(at)).timeout(LONG).build().unwrap();
        Client { base: format!("http://127.0.0.1:{}", self.port), key: key.map(str::to_owned), http }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a server behind a proxy on the same machine; `None` if the programs are not installed and services are not
/// required.
async fn server() -> Option<App> {
    if std::env::var_os(PROXIES).is_none() {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {PROXIES} is not");
        eprintln!("left out: no {PROXIES}");
        return None;
    }
    let few = FEW.to_string();
    let settings = [("SERVER__TRUSTED_PROXIES", "127.0.0.1"), ("LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", few.as_str())];
    Some(app(&settings).await)
}

/// Checks that events pass the proxy at once, while the stream stays open and no buffer is full.
async fn passes_events_at_once(server: &App, staff: &Client) {
    let sku = some_sku(server).await;
    let mut stream = Stream::open(staff, "/api/events/stream", None).await;
    let order = id(&server.post("/api/orders", &one_of(&sku)).await.expect(201));
    while stream.next().await.expect("the stream goes on").data["subject"]["id"] != order.as_str() {}
}

/// Checks that a file larger than some proxies allow by default is stored unchanged.
async fn passes_large_files(staff: &Client) {
    let mut bytes = b"G28\n".to_vec();
    bytes.resize(LARGE_BYTES, b'\n');
    let file = staff.upload("large.gcode", bytes).await.expect(201);
    assert_eq!(file["size"], LARGE_BYTES, "{file}");
}

/// Checks that each client has its own rate limit, whatever address it claims to have.
async fn tells_clients_apart(proxy: &Proxy) {
    let status = async |at: u8, claimed: Option<&str>| {
        let client = proxy.client(Ipv4Addr::new(127, 0, 0, at), None);
        let request = client.request("GET", "/api/orders");
        let request = claimed.into_iter().fold(request, |request, text| request.header("X-Forwarded-For", text));
        client.send(request).await.status
    };
    in_one_window(1, async |_| {
        for _ in 0..FEW {
            status(2, None).await;
        }
        assert_eq!(status(2, None).await, 429);
        assert_eq!(status(2, Some("203.0.113.9")).await, 429, "it claims another address");
        assert_eq!(status(3, None).await, 401, "another client");
    })
    .await;
}

/// Runs all checks for one proxy.
async fn check(server: &App, proxy: &Proxy) {
    let staff = proxy.client(Ipv4Addr::LOCALHOST, server.key.as_deref());
    let answer = staff.get("/api/orders").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"));
    passes_events_at_once(server, &staff).await;
    passes_large_files(&staff).await;
    tells_clients_apart(proxy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caddy_works_as_the_document_writes_it() {
    let Some(server) = server().await else { return };
    check(&server, &Proxy::caddy(&server).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nginx_works_as_the_document_writes_it() {
    let Some(server) = server().await else { return };
    check(&server, &Proxy::nginx(&server).await).await;
}

#[test]
fn the_blocks_of_the_document_are_found() {
    assert!(block("Caddy").starts_with("shop.example.com {") && block("Caddy").ends_with('}'));
    assert!(block("nginx").starts_with("upstream printfloor {") && block("nginx").contains("proxy_pass"));
}
