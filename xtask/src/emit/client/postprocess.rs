//! Post-processes progenitor's output where no setting of progenitor does it.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{
    Attribute, ExprPath, Field, ImplItem, Item, ItemMod, ItemStruct, Meta, Token, Type, parse_quote,
    punctuated::Punctuated, visit_mut::VisitMut,
};

/// Changes `file`. `responses` are the names of the types that a response can hold.
///
/// - Integers and times of responses are read by `crate::lenient`: some services send ports as text.
/// - Bodies are read by `crate::hooks`: progenitor loses status and headers when it cannot parse a body.
/// - Structs of responses are `non_exhaustive`: a new field of the document is not a breaking change. They can be compared, and
///   hashed unless they hold a float or any JSON.
/// - `Client::new` is removed: its HTTP client may panic, follows redirects and sends a `Referer`.
/// - Builders of types are removed except those of request bodies: fields are public, and they are half of the file.
pub(super) fn postprocess(file: &mut syn::File, responses: &BTreeSet<String>) {
    let bodies = body_types(file);
    for item in &mut file.items {
        match item {
            Item::Mod(module) if module.ident == "types" => postprocess_types(module, responses, &bodies),
            Item::Mod(module) if module.ident == "builder" => ReadByHooks.visit_item_mod_mut(module),
            Item::Impl(block) if block.trait_.is_none() && name_of(&block.self_ty) == "Client" => {
                block
                    .items
                    .retain(|item| !matches!(item, ImplItem::Fn(function) if function.sig.ident == "new"));
            }
            _ => {}
        }
    }
}

/// The types that the builders of operations take as a body.
fn body_types(file: &syn::File) -> BTreeSet<String> {
    let builders = file.items.iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == "builder" => module.content.as_ref(),
        _ => None,
    });
    let mut found = BTreeSet::new();
    for item in builders.into_iter().flat_map(|(_, items)| items) {
        let Item::Struct(ItemStruct { fields, .. }) = item else { continue };
        for field in fields {
            let path = field.ty.to_token_stream().to_string().replace(' ', "");
            let body = path.split("types::builder::").nth(1).and_then(|rest| rest.split([',', '>']).next());
            found.extend(body.map(str::to_owned));
        }
    }
    found
}

fn postprocess_types(module: &mut ItemMod, responses: &BTreeSet<String>, bodies: &BTreeSet<String>) {
    let Some((_, items)) = &mut module.content else { return };
    let without_eq = without_eq(items);
    for item in items.iter_mut() {
        match item {
            Item::Struct(structure) if responses.contains(&structure.ident.to_string()) => {
                structure.attrs.push(if without_eq.contains(&structure.ident.to_string()) {
                    parse_quote!(#[derive(PartialEq)])
                } else {
                    parse_quote!(#[derive(PartialEq, Eq, Hash)])
                });
                structure.attrs.push(parse_quote!(#[non_exhaustive]));
                structure.fields.iter_mut().for_each(read_leniently);
            }
            Item::Impl(block) if !bodies.contains(&name_of(&block.self_ty)) => {
                block.items.retain(
                    |item| !matches!(item, ImplItem::Fn(function) if function.sig.ident == "builder"),
                );
            }
            Item::Mod(builders) if builders.ident == "builder" => {
                if let Some((_, items)) = &mut builders.content {
                    items.retain(|item| keeps_builder(item, bodies));
                }
            }
            _ => {}
        }
    }
    items.retain(
        |item| !matches!(item, Item::Impl(block) if block.trait_.is_none() && block.items.is_empty()),
    );
}

/// The structs that hold, themselves or in a field of a struct, what is not `Eq` and `Hash`.
fn without_eq(items: &[Item]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = ["f32", "f64", "Map", "HashMap", "Value"].map(str::to_owned).into();
    loop {
        let before = found.len();
        for item in items {
            let Item::Struct(ItemStruct { ident, fields, .. }) = item else { continue };
            let names_one = |field: &Field| {
                let text = field.ty.to_token_stream().to_string();
                text.split([' ', '<', '>', ':', ',']).any(|word| found.contains(word))
            };
            if fields.iter().any(names_one) {
                found.insert(ident.to_string());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn keeps_builder(item: &Item, bodies: &BTreeSet<String>) -> bool {
    match item {
        Item::Struct(structure) => bodies.contains(&structure.ident.to_string()),
        Item::Impl(block) => bodies.contains(&name_of(&block.self_ty)),
        _ => true,
    }
}

/// The last segment of a path type.
pub(super) fn name_of(ty: &Type) -> String {
    match ty {
        Type::Path(path) => {
            path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Replaces progenitor's reader of bodies.
struct ReadByHooks;

impl VisitMut for ReadByHooks {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        if path.to_token_stream().to_string().replace(' ', "") == "ResponseValue::from_response" {
            *path = parse_quote!(crate::hooks::read);
        }
    }
}

/// Reads numbers and times leniently. A required field stays required, even when it is nullable: progenitor marks such a
/// field with a deserializer, which ours replaces.
fn read_leniently(field: &mut Field) {
    let ty = field.ty.to_token_stream().to_string().replace(' ', "").replace("::std::option::", "");
    let reader = match ty.as_str() {
        "i64" => "integer",
        "Option<i64>" => "optional_integer",
        "::std::vec::Vec<i64>" => "integers",
        "::jiff::Timestamp" => "time",
        "Option<::jiff::Timestamp>" => "optional_time",
        _ => return,
    };
    let required = remove_key(&mut field.attrs, "deserialize_with");
    let reader = format!("crate::lenient::{reader}");
    field.attrs.push(parse_quote!(#[serde(deserialize_with = #reader)]));
    // serde reads an absent optional field as `None` only when it has no deserializer.
    if ty.starts_with("Option<") && !required {
        field.attrs.push(parse_quote!(#[serde(default)]));
    }
}

/// Removes `key` from the `serde` attributes; returns whether it was present.
fn remove_key(attributes: &mut [Attribute], key: &str) -> bool {
    let mut found = false;
    for attribute in attributes.iter_mut().filter(|attribute| attribute.path().is_ident("serde")) {
        let Ok(all) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
            continue;
        };
        let before = all.len();
        let kept: Punctuated<Meta, Token![,]> =
            all.into_iter().filter(|meta| !meta.path().is_ident(key)).collect();
        found |= kept.len() < before;
        *attribute = parse_quote!(#[serde(#kept)]);
    }
    found
}
