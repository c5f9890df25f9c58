//! Appearance of a page: window size, light and dark mode, visibility; and screenshots.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Browser, Tab};

/// Layout faults in a page at the current window size.
#[derive(Debug)]
pub struct LayoutFaults {
    /// Elements that are wider than the window, except inside scrolling regions.
    pub wide: Vec<String>,
    /// Words that break inside table cells.
    pub broken: Vec<String>,
    /// Words in table cells that are narrower than the word.
    pub narrow: Vec<String>,
}

/// Returns the strings in a list.
fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
}

impl Browser {
    /// Sets the width of the window and emulates a phone.
    pub async fn width(&mut self, tab: &Tab, width: u32) {
        self.window(tab, width, 800, true).await;
    }

    /// Enlarges the pages in a window of this size, as people do with its menu: `factor` is 2 for 200 %.
    pub async fn zoom(&mut self, tab: &Tab, (width, height): (u32, u32), factor: u32) {
        let (width, height) = (width / factor, height / factor);
        let params = json!({"width": width, "height": height, "deviceScaleFactor": factor, "mobile": false});
        self.call(Some(tab), "Emulation.setDeviceMetricsOverride", params).await;
    }

    /// Sets the size of the window.
    pub async fn window(&mut self, tab: &Tab, width: u32, height: u32, phone: bool) {
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone});
        self.call(Some(tab), "Emulation.setDeviceMetricsOverride", params).await;
    }

    /// Sets the language that the browser prefers. It applies to pages opened from now on.
    pub async fn language(&mut self, tab: &Tab, language: &str) {
        let headers = json!({"headers": {"Accept-Language": language}});
        self.call(Some(tab), "Network.setExtraHTTPHeaders", headers).await;
    }

    /// Sets whether the person prefers dark pages, or light ones.
    pub async fn dark(&mut self, tab: &Tab, dark: bool) {
        let scheme = json!({"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }});
        // What moves would be in no place for a picture.
        let motion = json!({"name": "prefers-reduced-motion", "value": "reduce"});
        self.call(Some(tab), "Emulation.setEmulatedMedia", json!({"features": [scheme, motion]})).await;
    }

    /// Brings a page to the front: the others are hidden.
    pub async fn front(&mut self, tab: &Tab) {
        self.call(Some(tab), "Page.bringToFront", json!({})).await;
    }

    /// Lists the elements that are wider than the window, except inside scrolling regions.
    pub async fn wider(&mut self, tab: &Tab) -> Vec<String> {
        texts(&self.eval(tab, "seen.wide()").await)
    }

    /// Lists the parts of a page's content that scroll sideways, or whose text is cut off without an ellipsis.
    pub async fn cut_off(&mut self, tab: &Tab) -> Vec<String> {
        texts(&self.eval(tab, "seen.cutOff()").await)
    }

    /// Returns all layout faults in a page, which is read only once for them.
    pub async fn layout_faults(&mut self, tab: &Tab) -> LayoutFaults {
        let faults = self.eval(tab, "seen.layout()").await;
        let [wide, broken, narrow] = ["wide", "broken", "narrow"].map(|kind| texts(&faults[kind]));
        LayoutFaults { wide, broken, narrow }
    }

    /// Takes a screenshot of the window as `WebP`; returns its size in bytes.
    pub async fn picture(&mut self, tab: &Tab, file: &Path) -> usize {
        let shot = self.call(Some(tab), "Page.captureScreenshot", json!({"format": "webp", "quality": 80})).await;
        let bytes = BASE64_STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, &bytes).unwrap();
        bytes.len()
    }
}
