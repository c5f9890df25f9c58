//! A real headless browser: Chromium, driven through its `DevTools` protocol. Skipped if Chromium is not installed and
//! services are not required.
//!
//! The accessibility rules of axe are checked on those opened pages that the run's seed selects, and on all of them in
//! the long profile; violations are reported among the faults. `people` performs actions by visible text; `input`
//! handles keyboard and mouse; `windows` the appearance of a page; `rules` axe.

mod input;
mod people;
mod rules;
mod windows;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::db::SERVICES;
use super::waiting::{BETWEEN, LONG, until};

pub use self::rules::AxeRule;
pub use self::windows::LayoutFaults;

/// Environment variable that is set if Chromium is installed.
const GIVEN: &str = "PRINTFLOOR_TEST_CHROMIUM";
/// Script injected into every page, with helpers that find elements as people do.
const PAGE_SCRIPT: &str = include_str!("browser/page.js");
/// Width and height of a desktop window, in pixels; pages are opened at this size.
pub const DESK: (u32, u32) = (1280, 900);
/// Maximum interval between two checks of a page, each of which lays out and reads the page.
const LONGEST_BETWEEN: Duration = Duration::from_millis(150);
/// Divisor that derives the next interval from the time already waited.
const WAITED_PART: u32 = 20;
/// Recorded browser events: faults, requests, and pages being loaded.
const KEPT: [&str; 8] = [
    "Log.entryAdded",
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Network.requestWillBeSent",
    "Page.frameStartedLoading",
    "Page.frameStoppedLoading",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
];

/// A running browser with its own profile.
pub struct Browser {
    child: Child,
    socket: WebSocketStream<TcpStream>,
    last: u64,
    /// Recorded browser events: method, session and parameters.
    events: Vec<Value>,
    /// Script with the accessibility rules; `None` if axe is not installed.
    axe: Option<String>,
    /// Violations of the accessibility rules, each with its page.
    broken: Vec<String>,
    /// `true` if opened pages are checked against the rules only on request.
    holds_by_hand: bool,
    /// Number of opened pages, each of which the seed may select for a check.
    pages: usize,
    /// Number of user actions: addresses, clicks, and filled-in fields.
    pub actions: usize,
    /// Number of characters typed into fields.
    pub keystrokes: usize,
    profile: TempDir,
}

/// One page of a browser.
#[derive(Clone, Debug)]
pub struct Tab(String);

/// Returns the pause before the next check of a page, given the time already waited.
fn pause_after(waited: Duration) -> Duration {
    (waited / WAITED_PART).clamp(BETWEEN, LONGEST_BETWEEN)
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    /// Starts a browser; `None` if Chromium is not installed and services are not required.
    pub async fn start() -> Option<Self> {
        if std::env::var_os(GIVEN).is_none() {
            assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {GIVEN} is not");
            eprintln!("left out: no {GIVEN}");
            return None;
        }
        let axe = rules::script();
        let profile = tempfile::Builder::new().prefix("printfloor-it-").tempdir().unwrap();
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/chromium");
        let mut command = Command::new(script);
        command.arg("run").arg(profile.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let place = profile.path().join("DevToolsActivePort");
        let (port, path) = until("the browser's port", || async {
            let text = std::fs::read_to_string(&place).ok()?;
            let (port, path) = text.split_once('\n')?;
            let path = path.trim();
            path.starts_with('/').then(|| (port.parse::<u16>().unwrap(), path.to_owned()))
        })
        .await;
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let (events, broken) = (Vec::new(), Vec::new());
        let (holds_by_hand, pages, actions, keystrokes) = (false, 0, 0, 0);
        Some(Self { child, socket, last: 0, events, axe, broken, holds_by_hand, pages, actions, keystrokes, profile })
    }

    /// Returns the folder of its profile, which is gone with it.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    async fn read(&mut self) -> Value {
        loop {
            let message = tokio::time::timeout(LONG, self.socket.next()).await.expect("the browser answers");
            if let Message::Text(text) = message.expect("it goes on").unwrap() {
                return serde_json::from_str(text.as_str()).unwrap();
            }
        }
    }

    fn keep(&mut self, event: Value) {
        if event["method"].as_str().is_some_and(|method| KEPT.contains(&method)) {
            self.events.push(event);
        }
    }

    /// Calls a method of the browser; returns its error if it refuses.
    async fn try_call(&mut self, tab: Option<&Tab>, method: &str, params: Value) -> Result<Value, Value> {
        self.last += 1;
        let id = self.last;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(tab) = tab {
            request["sessionId"] = json!(tab.0);
        }
        self.socket.send(Message::text(request.to_string())).await.unwrap();
        loop {
            let mut message = self.read().await;
            if message["id"] == id {
                return if message["error"].is_null() {
                    Ok(message["result"].take())
                } else {
                    Err(message["error"].take())
                };
            }
            self.keep(message);
        }
    }

    async fn call(&mut self, tab: Option<&Tab>, method: &str, params: Value) -> Value {
        self.try_call(tab, method, params).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method several times without waiting in between, so that nothing interferes, however busy the machine
    /// is.
    async fn call_all(&mut self, tab: &Tab, method: &str, acts: impl IntoIterator<Item = Value>) {
        let before = self.last;
        for params in acts {
            self.last += 1;
            let act = json!({"id": self.last, "method": method, "params": params, "sessionId": tab.0});
            self.socket.send(Message::text(act.to_string())).await.unwrap();
        }
        let mut open = self.last - before;
        while open > 0 {
            let answer = self.read().await;
            if answer["id"].as_u64().is_some_and(|id| id > before) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                open -= 1;
            } else {
                self.keep(answer);
            }
        }
    }

    /// Opens a page with this cookie (`name=value`), if given. Pages opened before become hidden.
    pub async fn open(&mut self, base: &str, path: &str, cookie: Option<&str>) -> Tab {
        self.open_in(false, base, path, cookie).await
    }

    /// Opens a page as [`Self::open`] does, in its own window, so that other pages stay visible.
    pub async fn open_window(&mut self, base: &str, path: &str, cookie: Option<&str>) -> Tab {
        self.open_in(true, base, path, cookie).await
    }

    async fn open_in(&mut self, window: bool, base: &str, path: &str, cookie: Option<&str>) -> Tab {
        let new = json!({"url": "about:blank", "newWindow": window});
        let target = self.call(None, "Target.createTarget", new).await;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", attach).await;
        let tab = Tab(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Network.enable", "Log.enable"] {
            self.call(Some(&tab), domain, json!({})).await;
        }
        self.window(&tab, DESK.0, DESK.1, false).await;
        let source = json!({"source": PAGE_SCRIPT});
        self.call(Some(&tab), "Page.addScriptToEvaluateOnNewDocument", source).await;
        if let Some((name, value)) = cookie.and_then(|cookie| cookie.split_once('=')) {
            // This machine counts as a safe place, so cookies for safe places alone are good here too.
            let safe = name.starts_with("__Host-");
            let cookie =
                json!({"name": name, "value": value, "url": base, "path": "/", "secure": safe, "httpOnly": true});
            self.call(Some(&tab), "Network.setCookie", cookie).await;
        }
        self.go(&tab, &format!("{base}{path}")).await;
        tab
    }

    /// Makes a tab run a script before the scripts of each page that it opens from now on.
    pub async fn run_before_pages(&mut self, tab: &Tab, script: &str) {
        self.call(Some(tab), "Page.addScriptToEvaluateOnNewDocument", json!({"source": script})).await;
    }

    /// Navigates to a page, waits until it is loaded, and checks it against the accessibility rules if the seed selects
    /// it.
    pub async fn go(&mut self, tab: &Tab, url: &str) {
        self.load(tab, url).await;
        self.hold_drawn(tab).await;
    }

    /// Navigates as [`Self::go`] does, but leaves the check against the rules to the caller.
    pub async fn load(&mut self, tab: &Tab, url: &str) {
        self.actions += 1;
        self.call(Some(tab), "Page.navigate", json!({"url": url})).await;
        let loaded = "location.href !== 'about:blank' && document.readyState === 'complete' && \
            document.fonts.status === 'loaded'";
        self.until(tab, "the page to be loaded", loaded).await;
    }

    /// Closes a page.
    pub async fn close(&mut self, tab: &Tab) {
        // The page may be gone before it answers.
        let _ = self.try_call(Some(tab), "Page.close", json!({})).await;
        // Nothing tells any more that its stream has ended.
        self.events.retain(|event| event["sessionId"] != tab.0 || event["params"]["type"] != "EventSource");
    }

    /// Evaluates an expression as [`Self::eval`] does; `None` if the page is navigating away.
    async fn try_eval(&mut self, tab: &Tab, expression: &str) -> Option<Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut gives = self.try_call(Some(tab), "Runtime.evaluate", params).await.ok()?;
        assert!(gives["exceptionDetails"].is_null(), "{expression}: {gives}");
        Some(gives["result"]["value"].take())
    }

    /// Evaluates an expression in the page.
    pub async fn eval(&mut self, tab: &Tab, expression: &str) -> Value {
        self.try_eval(tab, expression).await.unwrap_or_else(|| panic!("the page was left before {expression}"))
    }

    /// Waits until an expression is true in the page.
    pub async fn until(&mut self, tab: &Tab, what: &str, expression: &str) {
        let began = Instant::now();
        // What it asks for may not be on the page yet.
        let condition =
            format!("(async () => {{ try {{ return !!(await ({expression})) }} catch {{ return false }} }})()");
        while self.try_eval(tab, &condition).await != Some(json!(true)) {
            if began.elapsed() >= LONG {
                let page = self.try_eval(tab, "location.href + '\\n' + document.body.innerText").await;
                panic!("waited in vain for {what}: {}", page.as_ref().and_then(Value::as_str).unwrap_or_default());
            }
            tokio::time::sleep(pause_after(began.elapsed())).await;
        }
    }

    /// Lists the script errors and content security policy violations so far, the requests to servers other than
    /// `base`, and the violations of the accessibility rules.
    pub fn faults(&self, base: &str) -> Vec<String> {
        let fault = |event: &Value| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params.to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => Some(params.to_string()),
                // The refusals of commands are answers as others; what the policy of a page refuses is none.
                "Log.entryAdded" if params["entry"]["level"] == "error" && params["entry"]["source"] != "network" => {
                    Some(params.to_string())
                }
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str()?;
                    let own = ["about:", "data:", "blob:"].iter().any(|own| url.starts_with(own));
                    (!own && !url.starts_with(base)).then(|| url.to_owned())
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(fault).chain(self.broken.iter().cloned()).collect()
    }

    /// Waits until the number of open event streams, over all pages, satisfies a condition. While a page hands its
    /// stream over, the number may be off by one.
    pub async fn streams_are(&mut self, tab: &Tab, are: impl Fn(usize) -> bool) {
        let began = Instant::now();
        loop {
            let open = self.streams(tab).await;
            if are(open) {
                return;
            }
            assert!(began.elapsed() < LONG, "{open} streams are open");
            tokio::time::sleep(pause_after(began.elapsed())).await;
        }
    }

    /// Counts the open event streams over all pages.
    async fn streams(&mut self, tab: &Tab) -> usize {
        // What was told before is read with this.
        self.eval(tab, "0").await;
        let mut open: Vec<(&Value, &Value)> = Vec::new();
        for event in &self.events {
            let (params, request) = (&event["params"], (&event["sessionId"], &event["params"]["requestId"]));
            match event["method"].as_str() {
                Some("Network.requestWillBeSent") if params["type"] == "EventSource" => open.push(request),
                Some("Network.loadingFinished" | "Network.loadingFailed") => open.retain(|one| *one != request),
                // With the page that is left its stream ends, and nothing tells so.
                Some("Page.frameStartedLoading") => open.retain(|one| one.0 != request.0),
                _ => {}
            }
        }
        open.len()
    }
}
