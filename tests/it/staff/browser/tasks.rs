//! Tasks of a working day, each performed from the floor page on by following visible text. Clicks and keystrokes are
//! counted and printed, and no task may take more of them than its shortest path, so that an additional page is
//! noticed. `at_printers` has the tasks at printers, `orders` those for orders, `office` those that need no printer.

mod at_printers;
mod office;
mod orders;

use crate::support::browser::Browser;

/// Task in progress, with the browser's counters at its start.
struct CountedTask {
    name: &'static str,
    actions: usize,
    keystrokes: usize,
}

impl CountedTask {
    /// Starts a task on the open page.
    fn begin(name: &'static str, browser: &Browser) -> Self {
        Self { name, actions: browser.actions, keystrokes: browser.keystrokes }
    }

    /// Prints the task's counts, and asserts that it took no more clicks and keystrokes than its shortest path. Each
    /// text field takes a click unless it has the focus already, and each selection takes one.
    #[track_caller]
    fn end(self, browser: &Browser, max_clicks: usize, max_keystrokes: usize) {
        let (clicks, keystrokes) = (browser.actions - self.actions, browser.keystrokes - self.keystrokes);
        println!("{}: {clicks} clicks, {keystrokes} keystrokes", self.name);
        assert!(clicks <= max_clicks, "{}: {clicks} clicks, {max_clicks} are enough", self.name);
        assert!(keystrokes <= max_keystrokes, "{}: {keystrokes} keystrokes, {max_keystrokes} are enough", self.name);
    }
}
