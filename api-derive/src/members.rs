//! Parsed fields of a struct, shared by both macros.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, GenericArgument, Ident, PathArguments, Type, Visibility};

use crate::attributes::{Attributes, doc, serde_words};

#[derive(Clone)]
pub struct StructMember {
    pub ident: Ident,
    pub vis: Visibility,
    pub ty: Type,
    /// Name in JSON.
    pub name: String,
    /// Description in the OpenAPI document: the doc comment of the field.
    pub doc: String,
    pub flatten: bool,
    /// `true` for a field that `serde` may omit from a response.
    pub may_be_absent: bool,
    pub attributes: Attributes,
}

impl StructMember {
    /// Returns the field's rules, as a slice of trait objects.
    pub fn rules(&self) -> TokenStream {
        let rules = &self.attributes.rules;
        quote!(&[#(&(#rules)),*])
    }

    pub fn default_value(&self) -> TokenStream {
        self.attributes.value("default").map_or(quote!(None), |value| quote!(Some(#value)))
    }
}

pub fn members(input: &DeriveInput) -> syn::Result<Vec<StructMember>> {
    let Data::Struct(syn::DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, "only for structs with named fields"));
    };
    let member = |field: &syn::Field| {
        let attributes = Attributes::of(&field.attrs, &["default", "name"])?;
        let ident = field.ident.clone().ok_or_else(|| syn::Error::new_spanned(field, "a field without a name"))?;
        let serde = serde_words(&field.attrs)?;
        let name = attributes.text("name")?.or(serde.name).unwrap_or_else(|| camel_case(&ident.to_string()));
        let flatten = serde.flatten || attributes.has("flatten");
        let (vis, ty) = (field.vis.clone(), field.ty.clone());
        let (doc, may_be_absent) = (doc(&field.attrs), serde.skip);
        Ok(StructMember { ident, vis, ty, name, doc, flatten, may_be_absent, attributes })
    };
    fields.named.iter().map(member).collect()
}

/// Returns the name of a field in JSON: `priceCents` for `price_cents`.
pub fn camel_case(name: &str) -> String {
    let mut words = name.trim_start_matches("r#").split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (head, rest) = word.split_at(1.min(word.len()));
        text + &head.to_uppercase() + rest
    })
}

/// Returns the `T` of an `Optional<T>`.
pub fn inside_optional(ty: &Type) -> Option<&Type> {
    inside("Optional", ty)
}

/// Returns the `T` of a type with the given name and one argument.
pub fn inside<'a>(name: &str, ty: &'a Type) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
