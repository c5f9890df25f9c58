//! Implements `#[derive(Response)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attributes::{Attributes, doc};
use crate::members::{StructMember, members};

pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = Attributes::of(&input.attrs, &["name", "many", "example"])?;
    let (ident, words) = (&input.ident, doc(&input.attrs));
    let name = attributes.text("name")?.unwrap_or_else(|| ident.to_string());
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let (mut described, mut components) = (Vec::new(), Vec::new());
    for StructMember { ty, name, doc, flatten, may_be_absent, .. } in members(input)? {
        if flatten {
            described.push(quote!(all.extend(<#ty as ::api_schema::Flattened>::members());));
            components.push(quote!(<#ty as ::api_schema::Flattened>::components(components);));
        } else {
            let member = if may_be_absent { quote!(absent_response_member) } else { quote!(response_member) };
            described.push(quote!(all.push(::api_schema::#member::<#ty>(#name, #doc));));
            components.push(quote!(components.add::<#ty>();));
        }
    }
    let example = attributes.value("example").map(|value| quote!(fn example() -> ::serde_json::Value { #value }));
    let listed = attributes.text("many")?.map(|many| {
        let page = format!("{name}Page");
        quote! {
            impl #generics ::api_schema::ListItem for #ident #arguments #bounds {
                const MEMBER: &'static str = #many;
                const PAGE_NAME: &'static str = #page;
            }
        }
    });
    Ok(quote! {
        impl #generics ::api_schema::ToSchema for #ident #arguments #bounds {
            const NAME: Option<&'static str> = Some(#name);
            fn schema() -> ::api_schema::shape::Shape {
                ::api_schema::response_schema(<Self as ::api_schema::Flattened>::members(), #words)
            }
            fn components(components: &mut ::api_schema::Components) {
                <Self as ::api_schema::Flattened>::components(components);
            }
            #example
        }
        impl #generics ::api_schema::Flattened for #ident #arguments #bounds {
            fn members() -> Vec<::api_schema::Member> {
                let mut all = Vec::new();
                #(#described)*
                all
            }
            fn components(components: &mut ::api_schema::Components) {
                #(#components)*
            }
        }
        impl #generics ::api_schema::Response for #ident #arguments #bounds {}
        #listed
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use syn::parse_quote;

    use super::*;

    #[test]
    fn names_are_those_that_serde_writes() {
        let code = expand(&parse_quote! {
            #[api(name = "Thing", many = "things")]
            struct ThingView {
                #[serde(flatten)]
                details: Details,
                #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
                kind: Kind,
                #[serde(skip_serializing_if = "Option::is_none")]
                note: Option<String>,
                created_at: Timestamp,
            }
        });
        let code = code.unwrap().to_string().replace(' ', "");
        assert!(code.contains("<Detailsas::api_schema::Flattened>::members()"), "{code}");
        assert!(code.contains("absent_response_member::<Kind>(\"type\",\"\")"), "{code}");
        assert!(code.contains("response_member::<Timestamp>(\"createdAt\",\"\")"), "{code}");
        assert!(code.contains("PAGE_NAME:&'staticstr=\"ThingPage\""), "{code}");
    }

    #[test]
    fn an_answer_may_borrow() {
        let code = expand(&parse_quote! { struct View<'a> { name: &'a str } });
        let code = code.unwrap().to_string().replace(' ', "");
        assert!(code.contains("impl<'a>::api_schema::ToSchemaforView<'a>"), "{code}");
    }
}
