//! Keyboard and mouse input of a browser.

use serde_json::{Value, json};

use super::{Browser, Tab};

/// Maximum number of presses of the Tab key until an element has the focus.
const MAX_STEPS: usize = 400;

/// Builds the event for a key press or release.
fn key_event(key: &str, down: bool) -> Value {
    let (code, number) = match key {
        "Enter" => ("Enter", 13),
        "Tab" => ("Tab", 9),
        "Escape" => ("Escape", 27),
        "ArrowLeft" => ("ArrowLeft", 37),
        "ArrowRight" => ("ArrowRight", 39),
        _ => ("Space", 32),
    };
    let kind = if down { "keyDown" } else { "keyUp" };
    let mut params = json!({"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number});
    match key {
        "Enter" if down => params["text"] = json!("\r"),
        " " if down => params["text"] = json!(" "),
        _ => {}
    }
    params
}

/// Builds the event for a mouse button press or release at a position in the window.
pub(super) fn button_event((x, y): (f64, f64), down: bool) -> Value {
    let kind = if down { "mousePressed" } else { "mouseReleased" };
    json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": i32::from(down), "clickCount": 1})
}

impl Browser {
    /// Presses or releases a key: `Tab`, `Enter`, ` `, `Escape`, `ArrowLeft`, `ArrowRight`.
    pub async fn key(&mut self, tab: &Tab, key: &str, down: bool) {
        self.call(Some(tab), "Input.dispatchKeyEvent", key_event(key, down)).await;
    }

    /// Presses and releases a key without anything in between.
    pub async fn tap_key(&mut self, tab: &Tab, key: &str) {
        self.call_all(tab, "Input.dispatchKeyEvent", [true, false].map(|down| key_event(key, down))).await;
    }

    /// Presses and releases a key, and waits for the page that this leads to.
    pub async fn strike(&mut self, tab: &Tab, key: &str) {
        self.actions += 1;
        let before = self.events.len();
        self.key(tab, key, true).await;
        self.key(tab, key, false).await;
        self.settled(tab, before).await;
    }

    /// Presses the Tab key until the focused element's name begins with this text.
    pub async fn tab_to(&mut self, tab: &Tab, begin: &str) {
        let begin = begin.to_lowercase();
        self.tab_until(tab, &begin, |name| name.starts_with(&begin)).await;
    }

    /// Presses the Tab key until the focused element has this name.
    pub async fn tab_to_whole(&mut self, tab: &Tab, name: &str) {
        let name = name.to_lowercase();
        self.tab_until(tab, &name, |focused| focused == name).await;
    }

    async fn tab_until(&mut self, tab: &Tab, target: &str, is_it: impl Fn(&str) -> bool) {
        let mut passed = Vec::new();
        for _ in 0..MAX_STEPS {
            self.key(tab, "Tab", true).await;
            self.key(tab, "Tab", false).await;
            let focused = self.eval(tab, "seen.focused()").await;
            let focused = focused.as_str().unwrap_or_default().to_lowercase();
            if is_it(&focused) {
                return;
            }
            passed.push(focused);
        }
        panic!("the tab key does not reach {target:?}; it passes {passed:?}");
    }

    /// Types a text into the focused element.
    pub async fn write(&mut self, tab: &Tab, text: &str) {
        self.actions += 1;
        self.keystrokes += text.chars().count();
        self.call(Some(tab), "Input.insertText", json!({"text": text})).await;
    }

    /// Presses the Tab key once around the page; returns the names of all stops, and of those whose focus is not
    /// visible.
    pub async fn tab_around(&mut self, tab: &Tab) -> (Vec<String>, Vec<String>) {
        let (mut stops, mut unseen) = (Vec::new(), Vec::new());
        for _ in 0..MAX_STEPS {
            self.key(tab, "Tab", true).await;
            self.key(tab, "Tab", false).await;
            let stop = self.eval(tab, "seen.stop()").await;
            if stop["again"] == json!(true) {
                return (stops, unseen);
            }
            let name = stop["name"].as_str().unwrap_or_default().to_owned();
            if stop["hidden"] == json!(true) {
                unseen.push(name.clone());
            }
            stops.push(name);
        }
        panic!("the tab key does not come around: {stops:?}");
    }

    /// Presses or releases the mouse button over the middle of an element.
    pub async fn mouse(&mut self, tab: &Tab, selector: &str, down: bool) {
        let place = self.middle(tab, selector).await;
        self.button(tab, place, down).await;
    }

    /// Presses and releases the mouse button over the middle of an element without anything in between.
    pub async fn tap(&mut self, tab: &Tab, selector: &str) {
        let place = self.middle(tab, selector).await;
        self.call_all(tab, "Input.dispatchMouseEvent", [true, false].map(|down| button_event(place, down))).await;
    }

    /// Returns the position of the middle of an element in the window.
    async fn middle(&mut self, tab: &Tab, selector: &str) -> (f64, f64) {
        let place = format!(
            "(() => {{ const at = document.querySelector({selector:?}); at.scrollIntoView({{block: 'center'}}); \
             const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let at = self.eval(tab, &place).await;
        (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
    }

    /// Presses or releases the mouse button at a position in the window.
    async fn button(&mut self, tab: &Tab, place: (f64, f64), down: bool) {
        self.call(Some(tab), "Input.dispatchMouseEvent", button_event(place, down)).await;
    }

    /// Drags a file from outside the browser over an element, and drops it there.
    pub async fn drop_file(&mut self, tab: &Tab, selector: &str, file: &std::path::Path) {
        self.actions += 1;
        let place = format!(
            "(() => {{ const at = document.querySelector({selector:?}); at.scrollIntoView({{block: 'center'}}); \
             const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + 12]; }})()"
        );
        let at = self.eval(tab, &place).await;
        let data = json!({"items": [], "files": [file], "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            let params = json!({"type": kind, "x": at[0], "y": at[1], "data": data});
            self.call(Some(tab), "Input.dispatchDragEvent", params).await;
        }
    }
}
