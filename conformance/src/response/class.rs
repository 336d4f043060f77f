use serde_json::Value;

use crate::contract::{Contract, OperationId};
use crate::wire::{Exchange, FailureKind, Redactor, Request, Response, WireFailure};

/// The form of response that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON with a business code.
    Json,
    /// Plain text, from an extraction.
    Text,
}

/// What a response means: a success has the operation's status and code, all else is a rejection. The texts are redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseClass {
    /// A success.
    Accepted,
    /// A well-formed rejection.
    Rejected(String),
    /// A rejection that is half a success: the code with another 2xx, or data without the code.
    Ambiguous(String),
    /// An extraction that is rejected with `Retry-After`: too few gateways, which says nothing about the request itself.
    Shortage(String),
    /// 429 or 503, even after waiting, or a request that the service refused to handle each time.
    Throttled(String),
    /// Another 5xx, or a broken connection.
    ServerError(String),
    /// No complete response within the timeout of the suite. The speed of a service is not judged.
    Timeout(String),
    /// A response larger than the suite reads. Its content is not judged.
    TooLarge(String),
    /// No connection could be made, or the request could not be built.
    Unreachable(String),
}

/// What a response class says about the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The service accepted it.
    Accepted,
    /// The service rejected it.
    Rejected,
    /// The service failed, or did not respond in time.
    Failed,
    /// Nothing: the same request may be accepted or rejected at another time.
    Undecided,
}

impl Form {
    /// The form that a request to an operation asks for.
    pub fn from_request(contract: &Contract, operation: OperationId, request: &Request) -> Self {
        let extract = &contract.extract;
        let text = request.query_value(&extract.return_type.name) == Some(extract.text.as_str());
        if operation == OperationId::Extract && text { Self::Text } else { Self::Json }
    }
}

impl ResponseClass {
    /// Classifies the response to a request to an operation.
    pub fn classify(
        contract: &Contract,
        id: OperationId,
        form: Form,
        result: &Result<Response, WireFailure>,
        redactor: &Redactor,
    ) -> Self {
        let response = match result {
            Ok(response) => response,
            Err(failure) => {
                let what = format!("no response: {}", redactor.redact(&failure.detail));
                return match failure.kind {
                    FailureKind::Connect | FailureKind::Handshake | FailureKind::Request => {
                        Self::Unreachable(what)
                    }
                    FailureKind::Refused => Self::Throttled(what),
                    FailureKind::Timeout => Self::Timeout(what),
                    FailureKind::TooLarge => Self::TooLarge(what),
                    FailureKind::Broken => Self::ServerError(what),
                };
            }
        };
        let success = &contract.operation(id).success;
        let code = response.at("/code").filter(|code| !code.is_null());
        let has_code = code.is_some_and(|code| code.as_i64() == Some(success.code));
        let in_status = response.status == success.status;
        if in_status && (has_code || (form == Form::Text && code.is_none())) {
            return Self::Accepted;
        }
        let what = describe(response, code, redactor);
        let waits = id == OperationId::Extract && response.header("Retry-After").is_some();
        let short = waits && code.is_some();
        let is_entry = match id {
            OperationId::Extract => holds(response, &["ip", "port"]),
            _ => success.list.as_ref().is_some_and(|(_, identity)| holds(response, &[identity])),
        };
        let successes: Vec<i64> = contract.operations().map(|operation| operation.success.code).collect();
        match response.status {
            429 | 503 => Self::Throttled(what),
            500.. if !short => Self::ServerError(what),
            200..=299 if has_code || means_success(response, code, &successes, is_entry) => {
                Self::Ambiguous(what)
            }
            // This is about the token, and callers with wrong ones may be asked to slow down.
            401 => Self::Rejected(what),
            _ if waits => Self::Shortage(what),
            _ => Self::Rejected(what),
        }
    }

    /// Name, decision and words.
    fn parts(&self) -> (&'static str, Decision, &str) {
        match self {
            Self::Accepted => ("accepted", Decision::Accepted, "a success"),
            Self::Rejected(what) => ("rejected", Decision::Rejected, what),
            Self::Ambiguous(what) => ("ambiguous", Decision::Rejected, what),
            Self::Shortage(what) => ("shortage", Decision::Undecided, what),
            Self::Throttled(what) => ("throttled", Decision::Undecided, what),
            Self::ServerError(what) => ("server error", Decision::Failed, what),
            Self::Timeout(what) => ("timeout", Decision::Failed, what),
            Self::TooLarge(what) => ("too large", Decision::Undecided, what),
            Self::Unreachable(what) => ("unreachable", Decision::Undecided, what),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.parts().0
    }

    /// What it means for the request.
    pub fn decision(&self) -> Decision {
        self.parts().1
    }

    /// The response in words.
    pub fn description(&self) -> &str {
        self.parts().2
    }

    /// Status and code, without anything that differs from call to call.
    pub fn outline(&self, exchange: &Exchange) -> String {
        let Ok(response) = &exchange.result else { return "no response".to_owned() };
        let code = response.at("/code").map_or_else(|| "no code".to_owned(), |code| format!("code {code}"));
        let word = if *self == Self::Accepted { "accepted" } else { "rejected" };
        format!("{word} with HTTP {}, {code}", response.status)
    }
}

/// Whether a 2xx contains data without a code, or with the code of a success in another spelling or of another operation. With
/// any other code the data belongs to a rejection, for instance as a list of errors.
fn means_success(response: &Response, code: Option<&Value>, successes: &[i64], is_entry: bool) -> bool {
    let is_success = code.is_none_or(|code| number(code).is_some_and(|number| successes.contains(&number)));
    // Without a code, a list without entries may belong to a rejection.
    let mut lists = ["/data", "/data/items"].into_iter().filter_map(|at| response.at(at)?.as_array());
    is_success && (is_entry || lists.any(|list| !list.is_empty() || code.is_some_and(Value::is_string)))
}

/// Whether `data` is an object with these members, or has a member that is such an object or a list of them.
fn holds(response: &Response, members: &[&str]) -> bool {
    let is_item =
        |value: &Value| members.iter().all(|name| value.get(name).is_some_and(|value| !value.is_null()));
    let Some(data) = response.at("/data").filter(|data| data.is_object()) else { return false };
    let mut within = data.as_object().into_iter().flat_map(|data| data.values());
    is_item(data)
        || within.any(|value| is_item(value) || value.as_array().is_some_and(|list| list.iter().any(is_item)))
}

/// A code, even as a string.
pub(super) fn number(code: &Value) -> Option<i64> {
    code.as_i64().or_else(|| code.as_str()?.trim().parse().ok())
}

/// Status, code and message of a response that is not a success, redacted.
pub(crate) fn describe(response: &Response, code: Option<&Value>, redactor: &Redactor) -> String {
    const MAX_CHARACTERS: usize = 160;
    let shown = |text: &str| redactor.excerpt(text, MAX_CHARACTERS);
    let status = response.status;
    match code {
        Some(code) => {
            let words = response.at("/message").or_else(|| response.at("/msg")).and_then(Value::as_str);
            let words = words.map(|words| format!(": {}", shown(words))).unwrap_or_default();
            format!("HTTP {status} with code {}{words}", shown(&code.to_string()))
        }
        None if response.body().is_empty() => format!("HTTP {status} with an empty body"),
        None => format!("HTTP {status} without a code: {}", shown(&response.text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::gateways;
    use crate::target::Secret;
    use crate::wire::GatewayCount;

    fn judged(id: OperationId, form: Form, result: &Result<Response, WireFailure>) -> ResponseClass {
        let contract = Contract::embedded().expect("contract");
        let redactor = Redactor::new([&Secret::new("API_KEY", "s3cret-token")]).expect("a long secret");
        ResponseClass::classify(contract, id, form, result, &redactor)
    }

    /// The operation and the form of a row, and its response or why there is none.
    fn given(row: &str) -> (OperationId, Form, Result<Response, WireFailure>) {
        let (row, is_short) = row.strip_suffix(" + Retry-After").map_or((row, false), |row| (row, true));
        let Some((status, rest)) = row.split_once(' ') else {
            let kind = serde_json::from_value(row.into()).expect("a kind of failure");
            return (OperationId::Extract, Form::Json, Err(WireFailure { kind, detail: String::new() }));
        };
        let (form, body) = rest.split_once(' ').unwrap_or((rest, ""));
        let (operation, form) = match form {
            "text" => (OperationId::Extract, Form::Text),
            "json" => (OperationId::Extract, Form::Json),
            "groups" => (OperationId::Groups, Form::Json),
            other => panic!("unknown form `{other}`: {row}"),
        };
        let headers = is_short.then(|| ("Retry-After".to_owned(), b"5".to_vec()));
        let headers = headers.into_iter().collect();
        let response = Response::new(status.parse().expect("a status"), headers, body.to_owned().into());
        (operation, form, Ok(response))
    }

    #[test]
    fn responses_mean_what_the_table_says() {
        let table = include_str!("responses.txt").replace("GW", r#"{"ip": "203.0.113.1", "port": 1}"#);
        for row in table.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let row = row.replace('\u{23ce}', "\r\n").replace('\u{240a}', "\n");
            let (response, expected) = row.split_once(" => ").expect("what it means");
            let (operation, form, result) = given(response);
            let class = judged(operation, form, &result);
            let is_more = |more: &str| ["undecided", "?"].contains(&more) || more.parse::<u64>().is_ok();
            let more = expected.rsplit_once(' ').filter(|(_, more)| is_more(more));
            let (name, more) = more.unwrap_or((expected, ""));
            assert_eq!(class.name(), name, "{row}");
            assert_eq!(
                class.decision() == Decision::Undecided,
                more == "undecided" || name == "throttled",
                "{row}"
            );
            let number = more.parse().map(GatewayCount::Counted);
            if let Some(count) = number.ok().or((more == "?").then_some(GatewayCount::Unknown)) {
                let contract = Contract::embedded().expect("contract");
                let extract = &contract.extract;
                let form = if form == Form::Text { &extract.text } else { &extract.json };
                let request = Request::to(&extract.operation).query(&extract.num.name, 2);
                let request = request.query(&extract.return_type.name, form);
                assert_eq!(gateways::count(contract, &request, &result), count, "{row}");
            }
        }
    }

    #[test]
    fn a_secret_is_redacted_before_the_text_is_cut() {
        for before in 140..165 {
            let words = format!("{}s3cret-token", "x".repeat(before));
            for body in [serde_json::json!({"code": 7, "message": words}).to_string(), words] {
                let response = Response::new(400, Vec::new(), body.into());
                let class = judged(OperationId::Extract, Form::Json, &Ok(response));
                assert!(!class.description().contains("s3c"), "{before}");
            }
        }
    }
}
