//! Stubs of a new operation: in the document, and in each file that is written by hand. None of them compiles until it is
//! filled in.

mod document;
mod stubs;

use std::path::PathBuf;

use crate::{model::Method, names};

/// The arguments of `cargo xtask new operation`.
#[derive(Clone, Debug)]
pub(crate) struct NewOperation {
    /// `operationId`, in camel case.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// Path, each parameter as `{name}`.
    pub(crate) path: String,
    /// Whether it changes something, so that it must not be repeated.
    pub(crate) writes: bool,
}

/// A file that is new, or one that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) contents: String,
    pub(crate) is_new: bool,
}

/// Reads a file of the repository.
pub(crate) type Read<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Everything that is written for a new operation: the document first.
///
/// Fails when the id, the path or the operation exists already, or when a file is not as it should be.
pub(crate) fn changes(new: &NewOperation, read: Read<'_>) -> Result<Vec<Change>, String> {
    let mut changes = vec![document::with(new, &read(document::PATH)?)?];
    changes.extend(stubs::changes(new, read)?);
    Ok(changes)
}

impl NewOperation {
    /// `createStaticGroup` as `create_static_group`, for modules and functions.
    fn snake(&self) -> String {
        names::snake(&self.id)
    }

    /// The same as `CreateStaticGroup`, for types.
    fn pascal(&self) -> String {
        names::pascal(&self.id)
    }

    /// The same as `create-static-group`, for ids of clauses and checks.
    fn kebab(&self) -> String {
        names::kebab(&self.id)
    }

    /// The parameters of the path.
    fn path_parameters(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    fn has_body(&self) -> bool {
        self.method.takes_body()
    }

    /// The status of a success: created, no content, or a response.
    fn status(&self) -> &'static str {
        match self.method {
            Method::Post if self.writes => "201",
            Method::Delete => "204",
            _ => "200",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document::Document, emit, fixture::CONTRACT, lint, problem::Problem};

    fn read(path: &str) -> Result<String, String> {
        if path == document::PATH {
            return Ok(CONTRACT.to_owned());
        }
        let root = crate::task::root(&std::env::current_dir().unwrap()).unwrap();
        std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    fn operation(id: &str, method: Method, path: &str, writes: bool) -> NewOperation {
        NewOperation { id: id.to_owned(), method, path: path.to_owned(), writes }
    }

    fn some() -> [NewOperation; 5] {
        [
            operation("listCountries", Method::Get, "/openapi/v1/countries", false),
            operation("createStaticGroup", Method::Post, "/openapi/v1/static/groups", true),
            operation("replaceMember", Method::Put, "/openapi/v1/members/{memberId}", true),
            operation("changeMember", Method::Patch, "/openapi/v1/members/{memberId}", true),
            operation("removeCard", Method::Delete, "/openapi/v1/members/{memberId}/cards/{cardId}", true),
        ]
    }

    #[test]
    fn the_stub_of_the_document_is_clean_and_generates() {
        for new in some() {
            let changes = changes(&new, &read).unwrap();
            let document = Document::parse(&changes[0].contents).unwrap();
            let problems = lint::run(&document);
            assert!(problems.is_empty(), "{}: {}", new.id, Problem::list(&problems));
            assert!(emit::code(&document).is_ok(), "{}", new.id);
            assert!(changes[0].contents.contains(&format!("operationId: {}\n", new.id)));
        }
    }

    #[test]
    fn no_stub_compiles_and_each_is_part_of_its_crate() {
        for new in some() {
            let changes = changes(&new, &read).unwrap();
            let (stubs, rest): (Vec<_>, Vec<_>) = changes[1..].iter().partition(|change| change.is_new);
            assert_eq!(stubs.len(), 7, "handler, domain, client, command, check, fault, variation");
            for stub in stubs {
                assert!(stub.contents.contains("compile_error!("), "{}", stub.path.display());
                assert!(
                    syn::parse_file(&stub.contents).is_ok(),
                    "{}: {}",
                    stub.path.display(),
                    stub.contents
                );
                let name = stub.path.file_stem().unwrap().to_str().unwrap();
                let declared = |change: &&Change| change.contents.contains(&format!("mod {name};"));
                assert!(rest.iter().any(declared), "nothing declares {}", stub.path.display());
            }
        }
    }

    /// Stubs tell what to call, in backticks: what they name must exist.
    #[test]
    fn what_stubs_name_exists() {
        let root = crate::task::root(&std::env::current_dir().unwrap()).unwrap();
        let mut sources = String::new();
        for folder in ["client/src", "conformance/src", "server/src", "server/tests"] {
            read_all(&root.join(folder), &mut sources);
        }
        let new = &some()[1];
        for stub in changes(new, &read).unwrap()[1..].iter().filter(|change| change.is_new) {
            let text = stub.contents.split_once("compile_error!(").unwrap().1;
            for word in text.split('`').skip(1).step_by(2) {
                let name = word.rsplit([':', '.']).next().unwrap_or(word);
                let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || "_:.".contains(c));
                let is_new = [new.id.clone(), new.pascal()].contains(&name.to_owned());
                let declared = ["fn ", "struct ", "enum ", "trait ", "pub ", "const "]
                    .iter()
                    .any(|keyword| sources.contains(&format!("{keyword}{name}")));
                assert!(!is_name || is_new || declared, "`{word}` in {}", stub.path.display());
            }
        }
    }

    fn read_all(folder: &std::path::Path, sources: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read_all(&path, sources);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn what_exists_is_refused() {
        for (id, path) in [("listStaticGroups", "/openapi/v1/x"), ("other", "/openapi/v1/static/groups")] {
            let error = changes(&operation(id, Method::Get, path, false), &read).unwrap_err();
            assert!(error.contains("already"), "{error}");
        }
    }
}
