//! Post-processes progenitor's output where no setting of progenitor does it.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprPath, Field, GenericArgument, ImplItem, ImplItemFn, Item, ItemMod, Meta, Pat,
    PathArguments, ReturnType, Stmt, Token, Type, UseGroup, UseTree, parse_quote,
    punctuated::Punctuated,
    visit_mut::{self, VisitMut},
};

use crate::emit::name;

/// Changes `file`. `responses` are the names of the types that a response can hold, `bodies` those of the bodies of requests.
///
/// - Requests are sent by `crate::Sender`, and their errors are those of the client: progenitor loses status and headers when it
///   cannot parse a body.
/// - Integers and times of responses are read by `crate::lenient`: some services send ports as text.
/// - Structs of responses are `non_exhaustive`: a new field of the document is not a breaking change.
/// - `Client::new` is removed: its HTTP client may panic, follows redirects and sends a `Referer`.
/// - Builders of types are removed except those of request bodies: fields are public, and they are half of the file.
pub(super) fn postprocess(file: &mut syn::File, responses: &BTreeSet<String>, bodies: &BTreeSet<String>) {
    // It asserts that there are hooks.
    file.items.retain(|item| !matches!(item, Item::Const(_)));
    for item in &mut file.items {
        match item {
            Item::Mod(module) if module.ident == "types" => postprocess_types(module, responses, bodies),
            Item::Impl(block) if block.trait_.is_none() && name_of(&block.self_ty) == "Client" => {
                block
                    .items
                    .retain(|item| !matches!(item, ImplItem::Fn(function) if function.sig.ident == "new"));
            }
            _ => {}
        }
    }
    Senders::default().visit_file_mut(file);
}

fn postprocess_types(module: &mut ItemMod, responses: &BTreeSet<String>, bodies: &BTreeSet<String>) {
    let Some((_, items)) = &mut module.content else { return };
    for item in items.iter_mut() {
        match item {
            Item::Struct(structure) if responses.contains(&structure.ident.to_string()) => {
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

fn keeps_builder(item: &Item, bodies: &BTreeSet<String>) -> bool {
    match item {
        Item::Struct(structure) => bodies.contains(&structure.ident.to_string()),
        Item::Impl(block) => bodies.contains(&name_of(&block.self_ty)),
        _ => true,
    }
}

/// The last segment of a path type.
fn name_of(ty: &Type) -> String {
    match ty {
        Type::Path(path) => {
            path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Replaces the end of each `send`, from the built request on.
#[derive(Default)]
struct Senders {
    /// The builder whose functions are visited.
    builder: String,
}

impl VisitMut for Senders {
    /// What is only for progenitor's own end of a call.
    fn visit_use_group_mut(&mut self, group: &mut UseGroup) {
        let unused = ["ByteStream", "ClientHooks", "Error", "OperationInfo", "ResponseValue"];
        let is_used = |tree: &UseTree| !matches!(tree, UseTree::Name(one) if unused.iter().any(|name| one.ident == name));
        group.items = std::mem::take(&mut group.items).into_iter().filter(is_used).collect();
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        self.builder = name_of(&block.self_ty);
        visit_mut::visit_item_impl_mut(self, block);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        visit_mut::visit_impl_item_fn_mut(self, function);
        let statements = &mut function.block.stmts;
        let is_info = |one: &Stmt| matches!(one, Stmt::Local(one) if is_named(&one.pat, "info"));
        let (Some(end), ReturnType::Type(_, output)) =
            (statements.iter().position(is_info), &mut function.sig.output)
        else {
            return;
        };
        statements.truncate(end);
        if let Some(Stmt::Local(request)) = statements.last_mut()
            && let Some(init) = &mut request.init
            && let Expr::Try(built) = &*init.expr
        {
            init.expr = built.expr.clone();
        }
        let success = argument(output).and_then(argument).map(|ty| ty.to_token_stream().to_string());
        let (success, read): (Type, Expr) = match success.as_deref() {
            Some("ByteStream") => (parse_quote!(Vec<crate::TextEntry>), parse_quote!(crate::response::text)),
            Some("()") | None => (parse_quote!(()), parse_quote!(crate::response::ignore)),
            Some(json) => {
                let ty = syn::parse_str(json).unwrap_or_else(|_| parse_quote!(()));
                (ty, parse_quote!(crate::response::json))
            }
        };
        let operation = name::constant(&self.builder);
        **output = parse_quote!(Result<crate::WithResponse<#success>, crate::Error>);
        let send = parse_quote!(client.inner.send(request, &crate::contract::#operation, #read).await);
        statements.push(Stmt::Expr(send, None));
    }

    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        if path.to_token_stream().to_string().replace(' ', "") == "Error::InvalidRequest" {
            *path = parse_quote!(crate::Error::Configuration);
        }
    }
}

fn is_named(pattern: &Pat, name: &str) -> bool {
    matches!(pattern, Pat::Ident(pattern) if pattern.ident == name)
}

/// The first generic argument of a type.
fn argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
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
