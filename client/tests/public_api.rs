//! Compares the public API with a snapshot, so that changes are noticed and listed in the changelog.
//!
//! It replaces cargo-semver-checks, which needs a published version to compare with. After an intended change run
//! `INSTA_UPDATE=always cargo test -p sallyport-client --test integration public_api`.
#![allow(clippy::unwrap_used, reason = "sources that cannot be read fail the test")]

use std::{fs, path::Path};

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, TraitItem, Visibility};

#[test]
fn the_public_api_is_the_one_of_the_snapshot() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut lines = Vec::new();
    collect(&sources, "", &mut lines);
    lines.sort();
    lines.dedup();
    insta::assert_snapshot!(lines.join("\n"));
}

/// Reads every file of `folder` except the program, whose items are private.
fn collect(folder: &Path, module: &str, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && name != "bin" {
            collect(&path, &format!("{module}{name}::"), lines);
        }
        if path.extension().is_some_and(|extension| extension == "rs") {
            let is_of_folder = ["lib", "mod"].contains(&&*name) || name == "generated" && !module.is_empty();
            let module = if is_of_folder { module.to_owned() } else { format!("{module}{name}::") };
            let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
            items(&file.items, &module, lines);
        }
    }
}

fn items(items: &[Item], module: &str, lines: &mut Vec<String>) {
    for item in items {
        let mut add = |line: String| lines.push(format!("{module} {line}"));
        match item {
            Item::Use(item) if is_public(&item.vis) => add(text(item)),
            Item::Type(item) if is_public(&item.vis) => add(text(item)),
            Item::Fn(item) if is_public(&item.vis) => add(text(&item.sig)),
            Item::Const(item) if is_public(&item.vis) => {
                add(format!("const {}: {}", item.ident, text(&item.ty)));
            }
            Item::Struct(item) if is_public(&item.vis) => {
                let is_marked = item.attrs.iter().any(|attribute| attribute.path().is_ident("must_use"));
                add(format!("{}struct {}", if is_marked { "#[must_use] " } else { "" }, item.ident));
                fields(&item.fields, &format!("{module}{}", item.ident), true, lines);
            }
            Item::Enum(item) if is_public(&item.vis) => {
                add(format!("enum {}", item.ident));
                for variant in &item.variants {
                    let place = format!("{module}{}::{}", item.ident, variant.ident);
                    lines.push(place.clone());
                    fields(&variant.fields, &place, false, lines);
                }
            }
            Item::Impl(item) => {
                let of = text(&item.self_ty);
                if let Some((_, path, _)) = &item.trait_ {
                    add(format!("impl {} for {of}", text(path)));
                    continue;
                }
                lines.extend(item.items.iter().filter_map(|inner| match inner {
                    ImplItem::Fn(inner) if is_public(&inner.vis) => {
                        Some(format!("{module}{of} {}", text(&inner.sig)))
                    }
                    ImplItem::Const(inner) if is_public(&inner.vis) => {
                        Some(format!("{module}{of} const {}: {}", inner.ident, text(&inner.ty)))
                    }
                    _ => None,
                }));
            }
            Item::Trait(item) if is_public(&item.vis) => {
                add(format!("trait {}: {}", item.ident, text(&item.supertraits)));
                for inner in &item.items {
                    let TraitItem::Fn(inner) = inner else { continue };
                    let provided = if inner.default.is_some() { " (provided)" } else { "" };
                    lines.push(format!("{module}{} {}{provided}", item.ident, text(&inner.sig)));
                }
            }
            // Methods that several calls share, such as the options of a call.
            Item::Macro(item) => {
                let name = item.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                let tokens = item.mac.tokens.to_string();
                for keyword in ["fn ", "async fn "] {
                    for method in tokens.split(&format!("pub {keyword}")).skip(1) {
                        let signature = method.split('{').next().unwrap_or_default().trim();
                        add(format!("{name}! {keyword}{signature}"));
                    }
                }
            }
            // Builders of operations repeat the document; the snapshot would only repeat it once more.
            Item::Mod(item) if is_public(&item.vis) && item.ident != "builder" => {
                let inner = item.content.iter().flat_map(|(_, inner)| inner).cloned().collect::<Vec<_>>();
                self::items(&inner, &format!("{module}{}::", item.ident), lines);
            }
            _ => {}
        }
    }
}

fn fields(fields: &Fields, place: &str, only_public: bool, lines: &mut Vec<String>) {
    for (index, field) in fields.iter().enumerate().filter(|(_, field)| !only_public || is_public(&field.vis))
    {
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        lines.push(format!("{place}.{name}: {}", text(&field.ty)));
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}
