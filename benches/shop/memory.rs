//! What an idle thing costs in memory: anonymous pages of a server that has many, less those of one that has none.

use std::path::Path;
use std::time::Duration;

use printfloor::server::Server;

use super::child;
use super::ground::{config, folder};
use super::table::Row;

/// Long enough for every printer to have been looked for in vain and for start-up work to be over.
const SETTLED: Duration = Duration::from_secs(5);

/// The part.
pub fn run() -> Vec<Row> {
    let none = measured([0, 0, 0]);
    let kinds = [
        ("order (paid, one job waiting, its stock held)", 10_000, [10_000, 0, 0]),
        ("printer (unreachable, looked for again and again)", 500, [0, 500, 0]),
        ("endpoint", 1_000, [0, 0, 1_000]),
    ];
    let mut rows =
        vec![Row::figure("memory of a server with nothing", format!("{:.1} MiB", none as f64 / 1_048_576.0))];
    for (name, count, numbers) in kinds {
        let each = measured(numbers).saturating_sub(none) / count;
        rows.push(Row::figure(format!("memory per idle {name}, of {count}"), format!("{each} bytes")));
    }
    rows
}

/// Bytes of a server with so many orders, printers, endpoints; freshly started, as one that filled itself has leftovers.
fn measured(numbers: [u64; 3]) -> u64 {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let numbers = numbers.map(|number| number.to_string());
    child(&["fill", path, &numbers[0], &numbers[1], &numbers[2]]);
    child(&["resident", path]).trim().parse().unwrap()
}

/// In a process of its own: bytes of anonymous memory of the server of this folder.
pub async fn resident(folder: &Path) -> u64 {
    let server = Server::start(config(folder, None)).await.unwrap();
    tokio::time::sleep(SETTLED).await;
    let bytes = anonymous();
    server.stop(Duration::from_secs(10)).await;
    bytes
}

fn anonymous() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
