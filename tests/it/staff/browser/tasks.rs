//! Tasks of a working day, each done from the floor on by the words that people see. Clicks and keystrokes are counted
//! and printed, and no task takes more clicks than its shortest way: a page that needs another one is noticed here.
//! `at_printers` has what is done at printers, `orders` what is done for orders, `office` all that needs no printer.

mod at_printers;
mod office;
mod orders;

use crate::support::browser::Browser;

/// Task that somebody is doing, with the counts of the browser at its beginning.
struct CountedTask {
    name: &'static str,
    actions: usize,
    keystrokes: usize,
}

impl CountedTask {
    /// Begins a task on the page that is open.
    fn begin(name: &'static str, browser: &Browser) -> Self {
        Self { name, actions: browser.actions, keystrokes: browser.keystrokes }
    }

    /// Prints the counts of the task, and asserts that it took no more clicks than its shortest way. A field to type
    /// into takes a click unless the page begins in it, and so does one to choose from.
    #[track_caller]
    fn end(self, browser: &Browser, max_clicks: usize) {
        let (clicks, keystrokes) = (browser.actions - self.actions, browser.keystrokes - self.keystrokes);
        println!("{}: {clicks} clicks, {keystrokes} keystrokes", self.name);
        assert!(clicks <= max_clicks, "{}: {clicks} clicks, {max_clicks} are enough", self.name);
    }
}
