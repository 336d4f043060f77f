//! Stubs of what is written by hand for an operation. The `compile_error!` in each says what to write.

use std::path::PathBuf;

use super::{Change, NewOperation, Read};
use crate::names;

/// A stub, and the file that declares it as a module.
struct Stub {
    path: String,
    contents: String,
    /// The file, and how the module is declared there.
    declared: (&'static str, &'static str),
}

pub(super) fn changes(new: &NewOperation, read: Read<'_>) -> Result<Vec<Change>, String> {
    let mut changes: Vec<Change> = Vec::new();
    for stub in [handler(new), domain(new), client(new), command(new), check(new), fault(new), variation(new)]
    {
        if read(&stub.path).is_ok() {
            return Err(format!("{} already exists; choose another id", stub.path));
        }
        let (file, visibility) = stub.declared;
        let text = declaring(file, &read(file)?, &format!("{visibility}mod {};", new.snake()))?;
        let text = if file == HANDLERS { with_endpoint(new, &text)? } else { text };
        changes.push(Change { path: PathBuf::from(stub.path), contents: stub.contents, is_new: true });
        changes.push(Change { path: PathBuf::from(file), contents: text, is_new: false });
    }
    Ok(changes)
}

const HANDLERS: &str = "server/src/handlers/mod.rs";

/// The file with one more module, among the others by name.
fn declaring(file: &str, text: &str, declaration: &str) -> Result<String, String> {
    let name = |line: &str| line.rsplit(' ').next().unwrap_or_default().to_owned();
    let is_module = |line: &str| {
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        line.starts_with("mod ") && line.ends_with(';')
    };
    let lines: Vec<&str> = text.lines().collect();
    let modules: Vec<usize> = (0..lines.len()).filter(|index| is_module(lines[*index])).collect();
    let last = modules.last().ok_or_else(|| format!("{file}: expected a line such as `mod name;`"))?;
    let after = modules.iter().find(|index| name(lines[**index]) > name(declaration));
    let at = after.map_or(last + 1, |index| *index);
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    lines.insert(at, declaration.to_owned());
    Ok(lines.join("\n") + "\n")
}

/// The handlers with one more endpoint.
fn with_endpoint(new: &NewOperation, text: &str) -> Result<String, String> {
    let (pascal, snake) = (new.pascal(), new.snake());
    let head = "    api::generated::{\n        Api, ";
    let expected = |what: &str| format!("{HANDLERS}: expected {what}; add the endpoint by hand");
    let Some((before, after)) = text.split_once(head) else { return Err(expected("the import of `Api`")) };
    let text = format!("{before}{head}{pascal}, {after}");
    let Some(body) = text.trim_end().strip_suffix('}') else { return Err(expected("`impl Api` at its end")) };
    Ok(format!(
        "{body}\n    fn {snake}(\n        rqctx: RequestContext<Context>,\n        request: RawRequest<{pascal}>,\n    ) \
         -> impl Future<Output = HandlerResult<{pascal}>> + Send {{\n        serve(rqctx, request)\n    }}\n}}\n"
    ))
}

fn handler(new: &NewOperation) -> Stub {
    let (id, pascal, snake) = (&new.id, new.pascal(), new.snake());
    let mut fields: Vec<String> = new.path_parameters().map(names::snake).collect();
    if new.has_body() {
        fields.push("body".to_owned());
    }
    let fields = fields.join(", ");
    let contents = format!(
        "//! `{id}`.\n\nuse crate::{{\n    api::generated::{{{pascal}, {pascal}Request}},\n    domain::access::Purpose,\n    \
         edge::{{\n        operation::{{Call, Handler}},\n        responding::{{api_error::ApiError, response::Success}},\n    \
         }},\n}};\n\nimpl Handler for {pascal} {{\n    const PURPOSE: Purpose = Purpose::Static;\n\n    \
         async fn handle(call: Call<'_>, request: {pascal}Request) -> Result<Success<Self>, ApiError> {{\n        \
         let {pascal}Request {{ {fields} }} = request;\n        \
         compile_error!(\"ask `call.service` (domain/{snake}.rs) and build the response, as handlers/groups.rs does\");\n    \
         }}\n}}\n"
    );
    Stub { path: format!("server/src/handlers/{snake}.rs"), contents, declared: (HANDLERS, "") }
}

fn domain(new: &NewOperation) -> Stub {
    let (id, snake) = (&new.id, new.snake());
    let what = if new.writes { "changes" } else { "returns" };
    let contents = format!(
        "//! What `{id}` {what}.\n\ncompile_error!(\n    \"write the types and decisions of `{id}`; add a method to `Repository` \
         (domain/ports.rs), implement \\\n     it in store/sqlite, store/postgres, metrics/store.rs (with a `Query` in \
         metrics/prometheus.rs) and \\\n     server/tests/edge_admission/paused_store.rs, and add a method to `Service` \
         that checks the token \\\n     before it asks or changes\"\n);\n"
    );
    let declared = ("server/src/domain/mod.rs", "pub ");
    Stub { path: format!("server/src/domain/{snake}.rs"), contents, declared }
}

fn client(new: &NewOperation) -> Stub {
    let (id, pascal, snake) = (&new.id, new.pascal(), new.snake());
    let contents = format!(
        "//! `{id}`.\n\nuse crate::{{Client, options::CallOptions}};\n\n/// A call of `{id}` that is not sent yet. Await it to \
         send it.\n#[derive(Clone, Debug)]\n#[must_use = \"a call is sent when it is awaited\"]\npub struct {pascal} {{\n    \
         client: Client,\n    options: CallOptions,\n}}\n\ncrate::options::call_options!({pascal}, options);\n\n\
         compile_error!(\n    \"send `contract::{pascal}` as groups.rs does, export the type in lib.rs, add a method to \
         `Client`, \\\n     and a test to client/tests/reference.rs\"\n);\n"
    );
    Stub { path: format!("client/src/{snake}.rs"), contents, declared: ("client/src/lib.rs", "") }
}

fn command(new: &NewOperation) -> Stub {
    let (id, snake) = (&new.id, new.snake());
    let contents = format!(
        "//! The command for `{id}`.\n\ncompile_error!(\n    \"write the command as groups.rs beside this file, its arguments \
         in args.rs, its call in main.rs, and a test in \\\n     client/tests/cli.rs\"\n);\n"
    );
    let declared = ("client/src/bin/sallyport/main.rs", "");
    Stub { path: format!("client/src/bin/sallyport/{snake}.rs"), contents, declared }
}

fn check(new: &NewOperation) -> Stub {
    let (id, snake) = (&new.id, new.snake());
    let contents = format!(
        "//! The checks of `{id}`.\n\nuse crate::check::Check;\n\n/// Sorted by id; add it to `ALL` in mod.rs.\n\
         pub(super) static CHECKS: &[&Check] = &[];\n\ncompile_error!(\n    \"add the operation to `OperationId`, what its checks \
         send to `Contract`, as `Groups` does, and a variant \\\n     to `ValidRequest` (all/service.rs), which judges its token. \
         Judge its envelope with `schema::judge`, as groups/ does, \\\n     and write a check for each of its other clauses, as \
         README.md beside this file describes\"\n);\n"
    );
    Stub {
        path: format!("conformance/src/checks/{snake}.rs"),
        contents,
        declared: ("conformance/src/checks/mod.rs", ""),
    }
}

fn fault(new: &NewOperation) -> Stub {
    let (id, kebab, snake) = (&new.id, new.kebab(), new.snake());
    let contents = format!(
        "//! Faults of `{id}`.\n\ncompile_error!(\n    \"write a fault for each clause of `{id}`: a server that breaks it, as \
         groups.rs beside this file has them, with ids such as \\\n     `{kebab}.envelope/no-code`; add them to the list in \
         mod.rs, then run `cargo test --workspace --test proof -- --record {kebab}`\"\n);\n"
    );
    let declared = ("conformance/src/lab/faults/mod.rs", "");
    Stub { path: format!("conformance/src/lab/faults/{snake}.rs"), contents, declared }
}

fn variation(new: &NewOperation) -> Stub {
    let (id, snake) = (&new.id, new.snake());
    let contents = format!(
        "//! What a conforming server may do otherwise in `{id}`.\n\ncompile_error!(\n    \"write a variation for each \
         behaviour that the contract leaves open, as search.rs beside this file has them, and add it to \\\n     the list in \
         mod.rs; without such a behaviour remove this file\"\n);\n"
    );
    let declared = ("conformance/src/lab/variations/mod.rs", "");
    Stub { path: format!("conformance/src/lab/variations/{snake}.rs"), contents, declared }
}
