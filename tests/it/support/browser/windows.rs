//! Appearance of a page: the size of its window, light and dark, in front; and pictures of it.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::{Browser, Tab};

impl Browser {
    /// Sets the width of the window, as on a phone.
    pub async fn width(&mut self, tab: &Tab, width: u32) {
        self.window(tab, width, 800, true).await;
    }

    /// Sets the size of the window.
    pub async fn window(&mut self, tab: &Tab, width: u32, height: u32, phone: bool) {
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone});
        self.call(Some(tab), "Emulation.setDeviceMetricsOverride", params).await;
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

    /// Lists the elements that are wider than the window, outside of parts that scroll by themselves.
    pub async fn wider(&mut self, tab: &Tab) -> Vec<String> {
        let wide = self.eval(tab, "seen.wide()").await;
        wide.as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
    }

    /// Returns words in cells of tables that break inside.
    pub async fn broken_words(&mut self, tab: &Tab) -> Vec<String> {
        let words = self.eval(tab, "seen.broken()").await;
        words.as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
    }

    /// Returns words in cells of tables that are narrower than the word.
    pub async fn narrow_cells(&mut self, tab: &Tab) -> Vec<String> {
        let words = self.eval(tab, "seen.narrow()").await;
        words.as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
    }

    /// Takes a picture of what the window shows, as `WebP`; gives its bytes.
    pub async fn picture(&mut self, tab: &Tab, file: &Path) -> usize {
        let shot = self.call(Some(tab), "Page.captureScreenshot", json!({"format": "webp", "quality": 80})).await;
        let bytes = BASE64_STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, &bytes).unwrap();
        bytes.len()
    }
}
