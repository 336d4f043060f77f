//! This client for `conformance client`, which tests any client: `cargo conformance client -- target/debug/examples/adapter`.
//!
//! `conformance/CLIENTS.md` describes what it reads and writes.

use std::{
    io::{Read as _, stdin},
    time::Duration,
};

use sallyport_client::{Client, Error, Separator};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "standard output is the way back")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let input: Value = serde_json::from_str(&text)?;
    let output = match connect(&input) {
        Ok(client) => answer(&client, &input).await,
        Err(error) => Err(error),
    };
    println!("{}", output.unwrap_or_else(|error| failure(&error)));
    Ok(())
}

/// A client with the time of the call.
pub fn connect(input: &Value) -> Result<Client, Error> {
    let limit = Duration::from_millis(input["time_limit_ms"].as_u64().unwrap_or(10_000));
    Client::builder().base_url_from_env().token_from_env().total_timeout(limit).build()
}

/// Makes the call, and says what the client understood.
pub async fn answer(client: &Client, input: &Value) -> Result<Value, Error> {
    let arguments = &input["arguments"];
    let number = |name: &str| arguments[name].as_i64().unwrap_or_default();
    match input["operation"].as_str() {
        Some("extract") => {
            let extraction = client.extract(number("num")).await?;
            let gateways: Vec<String> = extraction.endpoints.iter().map(ToString::to_string).collect();
            Ok(json!({ "gateways": gateways }))
        }
        Some("extract_text") => {
            let text = |name: &str| arguments[name].as_str().unwrap_or_default();
            let separator = Separator::from_code(text("lb"), text("sb")).unwrap_or(Separator::CrLf);
            let extraction = client.extract_text(number("num"), separator).await?;
            let entries: Vec<String> = extraction.entries.iter().map(ToString::to_string).collect();
            Ok(json!({ "entries": entries }))
        }
        Some("groups") => {
            let groups = client.groups().await?;
            Ok(json!({ "groups": groups.iter().map(|group| group.group_id).collect::<Vec<_>>() }))
        }
        _ => {
            let addresses = arguments["ips"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let instances = client.search(addresses).page_size(number("pageSize")).await?;
            Ok(
                json!({ "instances": instances.iter().map(|instance| instance.instance_id).collect::<Vec<_>>() }),
            )
        }
    }
}

/// An error in the form of the protocol.
pub fn failure(error: &Error) -> Value {
    let class = match error {
        Error::Rejected(_) => "rejected",
        Error::Throttled(_) => "throttled",
        Error::Shortage(_) => "shortage",
        Error::Transport(_) => "transport",
        Error::Timeout(_) => "timeout",
        Error::UnexpectedResponse(_) => "unexpected",
        _ => "usage",
    };
    json!({ "error": { "class": class, "message": error.to_string() } })
}
