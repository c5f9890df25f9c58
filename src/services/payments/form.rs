//! Request bodies in the processor's format: forms with nested names, such as `line_items[0][quantity]=1`.

/// Form fields in the order in which they are sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ProcessorForm(Vec<(String, String)>);

impl ProcessorForm {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    pub(super) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds a field if it has a value.
    pub(super) fn with_some(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds the entries of a map as fields below `name`.
    pub(super) fn with_map(mut self, name: &str, map: &[(String, String)]) -> Self {
        self.0.extend(map.iter().map(|(key, value)| (format!("{name}[{key}]"), value.clone())));
        self
    }

    /// Encodes the form for transmission.
    pub(super) fn encoded(&self) -> String {
        let mut text = url::form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(&self.0);
        text.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_where_a_value_stands() {
        let form = ProcessorForm::new()
            .with("mode", "payment")
            .with("line_items[0][quantity]", 1)
            .with_some("customer_email", None::<String>)
            .with_map("metadata", &[("orderId".to_owned(), "a&b=ü".to_owned())]);
        assert_eq!(
            form.encoded(),
            "mode=payment&line_items%5B0%5D%5Bquantity%5D=1&metadata%5BorderId%5D=a%26b%3D%C3%BC"
        );
    }
}
