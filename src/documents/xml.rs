//! Writer for XML: nested elements, escaped text, and no empty elements.

use std::fmt::Write as _;

/// XML document being written.
pub struct Xml(String);

impl Xml {
    /// Writes a document with the given root element.
    pub fn document(root: &str, attributes: &str, write: impl FnOnce(&mut Self)) -> String {
        let mut xml = Self(String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
        let _ = write!(xml.0, "<{root} {attributes}>");
        write(&mut xml);
        let _ = write!(xml.0, "</{root}>");
        xml.0.push('\n');
        xml.0
    }

    /// Writes an element with children; omits the element if `write` writes nothing.
    pub fn group(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        let _ = write!(self.0, "<{name}>");
        let empty = self.0.len();
        write(self);
        if self.0.len() == empty {
            self.0.truncate(before);
        } else {
            let _ = write!(self.0, "</{name}>");
        }
    }

    /// Writes an element with text.
    pub fn text(&mut self, name: &str, text: &str) {
        let _ = write!(self.0, "<{name}>{}</{name}>", escaped(text));
    }

    /// Writes an element with text and one attribute.
    pub fn with(&mut self, name: &str, (attribute, value): (&str, &str), text: &str) {
        let _ = write!(self.0, "<{name} {attribute}=\"{}\">{}</{name}>", escaped(value), escaped(text));
    }

    /// Writes an element with text; omits it if there is no text.
    pub fn some(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) {
            self.text(name, text);
        }
    }
}

/// Escapes text for XML; characters that XML does not allow are omitted.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(c),
            '\r' | '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}
