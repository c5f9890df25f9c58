//! Request parameters of the processor: forms whose field names are paths, such as `line_items[0][quantity]=1`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fault::ErrorResponse;

/// Maximum number of values in one request.
const MAX_VALUES: usize = 500;
/// Maximum nesting depth of names.
const MAX_DEPTH: usize = 6;
/// Maximum length of a metadata key, maximum length of a metadata value (both in characters), and maximum number of
/// entries.
const MAX_METADATA: (usize, usize, usize) = (40, 500, 50);

/// Parameter value, or nested values by name; list entries are named by their indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ParamNode {
    Text(String),
    Named(BTreeMap<String, ParamNode>),
}

/// Parameters of a request, or a nested part of them.
#[derive(Clone, Debug)]
pub(super) struct Params {
    root: ParamNode,
    /// Path of the nested part, for error messages.
    path: String,
}

impl Params {
    /// Parses a form into parameters.
    pub(super) fn parse(text: &str) -> Result<Self, ErrorResponse> {
        let mut root = BTreeMap::new();
        let pairs: Vec<&str> = text.split('&').filter(|pair| !pair.is_empty()).collect();
        if pairs.len() > MAX_VALUES {
            return Err(ErrorResponse::invalid(format!("more than {MAX_VALUES} parameters"), ""));
        }
        for pair in pairs {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let bad = || ErrorResponse::invalid(format!("Invalid request: {pair} cannot be decoded"), "");
            let (name, value) = (decoded(name).ok_or_else(bad)?, decoded(value).ok_or_else(bad)?);
            let steps = steps(&name).filter(|steps| steps.len() <= MAX_DEPTH);
            let steps =
                steps.ok_or_else(|| ErrorResponse::invalid(format!("Invalid parameter name: {name}"), &name))?;
            insert(&mut root, &steps, value).ok_or_else(|| ErrorResponse::invalid(format!("Invalid {name}"), &name))?;
        }
        Ok(Self { root: ParamNode::Named(root), path: String::new() })
    }

    /// Returns a canonical string, which is the same for equal parameters regardless of their order.
    pub(super) fn canonical(&self) -> String {
        format!("{:?}", self.root)
    }

    /// Rejects parameters that are not allowed for the call.
    pub(super) fn only(&self, allowed: &[&str]) -> Result<(), ErrorResponse> {
        match self.members().find(|(name, _)| !allowed.contains(&name.as_str()) && *name != "expand") {
            Some((name, _)) => Err(ErrorResponse::unknown(&self.named(name))),
            None => Ok(()),
        }
    }

    /// Returns a parameter's full name, including the path of the nested part.
    pub(super) fn named(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}[{name}]", self.path) }
    }

    fn members(&self) -> impl Iterator<Item = (&String, &ParamNode)> {
        let named = match &self.root {
            ParamNode::Named(named) => Some(named),
            ParamNode::Text(_) => None,
        };
        named.into_iter().flatten()
    }

    fn member(&self, name: &str) -> Option<&ParamNode> {
        self.members().find(|(own, _)| *own == name).map(|(_, node)| node)
    }

    /// Returns whether the parameter is present.
    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// Returns a parameter as text; `None` if it is absent or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.member(name) {
            Some(ParamNode::Text(text)) => Some(text.as_str()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// Returns a required parameter as text.
    pub(super) fn required(&self, name: &str) -> Result<&str, ErrorResponse> {
        self.text(name).ok_or_else(|| ErrorResponse::missing(&self.named(name)))
    }

    /// Returns a parameter as an integer; `None` if it is absent.
    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, ErrorResponse> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let wrong = || {
            ErrorResponse::invalid(format!("Invalid integer: {text}"), &self.named(name))
                .code("parameter_invalid_integer")
        };
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// Returns a parameter as a flag, `true` or `false`; `None` if it is absent.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, ErrorResponse> {
        match self.text(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(text) => Err(ErrorResponse::invalid(format!("Invalid boolean: {text}"), &self.named(name))),
        }
    }

    /// Returns a nested part of the parameters; `None` if it is absent.
    pub(super) fn part(&self, name: &str) -> Option<Self> {
        match self.member(name) {
            Some(root @ ParamNode::Named(_)) => Some(Self { root: root.clone(), path: self.named(name) }),
            _ => None,
        }
    }

    /// Returns the entries of a list of nested parts, in order.
    pub(super) fn parts(&self, name: &str) -> Vec<Self> {
        let list = self.part(name);
        let mut numbers: Vec<usize> =
            list.iter().flat_map(Params::members).filter_map(|(number, _)| number.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.into_iter().filter_map(|number| list.as_ref()?.part(&number.to_string())).collect()
    }

    /// Returns the entries of a list of strings.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.part(name);
        let texts = list.iter().flat_map(Params::members).filter_map(|(_, node)| match node {
            ParamNode::Text(text) => Some(text.clone()),
            ParamNode::Named(_) => None,
        });
        texts.collect()
    }

    /// Returns metadata, which maps keys to strings.
    pub(super) fn metadata(&self, name: &str) -> Result<Value, ErrorResponse> {
        let mut map = Map::new();
        let (key_chars, value_chars, most) = MAX_METADATA;
        for (key, node) in self.part(name).iter().flat_map(Params::members) {
            let path = format!("{}[{key}]", self.named(name));
            let ParamNode::Text(text) = node else {
                return Err(ErrorResponse::invalid(format!("Invalid string: {path}"), &path));
            };
            if key.chars().count() > key_chars || text.chars().count() > value_chars || map.len() >= most {
                return Err(ErrorResponse::invalid("Metadata is too long".to_owned(), &path));
            }
            map.insert(key.clone(), Value::String(text.clone()));
        }
        Ok(Value::Object(map))
    }
}

/// Splits `a[b][c]` into its steps; `None` if the brackets are malformed.
fn steps(name: &str) -> Option<Vec<String>> {
    let (first, mut rest) = name.split_at(name.find('[').unwrap_or(name.len()));
    let mut steps = vec![first.to_owned()];
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[')?;
        let end = inside.find(']')?;
        steps.push(inside[..end].to_owned());
        rest = &inside[end + 1..];
    }
    Some(steps)
}

/// Inserts a value; `None` if the name is already taken by a value or a nested part.
fn insert(into: &mut BTreeMap<String, ParamNode>, steps: &[String], value: String) -> Option<()> {
    let (first, rest) = steps.split_first()?;
    // `expand[]=a&expand[]=b`: entries are numbered as they come.
    let name = if first.is_empty() { into.len().to_string() } else { first.clone() };
    if rest.is_empty() {
        return into.insert(name, ParamNode::Text(value)).is_none().then_some(());
    }
    match into.entry(name).or_insert_with(|| ParamNode::Named(BTreeMap::new())) {
        ParamNode::Named(named) => insert(named, rest, value),
        ParamNode::Text(_) => None,
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn names_say_where_a_value_stands() {
        let text = "mode=payment&line_items%5B0%5D%5Bquantity%5D=2&line_items[1][quantity]=3&metadata[a+b]=%C3%BC&expand[]=x&expand[]=y";
        let params = Params::parse(text).unwrap();
        assert_eq!(params.text("mode"), Some("payment"));
        let counts: Vec<_> = params.parts("line_items").iter().map(|line| line.integer("quantity").unwrap()).collect();
        assert_eq!(counts, [Some(2), Some(3)]);
        assert_eq!(params.metadata("metadata").unwrap(), serde_json::json!({"a b": "ü"}));
        assert_eq!(params.texts("expand"), ["x", "y"]);
        assert!(params.only(&["mode", "line_items"]).is_err());
        assert!(params.only(&["mode", "line_items", "metadata"]).is_ok());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["a[b=1", "a=1&a[b]=2", "a%zz=1", "a[b][c][d][e][f][g]=1"] {
            assert!(Params::parse(text).is_err(), "{text}");
        }
        assert!(Params::parse(&"a=1&".repeat(501)).is_err());
    }
}
