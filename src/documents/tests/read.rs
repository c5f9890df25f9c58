//! Minimal XML parser for tests: elements and their text; attributes are ignored.

/// XML element with its content.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Name of the element without its prefix.
    pub name: String,
    pub text: String,
    pub children: Vec<Self>,
}

impl Element {
    /// Parses a document and returns the root element; panics if the document is not well formed.
    pub fn read(xml: &str) -> Self {
        let mut open = vec![Self::default()];
        let mut rest = xml.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        while let Some(at) = rest.find('<') {
            open.last_mut().unwrap().text.push_str(&unescaped(&rest[..at]));
            let end = at + rest[at..].find('>').unwrap();
            let tag = &rest[at + 1..end];
            rest = &rest[end + 1..];
            if let Some(name) = tag.strip_prefix('/') {
                let mut closed = open.pop().unwrap();
                assert_eq!(closed.name, local(name), "elements nest");
                closed.text = closed.text.trim().to_owned();
                open.last_mut().unwrap().children.push(closed);
                continue;
            }
            let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let name = tag.split_once(' ').map_or(tag, |(name, _)| name);
            let element = Self { name: local(name).to_owned(), ..Self::default() };
            if empty { open.last_mut().unwrap().children.push(element) } else { open.push(element) }
        }
        assert_eq!(open.len(), 1, "every element is closed");
        open.remove(0).children.remove(0)
    }

    /// Returns the first element with the given name at any depth.
    pub fn find(&self, name: &str) -> Option<&Self> {
        self.children.iter().find_map(|child| if child.name == name { Some(child) } else { child.find(name) })
    }

    /// Returns the direct children with the given name.
    pub fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Returns the text of the direct child with the given name.
    pub fn child_text(&self, name: &str) -> Option<&str> {
        let child = self.children.iter().find(|child| child.name == name)?;
        Some(&child.text)
    }
}

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
