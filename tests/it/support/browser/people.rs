//! User actions on a page by visible text, independent of the page's markup.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::input::button_event;
use super::{Browser, Tab, pause_after};
use crate::support::waiting::LONG;

/// Types of fields whose value is set as a whole, because it cannot be typed character by character.
const SET_WHOLE: [&str; 7] = ["date", "time", "datetime-local", "month", "week", "color", "range"];

impl Browser {
    /// Clicks a button or a link by its name. A collapsed section is expanded first, which counts as a separate click.
    pub async fn press(&mut self, tab: &Tab, name: &str) {
        self.press_near(tab, name, "").await;
    }

    /// Clicks as [`Self::press`] does, choosing the candidate nearest to this text.
    pub async fn press_near(&mut self, tab: &Tab, name: &str, near: &str) {
        let at = self.place(tab, "press", name, near).await;
        self.click(tab, &at).await;
    }

    /// Fills in a field by its label, or selects the option with this text.
    pub async fn fill(&mut self, tab: &Tab, label: &str, text: &str) {
        self.fill_near(tab, label, "", text).await;
    }

    /// Fills in a field as [`Self::fill`] does, choosing the candidate nearest to this text.
    pub async fn fill_near(&mut self, tab: &Tab, label: &str, near: &str, text: &str) {
        let at = self.place(tab, "fill", label, near).await;
        if at["tag"] == "select" {
            self.actions += 1;
            let wrong = self.eval(tab, &format!("seen.choose({})", json!(text))).await;
            assert_eq!(wrong, "", "{label}: nothing to choose is called {text:?}");
        } else if at["type"].as_str().is_some_and(|kind| SET_WHOLE.contains(&kind)) {
            self.actions += 1;
            self.keystrokes += text.chars().count();
            self.eval(tab, &format!("seen.put({})", json!(text))).await;
        } else {
            // A field in which the page begins takes no click.
            if self.eval(tab, "document.activeElement === seen.at").await != json!(true) {
                self.click(tab, &at).await;
            }
            self.keystrokes += text.chars().count();
            self.eval(tab, "void (seen.at.focus(), seen.at.select && seen.at.select())").await;
            self.call(Some(tab), "Input.insertText", json!({"text": text})).await;
        }
    }

    /// Ticks a checkbox by its label, unless it is ticked, choosing the candidate nearest to this text.
    pub async fn tick_near(&mut self, tab: &Tab, label: &str, near: &str) {
        let at = self.place(tab, "tick", label, near).await;
        if self.eval(tab, "seen.at.checked").await == json!(false) {
            self.click(tab, &at).await;
        }
    }

    /// Ticks the first checkbox with this label, unless it is ticked.
    pub async fn tick(&mut self, tab: &Tab, label: &str) {
        self.tick_near(tab, label, "").await;
    }

    /// Selects a file in a field by the field's label.
    pub async fn attach(&mut self, tab: &Tab, label: &str, near: &str, file: &Path) {
        self.actions += 1;
        self.place(tab, "attach", label, near).await;
        let element = self.call(Some(tab), "Runtime.evaluate", json!({"expression": "seen.at"})).await;
        let params = json!({"files": [file], "objectId": element["result"]["objectId"]});
        self.call(Some(tab), "DOM.setFileInputFiles", params).await;
    }

    /// Returns the value of a field, by its label.
    pub async fn value(&mut self, tab: &Tab, label: &str) -> String {
        self.place(tab, "fill", label, "").await;
        self.eval(tab, "seen.at.value").await.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until this text is visible on the page, ignoring case.
    pub async fn sees(&mut self, tab: &Tab, words: &str) {
        self.until(tab, &format!("{words:?} to be seen"), &format!("seen.says({})", json!(words))).await;
    }

    /// Waits until this text is no longer visible on the page.
    pub async fn sees_no(&mut self, tab: &Tab, words: &str) {
        self.until(tab, &format!("{words:?} to be gone"), &format!("!seen.says({})", json!(words))).await;
    }

    /// Returns whether these words can be read on the page now.
    pub async fn says(&mut self, tab: &Tab, words: &str) -> bool {
        self.eval(tab, &format!("seen.says({})", json!(words))).await == json!(true)
    }

    /// Returns all visible text of a page in one line.
    pub async fn text(&mut self, tab: &Tab) -> String {
        self.eval(tab, "seen.text()").await.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the path of the page, with its query.
    pub async fn path(&mut self, tab: &Tab) -> String {
        let path = self.eval(tab, "location.pathname + location.search").await;
        path.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the position at which to click an element, after waiting until it is present and nothing covers it.
    async fn place(&mut self, tab: &Tab, kind: &str, name: &str, near: &str) -> Value {
        let expression = format!("seen.restingPlace({}, {}, {})", json!(kind), json!(name), json!(near));
        let expression = format!("document.readyState === 'complete' ? {expression} : null");
        let began = Instant::now();
        loop {
            let element = self.try_eval(tab, &expression).await.filter(|element| element["x"].is_number());
            match element {
                Some(at) if at["fold"].is_string() => self.click(tab, &at).await,
                Some(at) => return at,
                None if began.elapsed() < LONG => tokio::time::sleep(pause_after(began.elapsed())).await,
                None => {
                    let there = self.try_eval(tab, "[location.href, ...seen.names()].join('\\n')").await;
                    let there = there.as_ref().and_then(Value::as_str).unwrap_or_default();
                    panic!("nothing to {kind} is called {name:?} (near {near:?}) on {there}");
                }
            }
        }
    }

    async fn click(&mut self, tab: &Tab, at: &Value) {
        self.actions += 1;
        let before = self.events.len();
        // The page may make what is pressed anew at any moment: between the two events, the press would be lost.
        let acts = [true, false].map(|down| button_event(middle(at), down));
        self.call_all(tab, "Input.dispatchMouseEvent", acts).await;
        self.settled(tab, before).await;
    }

    /// Waits for the page that the last action leads to, if any; `from` is the number of events recorded before the
    /// action.
    pub(super) async fn settled(&mut self, tab: &Tab, from: usize) {
        // What the act does at once has begun when this is answered.
        let _ = self.try_eval(tab, "new Promise(done => setTimeout(done, 0))").await;
        let has_event = |all: &[Value], method: &str| {
            all.iter().skip(from).any(|event| event["sessionId"] == tab.0 && event["method"] == method)
        };
        if !has_event(&self.events, "Page.frameStartedLoading") {
            return;
        }
        while !has_event(&self.events, "Page.frameStoppedLoading") {
            let message = self.read().await;
            self.keep(message);
        }
        self.hold_drawn(tab).await;
    }
}

fn middle(at: &Value) -> (f64, f64) {
    (at["x"].as_f64().unwrap_or_default(), at["y"].as_f64().unwrap_or_default())
}
