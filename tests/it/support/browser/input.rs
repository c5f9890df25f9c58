//! Keys and mouse of a browser, as they come from a keyboard and a mouse.

use serde_json::{Value, json};

use super::{Browser, Tab};

/// Most presses of the tab key until something has the focus.
const MAX_STEPS: usize = 400;

/// Builds the event of a key that is pressed or let go.
fn key_event(key: &str, down: bool) -> Value {
    let (code, number) = match key {
        "Enter" => ("Enter", 13),
        "Tab" => ("Tab", 9),
        "Escape" => ("Escape", 27),
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

/// Builds the event of the mouse's button that is pressed or let go at a place of the window.
pub(super) fn button_event((x, y): (f64, f64), down: bool) -> Value {
    let kind = if down { "mousePressed" } else { "mouseReleased" };
    json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": i32::from(down), "clickCount": 1})
}

impl Browser {
    /// Presses a key or lets it go: `Tab`, `Enter`, ` `, `Escape`.
    pub async fn key(&mut self, tab: &Tab, key: &str, down: bool) {
        self.call(Some(tab), "Input.dispatchKeyEvent", key_event(key, down)).await;
    }

    /// Presses a key and lets it go in the same moment.
    pub async fn tap_key(&mut self, tab: &Tab, key: &str) {
        self.call_all(tab, "Input.dispatchKeyEvent", [true, false].map(|down| key_event(key, down))).await;
    }

    /// Presses a key and lets it go at once; waits for the page that it leads to.
    pub async fn strike(&mut self, tab: &Tab, key: &str) {
        self.actions += 1;
        let before = self.events.len();
        self.key(tab, key, true).await;
        self.key(tab, key, false).await;
        self.settled(tab, before).await;
    }

    /// Presses the tab key until something has the focus whose name begins so.
    pub async fn tab_to(&mut self, tab: &Tab, begin: &str) {
        let begin = begin.to_lowercase();
        self.tab_until(tab, &begin, |name| name.starts_with(&begin)).await;
    }

    /// Presses the tab key until what has this name has the focus.
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

    /// Types a text where the focus is.
    pub async fn write(&mut self, tab: &Tab, text: &str) {
        self.actions += 1;
        self.keystrokes += text.chars().count();
        self.call(Some(tab), "Input.insertText", json!({"text": text})).await;
    }

    /// Presses the tab key until it is around once: the names of all stops, and of those where nobody sees that the
    /// focus is there.
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

    /// Presses or lets go the mouse on the middle of an element.
    pub async fn mouse(&mut self, tab: &Tab, selector: &str, down: bool) {
        let place = self.middle(tab, selector).await;
        self.button(tab, place, down).await;
    }

    /// Presses the mouse on the middle of an element and lets it go in the same moment.
    pub async fn tap(&mut self, tab: &Tab, selector: &str) {
        let place = self.middle(tab, selector).await;
        self.call_all(tab, "Input.dispatchMouseEvent", [true, false].map(|down| button_event(place, down))).await;
    }

    /// Returns where in the window the middle of an element is.
    async fn middle(&mut self, tab: &Tab, selector: &str) -> (f64, f64) {
        let place = format!(
            "(() => {{ const at = document.querySelector({selector:?}); at.scrollIntoView({{block: 'center'}}); \
             const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let at = self.eval(tab, &place).await;
        (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
    }

    /// Presses or lets go the mouse at a place of the window.
    async fn button(&mut self, tab: &Tab, place: (f64, f64), down: bool) {
        self.call(Some(tab), "Input.dispatchMouseEvent", button_event(place, down)).await;
    }

    /// Drags files from elsewhere over the middle of an element, and drops them there.
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
