use serde_json::Value;

use crate::contract::{Contract, Operation, OperationId};
use crate::wire::{Answer, Exchange, FailureKind, Request, WireFailure};

/// The form of answer that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON with a business code.
    Json,
    /// Plain text, from an extraction.
    Text,
}

/// What an answer means, by the one rule of the contract: a success is the operation's HTTP status together with its
/// business code, and everything else is a rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// A success.
    Accepted,
    /// Not a success, and said so in order.
    Rejected(String),
    /// Not a success, although half of the answer says so: the code under another 2xx, or data without the code.
    Muddled(String),
    /// 429 or 503, even after waiting.
    Busy(String),
    /// Another 5xx, or no complete answer: the service broke.
    Broken(String),
    /// There is no connection to the service at all, or the request could not be built.
    Unreachable(String),
}

impl Form {
    /// The form that a request to an operation asks for.
    #[must_use]
    pub fn of(contract: &Contract, operation: OperationId, request: &Request) -> Self {
        let extract = &contract.extract;
        let text = request.query_value(&extract.return_type.name) == Some(extract.text.as_str());
        if operation == OperationId::Extract && text { Self::Text } else { Self::Json }
    }
}

impl Judgement {
    /// Judges what came back.
    #[must_use]
    pub fn of(operation: &Operation, form: Form, result: &Result<Answer, WireFailure>) -> Self {
        let answer = match result {
            Ok(answer) => answer,
            Err(failure) => {
                let what = format!("no answer: {failure}");
                return match failure.kind {
                    FailureKind::Connect | FailureKind::Request => Self::Unreachable(what),
                    FailureKind::Timeout | FailureKind::Broken | FailureKind::TooLarge => Self::Broken(what),
                };
            }
        };
        let success = &operation.success;
        let code = answer.at("/code");
        let has_code = code.is_some_and(|code| equals(code, success.code));
        let what = describe(answer, code);
        match answer.status {
            429 | 503 => Self::Busy(what),
            500.. => Self::Broken(what),
            status if status == success.status && has_code => Self::Accepted,
            status if status == success.status && form == Form::Text && code.is_none() => Self::Accepted,
            200..=299 if has_code || gives_data(answer) => Self::Muddled(what),
            _ => Self::Rejected(what),
        }
    }

    /// Status and code in a few words, without anything that differs from call to call.
    #[must_use]
    pub fn outline(&self, exchange: &Exchange) -> String {
        let Ok(answer) = &exchange.result else { return "no answer".to_owned() };
        let code = answer.at("/code").map_or_else(|| "no code".to_owned(), |code| format!("code {code}"));
        let word = if *self == Self::Accepted { "accepted" } else { "rejected" };
        format!("{word} with HTTP {}, {code}", answer.status)
    }

    /// What came, in words.
    #[must_use]
    pub fn description(&self) -> &str {
        match self {
            Self::Accepted => "a success",
            Self::Rejected(what)
            | Self::Muddled(what)
            | Self::Busy(what)
            | Self::Broken(what)
            | Self::Unreachable(what) => what,
        }
    }
}

/// An error may well carry an empty `data`.
fn gives_data(answer: &Answer) -> bool {
    let lists = [answer.at("/data"), answer.at("/data/items")];
    lists.into_iter().flatten().filter_map(Value::as_array).any(|list| !list.is_empty())
}

/// `0`, `0.0` and `-0` are one number in JSON.
fn equals(code: &Value, wanted: i64) -> bool {
    code.as_i64() == Some(wanted) || code.as_f64().is_some_and(|code| code == wanted as f64)
}

fn describe(answer: &Answer, code: Option<&Value>) -> String {
    const LONGEST: usize = 160;
    let status = answer.status;
    match code {
        Some(code) => {
            let words = answer.at("/message").or_else(|| answer.at("/msg")).and_then(Value::as_str);
            match words {
                Some(words) => format!("HTTP {status} with code {code}: {}", excerpt(words, LONGEST)),
                None => format!("HTTP {status} with code {code}"),
            }
        }
        None if answer.body().is_empty() => format!("HTTP {status} with an empty body"),
        None => format!("HTTP {status} without a code: {}", excerpt(&answer.text(), LONGEST)),
    }
}

/// The beginning of a text, on one line.
pub(crate) fn excerpt(text: &str, longest: usize) -> String {
    let line: String = text.chars().take(longest).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > longest { format!("{line}…") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: u16, body: &str, form: Form) -> Judgement {
        let contract = Contract::embedded().expect("contract");
        let answer = Answer::new(status, Vec::new(), body.to_owned().into());
        Judgement::of(&contract.extract.operation, form, &Ok(answer))
    }

    #[test]
    fn a_success_is_status_and_code_together() {
        assert_eq!(judge(200, r#"{"code": 0}"#, Form::Json), Judgement::Accepted);
        assert_eq!(judge(200, r#"{"code": 0.0}"#, Form::Json), Judgement::Accepted);
        let refusals = [
            (200, r#"{"code": 7}"#),
            (200, r#"{"code": 7, "data": []}"#),
            (200, r#"{"code": 7, "data": {"items": []}}"#),
            (400, r#"{"code": 0}"#),
            (404, "nothing"),
            (200, "[]"),
        ];
        for (status, body) in refusals {
            assert!(matches!(judge(status, body, Form::Json), Judgement::Rejected(_)), "{status} {body}");
        }
        for (status, body) in [(201, r#"{"code": 0}"#), (200, r#"{"code": 7, "data": [1]}"#)] {
            assert!(matches!(judge(status, body, Form::Json), Judgement::Muddled(_)), "{status} {body}");
        }
    }

    #[test]
    fn text_is_a_success_unless_it_carries_a_code() {
        assert_eq!(judge(200, "gw.invalid:1", Form::Text), Judgement::Accepted);
        assert!(matches!(judge(200, r#"{"code": 7, "message": "x"}"#, Form::Text), Judgement::Rejected(_)));
        assert!(matches!(judge(400, "gw.invalid:1", Form::Text), Judgement::Rejected(_)));
    }

    #[test]
    fn busy_and_broken_are_no_rejections() {
        assert!(matches!(judge(429, "", Form::Json), Judgement::Busy(_)));
        assert!(matches!(judge(503, "", Form::Json), Judgement::Busy(_)));
        assert!(matches!(judge(500, "", Form::Json), Judgement::Broken(_)));
        let contract = Contract::embedded().expect("contract");
        let failure = |kind| Err(WireFailure { kind, detail: String::new() });
        let operation = &contract.groups.operation;
        let broken = Judgement::of(operation, Form::Json, &failure(FailureKind::Timeout));
        assert!(matches!(broken, Judgement::Broken(_)));
        let unreachable = Judgement::of(operation, Form::Json, &failure(FailureKind::Connect));
        assert!(matches!(unreachable, Judgement::Unreachable(_)));
    }
}
