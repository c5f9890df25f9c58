//! The demo in a terminal: a block at the top shows the state of the shop, and the lines scroll below it.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::counted;
use crate::cli::process::{LONG, Place, tool};

const ROWS: usize = 24;
const COLUMNS: usize = 100;
/// Number of rows of the block and the rule below it.
const BLOCK: usize = 5;

/// Subset of a terminal that the demo uses.
struct Terminal {
    rows: Vec<Vec<char>>,
    cursor: (usize, usize),
    saved_cursor: (usize, usize),
    /// First and last row of the scroll region, counted from 0.
    region: (usize, usize),
    /// Escape sequence that is still incomplete.
    escape: Option<String>,
}

impl Terminal {
    fn new() -> Self {
        let rows = vec![vec![' '; COLUMNS]; ROWS];
        Self { rows, cursor: (0, 0), saved_cursor: (0, 0), region: (0, ROWS - 1), escape: None }
    }

    fn row(&self, row: usize) -> String {
        self.rows[row].iter().collect::<String>().trim_end().to_owned()
    }

    fn take(&mut self, c: char) {
        if let Some(mut so_far) = self.escape.take() {
            so_far.push(c);
            let whole = match so_far.strip_prefix('[') {
                Some(rest) => rest.ends_with(|c: char| c.is_ascii_alphabetic()),
                None => true,
            };
            if whole {
                self.obey(&so_far);
            } else {
                self.escape = Some(so_far);
            }
            return;
        }
        match c {
            '\u{1b}' => self.escape = Some(String::new()),
            '\r' => self.cursor.1 = 0,
            '\n' if self.cursor.0 == self.region.1 => {
                let (first, last) = self.region;
                self.rows.remove(first);
                self.rows.insert(last, vec![' '; COLUMNS]);
            }
            '\n' => self.cursor.0 = (self.cursor.0 + 1).min(ROWS - 1),
            _ => {
                if self.cursor.1 == COLUMNS {
                    self.cursor.1 = 0;
                    self.take('\n');
                }
                self.rows[self.cursor.0][self.cursor.1] = c;
                self.cursor.1 += 1;
            }
        }
    }

    fn obey(&mut self, sequence: &str) {
        let Some(control) = sequence.strip_prefix('[') else {
            match sequence {
                "7" => self.saved_cursor = self.cursor,
                "8" => self.cursor = self.saved_cursor,
                other => panic!("escape {other:?}"),
            }
            return;
        };
        let (numbers, what) = control.split_at(control.len() - 1);
        let numbers: Vec<usize> = numbers.split(';').filter_map(|number| number.parse().ok()).collect();
        match (what, &numbers[..]) {
            ("H", [row, column]) => self.cursor = (row - 1, column - 1),
            ("K", []) => self.rows[self.cursor.0][self.cursor.1..].fill(' '),
            ("J", [2]) => self.rows = vec![vec![' '; COLUMNS]; ROWS],
            ("r", [first, last]) => (self.region, self.cursor) = ((first - 1, last - 1), (0, 0)),
            ("r", []) => (self.region, self.cursor) = ((0, ROWS - 1), (0, 0)),
            ("m", _) => {}
            other => panic!("control {other:?}"),
        }
    }
}

/// Process with its own terminal.
struct AtTerminal {
    child: Child,
    screen: Arc<Mutex<Terminal>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl AtTerminal {
    fn start(place: &Place, line: &str) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: ROWS as u16, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave: OwnedFd = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut command = place.command(line);
        command.stdin(Stdio::null()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let child = command.spawn().unwrap();
        drop(command); // with our end of the terminal, so that reading ends with the process
        let screen = Arc::new(Mutex::new(Terminal::new()));
        let display = screen.clone();
        let reader = std::thread::spawn(move || {
            let (mut file, mut bytes, mut piece) = (std::fs::File::from(master), Vec::new(), [0; 4096]);
            // The end of a terminal is an error to read.
            while let Ok(some @ 1..) = file.read(&mut piece) {
                bytes.extend_from_slice(&piece[..some]);
                let whole = match std::str::from_utf8(&bytes) {
                    Ok(_) => bytes.len(),
                    Err(error) => error.valid_up_to(),
                };
                let mut screen = display.lock().unwrap();
                let rest = bytes.split_off(whole);
                String::from_utf8(bytes).unwrap().chars().for_each(|c| screen.take(c));
                bytes = rest;
            }
        });
        Self { child, screen, reader: Some(reader) }
    }

    fn rows(&self) -> Vec<String> {
        let screen = self.screen.lock().unwrap();
        (0..ROWS).map(|row| screen.row(row)).collect()
    }

    /// Waits until the rows of the screen meet a condition; returns them.
    fn until(&self, what: &str, condition: impl Fn(&[String]) -> bool) -> Vec<String> {
        let began = Instant::now();
        loop {
            let rows = self.rows();
            if condition(&rows) {
                return rows;
            }
            assert!(began.elapsed() < LONG, "waited in vain for {what}:\n{}", rows.join("\n"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for AtTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_block_says_how_the_shop_stands_while_lines_scroll_below_it() {
    tool("printfloor-demo");
    let place = Place::new();
    let demo = format!("demo --data shop --listen 127.0.0.1:0 --printers 2 --base-port {}", place.ports());
    let mut demo = AtTerminal::start(&place, &demo);
    let stream = |rows: &[String], word: &str| rows[BLOCK..].iter().any(|row| row.contains(word));
    let first = demo.until("a block with an order", |rows| {
        rows[1].starts_with("Orders placed") && counted(&rows[1], "Orders placed") >= 1 && stream(rows, "order.")
    });
    assert!(
        first[0].starts_with("Printfloor demo   open http://127.0.0.1:") && first[0].contains("/docs"),
        "{first:?}"
    );
    assert!(first[2].starts_with("Prints finished"), "{first:?}");
    assert_eq!(first[4], "─".repeat(COLUMNS), "a rule under it");
    // The block follows what happens, and what scrolls never runs into it.
    let later = demo.until("more orders, and a print under way", |rows| {
        counted(&rows[1], "Orders placed") > counted(&first[1], "Orders placed") && rows[3].contains('%')
    });
    assert_eq!(later[3].split("   ").count(), 2, "both printers: {later:?}");
    assert_eq!((&later[0], &later[4]), (&first[0], &first[4]));
    assert!(stream(&later, "job.printing") || stream(&later, "order."), "{later:?}");
    let pid = rustix::process::Pid::from_child(&demo.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(demo.child.wait().unwrap().code(), Some(0));
    demo.reader.take().unwrap().join().unwrap();
    let rows = demo.rows();
    assert_eq!(demo.screen.lock().unwrap().region, (0, ROWS - 1), "the whole terminal scrolls again");
    assert!(rows.iter().any(|row| row.starts_with("orders placed")), "the summary: {rows:?}");
}
