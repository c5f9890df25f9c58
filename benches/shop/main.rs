//! Benchmarks of the shop, as ratios that hold on any machine: each part measures both sides of its comparison within
//! one run.
//!
//! `cargo bench --bench shop` runs all parts, each in its own process, and prints one table; `cargo bench --bench shop
//! -- <part>` runs one. With `PRINTFLOOR_TEST_POSTGRES` (a superuser's address) the parts that depend on the database
//! run on PostgreSQL as well. Targets and results: `docs/PERFORMANCE.md`.
#![expect(clippy::unwrap_used, reason = "a measurement that goes wrong ends with words on why")]

mod adjust;
mod attack;
mod baseline;
mod client;
mod copies;
mod crowd;
mod customers;
mod database;
mod fill;
mod floor;
mod forecast;
mod ground;
mod hang;
mod hanging;
mod http;
mod intake;
mod live_pages;
mod load;
mod memory;
mod million;
mod mixed_load;
mod outside;
mod pdf;
mod program;
mod quote_model;
mod read;
mod remote;
mod simulated;
mod soak;
mod start;
mod stops;
mod storms;
mod table;
mod ten_thousand;
mod thousand;
mod waiting;
mod webhook;

use std::path::Path;
use std::process::{Command, Stdio};

use printfloor::config::Config;
use tokio::runtime::Runtime;

use table::Row;

const PARTS: [&str; 21] = [
    "adjust",
    "http",
    "read",
    "outside",
    "memory",
    "start",
    "webhook",
    "hang",
    "crowd",
    "attack",
    "floor",
    "live_pages",
    "forecast",
    "stops",
    "storms",
    "thousand",
    "hanging",
    "customers",
    "intake",
    "quote_model",
    "pdf",
];
/// Parts that take long or need much space, and therefore run only by name. The program exits with 1 if one of their
/// targets is missed.
const LONG_PARTS: [&str; 4] = ["copies", "million", "mixed_load", "ten_thousand"];
/// Argument that prints machine-readable rows, for the process that collects them.
const RAW: &str = "rows";

fn main() {
    printfloor::process_settings::apply();
    printfloor::platform::tls::install_provider();
    // As a server does: spans of requests are made, lines of the level `info` are written.
    let config = Config::default();
    printfloor::observe::log::start(&config.log.filter, config.has_json_log());
    // Cargo itself adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => table::print(&all()),
        ["fill", folder, orders, printers, endpoints] => {
            let numbers = [orders, printers, endpoints].map(|number| number.parse().unwrap());
            runtime().block_on(fill::fill(Path::new(folder), numbers));
        }
        ["register", folder] => runtime().block_on(fill::register(Path::new(folder))),
        ["finish", folder, orders] => runtime().block_on(fill::finish(Path::new(folder), orders.parse().unwrap())),
        ["resident", folder] => println!("{}", runtime().block_on(memory::resident(Path::new(folder)))),
        ["serving", folder, orders, printers] => {
            let expected = [orders, printers].map(|number| number.parse().unwrap());
            println!("{}", runtime().block_on(start::serving(Path::new(folder), expected)));
        }
        [RAW, "crowd-drive"] => runtime().block_on(crowd::drive()).iter().for_each(|row| println!("{}", row.raw())),
        [RAW, "outside-drive"] => runtime().block_on(outside::drive()).iter().for_each(|row| println!("{}", row.raw())),
        [RAW, part] => run(part).iter().for_each(|row| println!("{}", row.raw())),
        ["simulate", of_each] => runtime().block_on(simulated::serve(of_each.parse().unwrap())),
        ["serve", folder, ref more @ ..] => runtime().block_on(remote::serve(Path::new(folder), more)),
        ["bare", folder, order, material] => {
            runtime().block_on(outside::serve_bare(Path::new(folder), [order, material]));
        }
        ["soak"] => table::print(&runtime().block_on(soak::run())),
        [part] if PARTS.contains(&part) => table::print(&run(part)),
        [part] if LONG_PARTS.contains(&part) => {
            let rows = run(part);
            table::print(&rows);
            if rows.iter().any(Row::is_missed) {
                std::process::exit(1);
            }
        }
        _ => {
            eprintln!("no such part; there are: soak, {}, {}", PARTS.join(", "), LONG_PARTS.join(", "));
            std::process::exit(2);
        }
    }
}

fn all() -> Vec<Row> {
    let rows = |part: &&str| {
        eprintln!("{part} ...");
        child(&[RAW, part]).lines().map(Row::read).collect::<Vec<_>>()
    };
    PARTS.iter().flat_map(rows).collect()
}

fn run(part: &str) -> Vec<Row> {
    let runtime = runtime();
    match part {
        "adjust" => runtime.block_on(adjust::run()),
        "http" => runtime.block_on(http::run()),
        "read" => runtime.block_on(read::run()),
        "outside" => outside::run(),
        "webhook" => runtime.block_on(webhook::run()),
        "hang" => runtime.block_on(hang::run()),
        "memory" => runtime.block_on(memory::run()),
        "start" => start::run(),
        "crowd" => crowd::run(),
        "floor" => runtime.block_on(floor::run()),
        "live_pages" => runtime.block_on(live_pages::run()),
        "attack" => runtime.block_on(attack::run()),
        "forecast" => forecast::run(),
        "stops" => runtime.block_on(stops::run()),
        "storms" => runtime.block_on(storms::run()),
        "thousand" => runtime.block_on(thousand::run()),
        "ten_thousand" => runtime.block_on(ten_thousand::run()),
        "hanging" => runtime.block_on(hanging::run()),
        "customers" => runtime.block_on(customers::run()),
        "intake" => runtime.block_on(intake::run()),
        "quote_model" => runtime.block_on(quote_model::run()),
        "pdf" => runtime.block_on(pdf::run()),
        "copies" => runtime.block_on(copies::run()),
        "million" => runtime.block_on(million::run()),
        "mixed_load" => runtime.block_on(mixed_load::run()),
        other => unreachable!("{other} is none of the parts"),
    }
}

/// Returns the number in an environment variable, or `usual` if it is not set.
fn how_many(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

fn runtime() -> Runtime {
    Runtime::new().unwrap()
}

/// Runs this program with these arguments as a child process and returns its output.
fn child(words: &[&str]) -> String {
    output(Command::new(std::env::current_exe().unwrap()), words)
}

/// Runs this program as [`child`] does, on one core.
fn child_on(core: &str, words: &[&str]) -> String {
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(std::env::current_exe().unwrap());
    output(command, words)
}

fn output(mut command: Command, words: &[&str]) -> String {
    let output = command.args(words).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{words:?} failed");
    String::from_utf8(output.stdout).unwrap()
}
