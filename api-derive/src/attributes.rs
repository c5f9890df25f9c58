//! Parses the `#[api(...)]` attributes and the doc comment of a struct or a field.

use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Ident, LitStr, Token};

/// Flags: names without a value.
const FLAGS: [&str; 3] = ["flatten", "open", "separate"];

/// Contents of `#[api(...)]`: `key = value` pairs, flags, and rules, which are all other expressions.
#[derive(Default, Clone)]
pub struct Attributes {
    pub pairs: Vec<(Ident, Expr)>,
    pub flags: Vec<Ident>,
    pub rules: Vec<Expr>,
}

impl Parse for Attributes {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attributes = Self::default();
        while !input.is_empty() {
            if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                let key = input.parse()?;
                input.parse::<Token![=]>()?;
                attributes.pairs.push((key, input.parse()?));
            } else {
                match input.parse()? {
                    Expr::Path(path)
                        if path.path.get_ident().is_some_and(|ident| FLAGS.iter().any(|flag| ident == flag)) =>
                    {
                        attributes.flags.extend(path.path.get_ident().cloned());
                    }
                    rule => attributes.rules.push(rule),
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(attributes)
    }
}

impl Attributes {
    /// Parses all `#[api(...)]` attributes; a key that is not in `allowed` is an error.
    pub fn of(attributes: &[Attribute], allowed: &[&str]) -> syn::Result<Self> {
        let mut all = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("api")) {
            let one: Self = attribute.parse_args()?;
            all.pairs.extend(one.pairs);
            all.flags.extend(one.flags);
            all.rules.extend(one.rules);
        }
        match all.pairs.iter().find(|(key, _)| !allowed.iter().any(|candidate| key == candidate)) {
            Some((key, _)) => Err(syn::Error::new(key.span(), format!("expected one of {allowed:?}, or a rule"))),
            None => Ok(all),
        }
    }

    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|candidate| candidate == flag)
    }

    pub fn value(&self, key: &str) -> Option<&Expr> {
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub fn ident(&self, key: &str) -> syn::Result<Option<Ident>> {
        self.value(key).map(|value| syn::parse2(quote!(#value))).transpose()
    }

    pub fn text(&self, key: &str) -> syn::Result<Option<String>> {
        let literal = self.value(key).map(|value| syn::parse2::<LitStr>(quote!(#value))).transpose()?;
        Ok(literal.map(|literal| literal.value()))
    }
}

/// Parsed `#[serde(...)]` attribute of a field.
#[derive(Default)]
pub struct SerdeWords {
    /// Name in JSON, if it differs from the default.
    pub name: Option<String>,
    /// `true` for a field whose own fields are included among those of the struct.
    pub flatten: bool,
    /// `true` for a field that is omitted under a condition (`skip_serializing_if`).
    pub skip: bool,
}

/// Parses the `#[serde(...)]` attributes of a field.
pub fn serde_words(attributes: &[Attribute]) -> syn::Result<SerdeWords> {
    let mut words = SerdeWords::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            let value = if meta.input.peek(Token![=]) { Some(meta.value()?.parse::<LitStr>()?) } else { None };
            if meta.path.is_ident("rename") {
                words.name = value.map(|value| value.value());
            }
            words.flatten |= meta.path.is_ident("flatten");
            words.skip |= meta.path.is_ident("skip_serializing_if");
            Ok(())
        })?;
    }
    Ok(words)
}

/// Returns the doc comment as one text, with lines joined by spaces and paragraphs separated by empty lines.
pub fn doc(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Ok(meta) = attribute.meta.require_name_value() else { continue };
        let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) = &meta.value else { continue };
        match (line.value().trim(), text.ends_with('\n') || text.is_empty()) {
            ("", _) => text.push_str("\n\n"),
            (line, true) => text.push_str(line),
            (line, false) => text.extend([" ", line]),
        }
    }
    text.trim().to_owned()
}
