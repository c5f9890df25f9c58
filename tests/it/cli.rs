//! The command line, tested with the real binary.

mod audit;
mod backup_places;
mod chaos;
mod data;
mod leftovers;
mod mistakes;
pub mod newer;
pub mod process;
mod recount;
mod reliability;
mod tools;
mod transfer;
mod verify;

use std::io::{Read as _, Write as _, pipe};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;
use simulator::{Fleet, FleetOptions};

use self::process::{Place, Running, fill};
use crate::support::ports::closed_address;
use crate::support::seller::SELLER;

pub const SERVE: &str = "serve --data data --listen 127.0.0.1:0";
/// Line of a server that ends because its standard input did.
const ENDED_BY_INPUT: &str = "printfloor: ended, because standard input was closed";

/// Starts a server and waits until it is up; returns it with its address.
fn served(place: &Place) -> (Running, String) {
    let mut server = place.start(SERVE);
    let line = server.line("address   http://");
    (server, line.trim_start().trim_start_matches("address").trim().to_owned())
}

async fn status(base: &str, key: &str) -> u16 {
    let client = crate::support::client::http();
    client.get(format!("{base}/api/auth/api-keys")).header("X-API-Key", key).send().await.unwrap().status().as_u16()
}

fn id_of<'a>(list: &'a str, name: &str) -> &'a str {
    let line = list.lines().find(|line| line.contains(name)).unwrap();
    line.split_whitespace().next().unwrap()
}

#[tokio::test]
async fn keys_made_without_a_server_work_at_the_next_one() {
    let place = Place::new();
    let key = place.done("key create --new --data data --name first --role admin");
    assert!(key.starts_with("key_test_") && key.lines().count() == 1, "the key alone: {key:?}");
    let (_server, base) = served(&place);
    assert_eq!(status(&base, key.trim()).await, 200);
    assert_eq!(status(&base, "key_test_wrong").await, 401);
}

#[tokio::test]
async fn commands_are_clients_of_the_running_server() {
    let place = Place::new();
    let (_server, base) = served(&place);
    let key = place.done("key create --data data --name web --role admin");
    assert_eq!(status(&base, key.trim()).await, 200, "at once");
    let list = place.done("key list --data data");
    place.done(&format!("key revoke --data data {}", id_of(&list, "web")));
    assert_eq!(status(&base, key.trim()).await, 401, "at once");
    assert!(place.done("key list --data data").contains("revoked"));
}

#[test]
fn both_ways_print_the_same() {
    let place = Place::new();
    let expiry = "2099-01-31T12:00:00Z";
    place.done(&format!(
        "key create --new --data data --name shop --role customer --customer-email A@b.example --expires-at {expiry}"
    ));
    let outcome = place.run_with("user create --data data --email Boss@shop.example --role admin", "correct horse\n");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.out.starts_with("created the admin account boss@shop.example ("), "{outcome:?}");
    let alone = (place.done("key list --data data"), place.done("user list --data data"));
    assert!(
        alone.0.contains("customer a@b.example") && alone.0.contains("until 2099-01-31T12:00:00.000Z"),
        "{}",
        alone.0
    );

    let (_server, _) = served(&place);
    assert_eq!((place.done("key list --data data"), place.done("user list --data data")), alone);
    let outcome = place.run_with("user create --data data --email two@shop.example --role operator", "correct horse\n");
    assert!(outcome.out.starts_with("created the operator account two@shop.example ("), "{outcome:?}");
}

#[test]
fn both_ways_refuse_the_same() {
    let place = Place::new();
    place.done("key create --new --data data --name first --role admin");
    let refusals = || {
        let user = |email: &str, password: &str| {
            place.run_with(&format!("user create --data data --email {email} --role admin"), password)
        };
        let unknown = place.run("key revoke --data data 018f0000-0000-7000-8000-000000000000");
        let nobody = place.run_with("user passwd --data data --email nobody@shop.example", "correct horse\n");
        let all = [user("boss@shop.example", "short\n"), user("no-address", "correct horse\n"), unknown, nobody];
        all.map(|ended| (ended.code, ended.err))
    };
    let alone = refusals();
    assert!(alone.iter().all(|(code, words)| *code == Some(1) && !words.is_empty()), "{alone:?}");
    assert_eq!(alone[1].1.matches("email:").count(), 1, "the field is named once: {}", alone[1].1);
    let (_server, _) = served(&place);
    assert_eq!(refusals(), alone);
}

#[test]
fn the_server_says_how_to_get_in_until_somebody_can() {
    let place = Place::new();
    let (mut server, _) = served(&place);
    let command = server.line("user create");
    // What it says works from any folder, as it stands.
    let command = command.replace("you@example.com", "boss@shop.example");
    let words: Vec<&str> = command.split_whitespace().collect();
    assert!(words[0].starts_with('/') && words[4].starts_with('/'), "{command}");
    let mut typed = std::process::Command::new(words[0]);
    typed.args(&words[1..]).current_dir("/").stdin(std::process::Stdio::piped());
    let mut typed = typed.stdout(std::process::Stdio::null()).spawn().unwrap();
    typed.stdin.take().unwrap().write_all(b"correct horse\n").unwrap();
    assert!(typed.wait().unwrap().success(), "{command}");
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
    let (server, _) = served(&place);
    server.signal("INT");
    let (code, lines) = server.end();
    assert_eq!(code, Some(0), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("user create")), "{lines:?}");
}

#[test]
fn a_second_server_on_the_same_folder_names_the_first() {
    let place = Place::new();
    let (server, _) = served(&place);
    let second = place.run(SERVE);
    assert_eq!(second.code, Some(1));
    assert!(second.err.contains(&format!("process {}", server.pid())), "{second:?}");
    assert!(second.err.contains("--data DIR"), "it says what to do: {second:?}");
}

#[test]
fn a_port_in_use_says_what_to_do_and_leaves_nothing_behind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let place = Place::new();
    let ended = place.run(&format!("--data data --listen {address}"));
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains(&address) && ended.err.contains("--listen ADDR"), "{ended:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "no folder and no secrets");
}

#[test]
fn an_address_may_leave_out_what_is_usual() {
    let place = Place::new();
    for listen in ["localhost:0", ":0", "0"] {
        let mut server = place.start(&format!("serve --data data --listen {listen}"));
        assert!(server.line("address   http://").contains("http://127.0.0.1:"), "{listen}");
        server.signal("TERM");
        assert_eq!(server.end().0, Some(0));
    }
}

#[test]
fn a_closed_terminal_ends_it_in_order() {
    let place = Place::new();
    let (server, _) = served(&place);
    server.signal("HUP");
    let (code, lines) = server.end();
    assert_eq!(code, Some(0), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("stopping")), "{lines:?}");
}

#[test]
fn nobody_reading_the_output_is_no_failure() {
    let place = SELLER.iter().fold(Place::new(), |place, (name, text)| place.env(name, text));
    place.done("key create --new --data data --name first --role admin");
    for line in ["openapi", "config", "key list --data data"] {
        let ended = place.unread(line);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{line}");
    }
    let ended = place.unread("check --data data");
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "the checks go on, their result counts");
}

#[tokio::test]
async fn a_forgotten_password_is_set_anew_with_and_without_a_server() {
    let place = Place::new();
    let user = "--data data --email boss@shop.example";
    let outcome = place.run_with(&format!("user create --new {user} --role admin"), "first password\n");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let set = place.run_with(&format!("user passwd {user}"), "second password\n");
    assert_eq!(
        set.out, "set the password for boss@shop.example; all sessions of the account have been ended\n",
        "{set:?}"
    );
    let (_server, base) = served(&place);
    let sign_in = async |password: &str| {
        let body = serde_json::json!({"email": "boss@shop.example", "password": password});
        let request = crate::support::client::http().post(format!("{base}/api/auth/login")).json(&body);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((sign_in("first password").await, sign_in("second password").await), (401, 200));
    place.run_with(&format!("user passwd {user}"), "third password\n");
    assert_eq!((sign_in("second password").await, sign_in("third password").await), (401, 200));
}

#[test]
fn settings_are_listed_with_their_source() {
    let place = Place::new().env("SMTP_HOST", "mail.shop.example").env("SMTP_PASS", "hunter2");
    std::fs::write(place.path().join("printfloor.toml"), "[server]\nmax_headers = 50\n").unwrap();
    let all = place.done("config");
    assert!(all.contains("# Set by printfloor.toml; default: 100\nmax_headers = 50\n"), "{all}");
    assert!(all.contains("[webhooks]") && !all.contains("hunter2"), "{all}");
    let set = place.done("config --set");
    assert_eq!(set.lines().count(), 3, "{set}");
    assert!(set.contains("mail.smtp_host = \"mail.shop.example\"  # SMTP_HOST in the environment"), "{set}");
}

/// Checks the option that stops the server when its standard input closes, so that no server outlives the demo that
/// started it.
#[test]
fn it_can_be_told_to_end_with_its_standard_input() {
    let place = Place::new();
    let mut server = place.start(&format!("{SERVE} --end-with-stdin"));
    server.line("address   http://");
    server.close_input();
    let (code, lines) = server.end();
    assert_eq!(code, Some(0), "{lines:?}");
    assert!(lines.iter().any(|line| line == ENDED_BY_INPUT), "it says what ended it: {lines:?}");
    assert!(lines.iter().all(|line| !line.starts_with("stopping")), "at once: {lines:?}");
    // Others go on without it.
    let (mut server, _) = served(&place);
    server.close_input();
    assert!(place.done("key create --data data --name first --role admin").starts_with("key_test_"));
}

/// Fills standard error: the process that started the server may have exited without reading it.
#[test]
fn it_ends_with_its_standard_input_although_standard_error_is_full() {
    let (_unread, mut errors) = pipe().unwrap();
    let place = Place::new();
    let mut server = place.start_with_errors(&format!("{SERVE} --end-with-stdin"), errors.try_clone().unwrap());
    server.line("address   http://");
    fill(&mut errors);
    server.close_input();
    let (code, lines) = server.end();
    assert_eq!(code, Some(0), "{lines:?}");
}

/// Closes standard input before the server has started: a refused start is reported all the same.
#[test]
fn whose_input_has_ended_says_why_it_did_not_start_or_that_it_ended() {
    let place = Place::new();
    let command = format!("{SERVE} --end-with-stdin");
    let ended = place.run(&command);
    assert!(ended.out.contains("address   http://"), "{ended:?}");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.lines().any(|line| line == ENDED_BY_INPUT), "{ended:?}");
    let (_server, _) = served(&place);
    let refused = place.run(&command);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("is in use by another printfloor server"), "{refused:?}");
    assert!(!refused.err.contains(ENDED_BY_INPUT), "{refused:?}");
    let no_settings = place.run(&format!("{command} --config missing.toml"));
    assert_eq!(no_settings.code, Some(1), "{no_settings:?}");
    assert!(no_settings.err.contains("missing.toml"), "{no_settings:?}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let place = Place::new();
    let key = place.done("key create --new --data data --name up --role admin");
    let (mut server, base) = served(&place);
    // An upload that never ends holds up the drain.
    let mut upload = TcpStream::connect(base.trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /api/files HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-type: multipart/form-data; boundary=b\r\n\
         content-length: 100000\r\nexpect: 100-continue\r\n\r\n",
        key.trim()
    );
    upload.write_all(head.as_bytes()).unwrap();
    upload.set_read_timeout(Some(process::LONG)).unwrap();
    // The handler reads the body: the request is under way.
    let mut answer = [0; 12];
    upload.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    server.signal("TERM");
    server.line("a second signal stops the server immediately");
    server.signal("TERM");
    let began = std::time::Instant::now();
    let (code, lines) = server.end();
    assert_eq!(code, Some(1), "{lines:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "not after the 20 s that the upload has");
}

#[test]
fn wrong_usage_is_2_and_help_is_0() {
    let place = Place::new();
    for line in ["dance", "key create --name x", "--listen 127.0.0.1:0 key list", "demo --config x.toml"] {
        let ended = place.run(line);
        assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
        assert!(!ended.err.is_empty());
    }
    assert_eq!(place.run("--help").code, Some(0));
    assert!(place.done("--version").starts_with("printfloor "));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn check_is_content_with_what_works() {
    let place = Place::new();
    assert!(place.done("check --data data").contains("the first start creates it"));
    let (_server, _) = served(&place);
    let beside = place.done("check --data data");
    assert!(
        beside.contains("a server is running on this data directory") && beside.contains("tables are up to date"),
        "{beside}"
    );
    assert!(beside.ends_with("all checks passed\n"), "{beside}");
    assert!(beside.contains("go to the active admins") && !beside.contains("nobody is told"), "{beside}");
}

/// Checks that `check` does not disturb printers: closing a printer's serial port would abort its print.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_changes_nothing_at_a_printer() {
    let place = Place::new();
    let key = place.done("key create --new --data data --name up --role admin");
    let (_server, base) = served(&place);
    let fleet = Fleet::start(FleetOptions::default()).await.unwrap();
    let client = crate::support::client::http();
    for sim in &fleet.printers {
        let printer = json!({
            "name": sim.serial, "type": sim.kind.as_str(), "machineType": "fdm_standard", "baseUrl": sim.base_url,
            "apiKey": sim.api_key, "serial": sim.serial,
        });
        let request = client.post(format!("{base}/api/printers")).header("X-Api-Key", key.trim()).json(&printer).send();
        assert_eq!(request.await.unwrap().status(), 201);
        let (name, content) = crate::machines::files::printable(sim.kind, "a", 36_000, 5.0);
        sim.handle.put_file(&name, content);
        sim.handle.with(|machine| machine.start(&name)).unwrap();
    }
    let before: Vec<_> = fleet.printers.iter().map(|sim| sim.handle.log().len()).collect();
    let checked = place.done("check --data data");
    for (sim, before) in fleet.printers.iter().zip(before) {
        assert!(checked.contains(&sim.serial) && checked.contains("is printing"), "{checked}");
        let log = sim.handle.log();
        assert_eq!(log.len(), before, "{}: {:?}", sim.kind.as_str(), &log[before..]);
    }
}

#[test]
fn check_says_what_is_wrong_and_how_to_mend_it() {
    let nobody = closed_address();
    let place = Place::new()
        .env("DATABASE_URL", &format!("postgres://me:hunter2@{nobody}/shop"))
        .env("SMTP_HOST", "127.0.0.1")
        .env("SMTP_PORT", &nobody.port().to_string())
        .env("FW_REST_URL", &format!("http://{nobody}"))
        .env("PAYMENT_SECRET_KEY", "sk_test_hunter2");
    let ended = place.run("check --data data");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for what in ["database", "mail", "printer", "payments"] {
        let mut lines = ended.out.lines().skip_while(|line| !line.starts_with(&format!("WRONG  {what}")));
        assert!(lines.next().is_some(), "{what}: {}", ended.out);
        assert!(lines.next().is_some_and(|line| line.contains("-> ")), "{what}: {}", ended.out);
    }
    assert!(ended.err.contains("4 of ") && ended.err.contains("checks failed"), "{ended:?}");
    assert!(!ended.out.contains("hunter2"), "secrets stay secret: {}", ended.out);
}

#[test]
fn the_program_prints_its_manual_page_and_completions() {
    let place = Place::new();
    let page = place.done("man");
    assert!(page.contains(".TH printfloor 1") && page.contains(".SH \"PRINTFLOOR KEY CREATE\""), "{page}");
    let script = place.done("completions bash");
    for word in ["_printfloor", "completions", "passwd", "--expires-at"] {
        assert!(script.contains(word), "{word} in {script}");
    }
    let file = place.path().join("printfloor.bash");
    std::fs::write(&file, &script).unwrap();
    let read = std::process::Command::new("bash").arg("-n").arg(&file).status().unwrap();
    assert!(read.success(), "bash does not read it");
    assert!(place.done("completions zsh").starts_with("#compdef printfloor"));
    assert!(place.done("completions fish").contains("complete -c printfloor"));
}
