//! Names that generated code cannot have: two names of the document, or one of them and one of Rust, become the same.

use std::collections::BTreeMap;

use quote::ToTokens as _;
use syn::{ImplItem, Item, UseTree};

use super::name::{pascal, snake};
use crate::document::Document;

/// Types of Rust that generated code uses by their short names.
const PRELUDE: &str = "AsRef Box Clone Copy Debug Default Drop Eq Err Fn FnMut FnOnce From FromIterator Hash Into IntoIterator \
    Iterator None Ok Option Ord PartialEq PartialOrd Result Self Send Some String Sync ToOwned ToString TryFrom TryInto Vec";

/// The first name that a file declares twice.
pub(super) fn repeated(file: &syn::File) -> Option<String> {
    let repeated_in = |mut names: Vec<String>| {
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
    };
    scopes(&file.items).into_iter().find_map(repeated_in)
}

/// The names of each scope of these items.
fn scopes(items: &[Item]) -> Vec<Vec<String>> {
    let mut types: Vec<String> = PRELUDE.split(' ').map(str::to_owned).collect();
    let (mut values, mut scopes) = (Vec::new(), Vec::new());
    // A type may have several blocks.
    let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in items {
        match item {
            Item::Struct(one) => {
                types.push(one.ident.to_string());
                let names = one.fields.iter().filter_map(|field| field.ident.as_ref());
                scopes.push(names.map(ToString::to_string).collect());
            }
            Item::Enum(one) => {
                types.push(one.ident.to_string());
                scopes.push(one.variants.iter().map(|variant| variant.ident.to_string()).collect());
            }
            Item::Impl(one) if one.trait_.is_none() => {
                let names = one.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(function) => Some(&function.sig.ident),
                    ImplItem::Const(constant) => Some(&constant.ident),
                    _ => None,
                });
                let own_type = one.self_ty.to_token_stream().to_string();
                members.entry(own_type).or_default().extend(names.map(ToString::to_string));
            }
            Item::Mod(one) => {
                types.push(one.ident.to_string());
                scopes.extend(one.content.iter().flat_map(|(_, items)| self::scopes(items)));
            }
            Item::Const(one) => values.push(one.ident.to_string()),
            Item::Static(one) => values.push(one.ident.to_string()),
            Item::Use(one) => imported(&one.tree, &mut types),
            _ => {}
        }
    }
    scopes.extend(members.into_values().chain([types, values]));
    scopes
}

fn imported(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(name) => names.push(name.ident.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
        UseTree::Rename(_) | UseTree::Glob(_) => {}
    }
}

/// The pointer of the last name of the document, inside of what stands at `at`, that becomes this name of Rust.
pub(super) fn origin(document: &Document, at: &str, made: &str) -> Option<String> {
    let is_map = |end: &str| at.ends_with(end);
    for (name, pointer, value) in document.members(at).into_iter().rev() {
        if let Some(found) = origin(document, &pointer, made) {
            return Some(found);
        }
        let becomes = match (name, value.as_str()) {
            ("operationId", Some(id)) => pascal(id) == made || snake(id) == made,
            ("name", Some(name)) => snake(name) == made,
            _ if is_map("/schemas") => pascal(name) == made,
            _ => (is_map("/properties") || is_map("/headers")) && snake(name) == made,
        };
        if becomes {
            return Some(pointer);
        }
    }
    document.items(at).into_iter().rev().find_map(|(pointer, value)| match value.as_str() {
        Some(value) => (is_map("/enum") && pascal(value) == made).then_some(pointer),
        None => origin(document, &pointer, made),
    })
}
