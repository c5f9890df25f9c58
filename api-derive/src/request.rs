//! Implements `#[derive(Request)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Expr, Ident, parse_quote};

use crate::attributes::{Attributes, doc};
use crate::members::{StructMember, inside_optional, members};

const KEYS: [&str; 9] =
    ["name", "example", "change", "change_example", "partial", "check", "check_new", "fields", "shown"];

/// Input for the parser of one struct: the declared struct, or the one for its PATCH.
struct ParserInput<'a> {
    ident: &'a Ident,
    name: String,
    doc: &'a str,
    example: Option<&'a Expr>,
    members: &'a [StructMember],
    /// `true` if unknown fields are ignored.
    open: bool,
    /// Checks across fields, each with the struct of the fields that could be parsed.
    checks: Vec<(&'a Ident, &'a Expr)>,
}

pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = Attributes::of(&input.attrs, &KEYS)?;
    let all = members(input)?;
    let ident = &input.ident;
    let (change, partial) = (attributes.ident("change")?, attributes.ident("partial")?);
    let view = change.as_ref().or(partial.as_ref());
    let check_of = |key: &str| match (attributes.value(key), view) {
        (Some(check), Some(view)) => Ok(vec![(view, check)]),
        (Some(check), None) => {
            let message = format!("`{key}` requires the struct of `change` or `partial`");
            Err(syn::Error::new_spanned(check, message))
        }
        (None, _) => Ok(Vec::new()),
    };
    let checks = check_of("check")?;
    let checks_of_new = [checks.clone(), check_of("check_new")?].concat();
    let (words, open) = (doc(&input.attrs), attributes.has("open"));
    let name = attributes.text("name")?.unwrap_or_else(|| ident.to_string());
    let example = attributes.value("example");
    let mut out =
        reading(&ParserInput { ident, name, doc: &words, example, members: &all, open, checks: checks_of_new });
    if let Some(view) = view {
        let optional: Vec<StructMember> = all.iter().map(as_optional).collect();
        out.extend(declaration(input, view, &optional));
        if change.is_some() {
            let (example, name) = (attributes.value("change_example"), view.to_string());
            let words = "Omitted fields are left unchanged.";
            out.extend(reading(&ParserInput {
                ident: view,
                name,
                doc: words,
                example,
                members: &optional,
                open,
                checks,
            }));
        }
        if let Some(fields) = attributes.value("fields") {
            out.extend(merge(input, view, &optional, fields));
        }
    }
    if let Some(fields) = attributes.value("fields") {
        out.extend(into_fields(input, &all, fields));
    }
    if let Some(answer_ident) = attributes.ident("shown")? {
        out.extend(shown_struct(input, &answer_ident, &all, attributes.value("fields")));
    }
    Ok(out)
}

/// Returns the same field with the same rules, but optional and without a default.
fn as_optional(member: &StructMember) -> StructMember {
    let mut member = member.clone();
    member.attributes.pairs.retain(|(key, _)| key != "default");
    if inside_optional(&member.ty).is_none() {
        let ty = &member.ty;
        member.ty = parse_quote!(::http::wire::Optional<#ty>);
    }
    member
}

fn declaration(input: &DeriveInput, ident: &Ident, all: &[StructMember]) -> TokenStream {
    let vis = &input.vis;
    let doc = format!("Fields of [`{}`], each of which may be absent.", input.ident);
    let members = all.iter().map(|StructMember { ident, vis, ty, doc, .. }| {
        let doc = (!doc.is_empty()).then(|| quote!(#[doc = #doc]));
        quote!(#doc #vis #ident: #ty)
    });
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        #vis struct #ident { #(#members),* }
    }
}

fn reading(of: &ParserInput<'_>) -> TokenStream {
    let ParserInput { ident, name, doc, example, members, open, checks } = of;
    let (mut reads, mut described, mut components) = (Vec::new(), Vec::new(), Vec::new());
    for member in *members {
        let StructMember { ident, ty, name, doc, .. } = member;
        if member.flatten {
            reads.push(quote!(let #ident = <#ty as ::http::wire::Request>::read(members);));
            described.push(quote!(all.extend(<#ty as ::http::wire::Request>::members());));
            continue;
        }
        let (rules, default) = (member.rules(), member.default_value());
        reads.push(quote!(let #ident = members.read::<#ty>(#name, #rules, #default);));
        described.push(quote!(all.push(::http::wire::request_member::<#ty>(#name, #doc, #rules, #default));));
        components.push(quote!(components.add::<#ty>();));
    }
    let idents: Vec<_> = members.iter().map(|member| &member.ident).collect();
    let checks = checks.iter().map(|(view, check)| {
        let fields = members.iter().map(|StructMember { ident, ty, .. }| {
            if inside_optional(ty).is_some() {
                quote!(#ident: #ident.clone().unwrap_or(::http::wire::Optional::Absent))
            } else {
                quote!(#ident: #ident.clone().into())
            }
        });
        quote!((#check)(&#view { #(#fields),* }, members.faults());)
    });
    let example = example.map(|value| quote!(fn example() -> ::serde_json::Value { #value }));
    let (schema, read_object) = if *open {
        (quote!(::http::wire::open_request_schema), quote!(::http::wire::read_open_object))
    } else {
        (quote!(::http::wire::request_schema), quote!(::http::wire::read_object))
    };
    quote! {
        impl ::http::wire::Request for #ident {
            fn members() -> Vec<::api_schema::Member> {
                let mut all = Vec::new();
                #(#described)*
                all
            }
            fn read(members: &mut ::http::wire::Members<'_>) -> Option<Self> {
                #(#reads)*
                #(#checks)*
                Some(Self { #(#idents: #idents?),* })
            }
        }
        impl ::api_schema::ToSchema for #ident {
            const NAME: Option<&'static str> = Some(#name);
            fn schema() -> ::api_schema::shape::Shape {
                #schema(<Self as ::http::wire::Request>::members(), #doc)
            }
            fn components(components: &mut ::api_schema::Components) {
                #(#components)*
            }
            #example
        }
        impl ::http::wire::FromJson for #ident {
            type Inner = Self;
            fn inner(&self) -> Option<&Self> {
                Some(self)
            }
            fn from_json(
                value: ::serde_json::Value,
                place: &::http::wire::ValuePath<'_>,
                faults: &mut ::http::wire::Faults,
            ) -> Option<Self> {
                #read_object(value, place, faults)
            }
        }
    }
}

/// Generates the methods that merge a change into the current domain fields.
fn merge(input: &DeriveInput, change: &Ident, all: &[StructMember], fields: &Expr) -> TokenStream {
    let vis = &input.vis;
    let idents: Vec<_> =
        all.iter().filter(|member| !member.attributes.has("separate")).map(|member| &member.ident).collect();
    quote! {
        impl #change {
            /// Returns the fields after this change.
            #vis fn merged_into(self, old: #fields) -> #fields {
                #fields { #(#idents: self.#idents.or(old.#idents)),* }
            }
            /// Returns whether the change affects any of the fields.
            #vis fn has_fields(&self) -> bool {
                #(self.#idents.is_present())||*
            }
        }
    }
}

/// Generates the conversion of a new resource to the domain fields; the caller passes the values of absent fields.
fn into_fields(input: &DeriveInput, all: &[StructMember], fields: &Expr) -> TokenStream {
    let (vis, ident) = (&input.vis, &input.ident);
    let all: Vec<&StructMember> = all.iter().filter(|member| !member.attributes.has("separate")).collect();
    let defaults = all.iter().filter_map(|StructMember { ident, ty, .. }| {
        let ty = inside_optional(ty)?;
        Some(quote!(#ident: #ty))
    });
    let values = all.iter().map(|StructMember { ident, ty, .. }| {
        if inside_optional(ty).is_some() { quote!(#ident: self.#ident.or(#ident)) } else { quote!(#ident: self.#ident) }
    });
    quote! {
        impl #ident {
            /// Converts to the domain fields, with the given values for absent fields.
            #vis fn into_fields(self, #(#defaults),*) -> #fields {
                #fields { #(#values),* }
            }
        }
    }
}

/// Generates the struct with the same fields for responses.
fn shown_struct(input: &DeriveInput, answer_ident: &Ident, all: &[StructMember], fields: Option<&Expr>) -> TokenStream {
    let vis = &input.vis;
    let all: Vec<&StructMember> = all.iter().filter(|member| !member.attributes.has("separate")).collect();
    let idents: Vec<_> = all.iter().map(|member| &member.ident).collect();
    let tys: Vec<_> = all.iter().map(|member| inside_optional(&member.ty).unwrap_or(&member.ty)).collect();
    let names: Vec<_> = all.iter().map(|member| &member.name).collect();
    let docs: Vec<_> = all.iter().map(|member| &member.doc).collect();
    let title = format!("Fields of [`{}`] that responses contain.", input.ident);
    let from = fields.map(|fields| {
        quote! {
            impl From<#fields> for #answer_ident {
                fn from(fields: #fields) -> Self {
                    Self { #(#idents: fields.#idents),* }
                }
            }
        }
    });
    quote! {
        #[doc = #title]
        #[derive(Clone, Debug, ::serde::Serialize)]
        #vis struct #answer_ident { #(#[serde(rename = #names)] #idents: #tys),* }
        impl ::api_schema::Flattened for #answer_ident {
            fn members() -> Vec<::api_schema::Member> {
                vec![#(::api_schema::response_member::<#tys>(#names, #docs)),*]
            }
            fn components(components: &mut ::api_schema::Components) {
                #(components.add::<#tys>();)*
            }
        }
        #from
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn expanded(input: DeriveInput) -> String {
        expand(&input).unwrap().to_string().replace(' ', "")
    }

    #[test]
    fn a_change_has_no_defaults_and_may_leave_everything_out() {
        let code = expanded(parse_quote! {
            #[api(change = ThingChange, fields = ThingFields)]
            struct NewThing {
                #[api(Filled, default = 7)]
                price_cents: i64,
                #[api(separate)]
                note: Optional<String>,
            }
        });
        assert!(code.contains("members.read::<i64>(\"priceCents\",&[&(Filled)],Some(7))"), "{code}");
        let change = "members.read::<::http::wire::Optional<i64>>(\"priceCents\",&[&(Filled)],None)";
        assert!(code.contains(change), "{code}");
        assert!(code.contains("ThingFields{price_cents:self.price_cents.or(old.price_cents)}"), "{code}");
        assert!(
            code.contains("fninto_fields(self,)->ThingFields{ThingFields{price_cents:self.price_cents}}"),
            "{code}"
        );
    }

    #[test]
    fn an_unknown_key_and_a_check_of_nothing_are_errors() {
        let error = |input: DeriveInput| expand(&input).unwrap_err().to_string();
        let unknown = error(parse_quote! { #[api(exmaple = 1)] struct A { a: i64 } });
        assert!(unknown.starts_with("expected one of"), "{unknown}");
        let check = error(parse_quote! { #[api(check = f)] struct A { a: i64 } });
        assert!(check.starts_with("`check` requires"), "{check}");
        let check = error(parse_quote! { #[api(check_new = f)] struct A { a: i64 } });
        assert!(check.starts_with("`check_new` requires"), "{check}");
        assert!(error(parse_quote! { enum A { B } }).starts_with("only for structs"));
    }

    #[test]
    fn what_is_checked_of_a_new_one_is_not_checked_of_a_change() {
        let code = expanded(parse_quote! {
            #[api(change = ThingChange, check = both, check_new = new)]
            struct NewThing {
                price_cents: i64,
            }
        });
        let times = |call: &str| code.matches(call).count();
        assert_eq!((times("(both)(&ThingChange{"), times("(new)(&ThingChange{")), (2, 1), "{code}");
    }

    #[test]
    fn the_doc_comment_is_the_description() {
        let code = expanded(parse_quote! {
            /// Of the
            /// shop.
            struct A {
                /// Seconds.
                #[api(name = "type", flatten)]
                kind: Page,
            }
        });
        assert!(code.contains("Oftheshop."), "{code}");
        assert!(
            code.contains("<PageascratehttpwireRequest>::read") || code.contains("<Pageas::http::wire::Request>::read")
        );
    }
}
