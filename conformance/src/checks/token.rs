//! Tokens that no service may take for the account's.

use super::row::{Base, Credential, Edit, Row, reject, token_parameter, with};
use crate::check::{Case, Cost, Probe, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::{Fact, Secret};
use crate::wire::{Exchange, QuerySpelling, Request, percent_encoded};

/// A token that no service has issued.
pub(crate) const UNKNOWN: &str =
    "sallyport-unknown-token-0000000000000000-which-is-longer-than-tokens-usually-are";

/// A wrong token: its label, the reason why it is wrong, and how it is made from the account's. The first two are labels of cases, so
/// they never change.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrongToken {
    pub(super) label: &'static str,
    pub(super) reason: &'static str,
    text: fn(&Secret) -> String,
}

impl WrongToken {
    pub(super) const EMPTY: Self = Self::new("empty", "the token is empty", |_| String::new());
    pub(super) const UNKNOWN: Self = Self::new("unknown", "the token is unknown", |_| UNKNOWN.to_owned());
    pub(super) const ALTERED: Self =
        Self::new("altered", "the last character of the token is another", altered);
    pub(super) const OTHER_CASE: Self =
        Self::new("other-case", "the letters of the token are in the other case", Secret::in_other_case);
    /// A header can't carry it.
    pub(super) const BEHIND_NUL: Self =
        Self::new("behind-nul", "there is a NUL behind the token, and one more character", |token| {
            format!("{}\0~", token.expose())
        });

    /// Those that a header can carry.
    pub(super) const IN_HEADER: [Self; 13] = [
        Self::EMPTY,
        Self::new("blank", "the token is three spaces", |_| "   ".to_owned()),
        Self::UNKNOWN,
        Self::new("same-length", "the token is unknown and as long as a known one", |token| {
            UNKNOWN.chars().cycle().take(token.expose().chars().count()).collect()
        }),
        Self::new("cut", "the last character of the token is missing", |token| {
            token.without_last_character().to_owned()
        }),
        Self::new("longer", "there is one more character behind the token", |token| {
            format!("{}~", token.expose())
        }),
        Self::ALTERED,
        Self::new("altered-first", "the first character of the token is another", |token| {
            format!("~{}", token.without_first_character())
        }),
        Self::OTHER_CASE,
        // What databases match with any text.
        Self::new("wildcard", "the token is a percent sign", |_| "%".to_owned()),
        // What programs send when they have no token.
        Self::new("null", "the token is the word null", |_| "null".to_owned()),
        Self::new("undefined", "the token is the word undefined", |_| "undefined".to_owned()),
        Self::new("zero", "the token is 0", |_| "0".to_owned()),
    ];

    const fn new(label: &'static str, reason: &'static str, text: fn(&Secret) -> String) -> Self {
        Self { label, reason, text }
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::IN_HEADER.into_iter().chain([Self::BEHIND_NUL])
    }

    /// The token to send. The redactor knows each that is made of the account's.
    ///
    /// # Errors
    /// Skip when no such token exists: some account has it, or the account's token has no letters.
    pub(super) fn text(self, probe: &Probe<'_>) -> Result<String, Stop> {
        let text = (self.text)(probe.token());
        let mut known = std::iter::once(probe.token()).chain(probe.facts().secrets());
        let is_missing = text.is_empty() && self.label != Self::EMPTY.label;
        if is_missing || known.any(|secret| secret.expose() == text) {
            return Err(probe.skip("no wrong token of this kind can be made from the account's token"));
        }
        Ok(text)
    }
}

/// Changes after which a query has no token under its name, or more than one.
fn not_one() -> [(&'static str, Vec<Edit>); 10] {
    use Edit::{AddToken, By, NoToken};
    const OWN: Credential = Credential::Own;
    const UNKNOWN: Credential = Credential::Wrong(WrongToken::UNKNOWN);
    const EMPTY: Credential = Credential::Wrong(WrongToken::EMPTY);
    let encoded = |probe: &Probe<'_>, good: Request| {
        let name = percent_encoded(token_parameter(probe.contract(), &good));
        Ok(good.raw_query(format!("{name}={}", percent_encoded(probe.token().expose()))))
    };
    // The case of a query counts (RFC 3986, 6.2.2.1): this is another parameter.
    let capitals = |probe: &Probe<'_>, good: Request| {
        let name = token_parameter(probe.contract(), &good);
        Ok(good.without_query(name).add_query(&name.to_uppercase(), probe.token().expose()))
    };
    let list = |probe: &Probe<'_>, good: Request| {
        let name = token_parameter(probe.contract(), &good);
        Ok(good.without_query(name).add_query(&format!("{name}[]"), probe.token().expose()))
    };
    [
        ("the token is absent", vec![NoToken]),
        ("the token is sent twice", vec![AddToken(OWN)]),
        ("the token is sent three times", vec![AddToken(OWN), AddToken(OWN)]),
        ("the token is sent twice, with the second name percent-encoded", vec![with(encoded)]),
        ("an unknown token is sent after the token", vec![AddToken(UNKNOWN)]),
        ("an unknown token is sent before the token", vec![By(UNKNOWN), AddToken(OWN)]),
        ("an empty token is sent after the token", vec![AddToken(EMPTY)]),
        ("an empty token is sent before the token", vec![By(EMPTY), AddToken(OWN)]),
        ("the name of the token is in capitals", vec![with(capitals)]),
        ("the name of the token is that of a list", vec![with(list)]),
    ]
}

/// Rows of an operation that takes one token in the query: it is absent, repeated, misnamed or wrong. `label` is that of a
/// wrong token.
pub(super) fn one_token(base: &Base, label: fn(&WrongToken) -> &'static str) -> Vec<Row> {
    let changed = not_one().into_iter().map(|(label, edits)| reject(label, label, edits));
    let wrong = WrongToken::all()
        .map(|wrong| reject(label(&wrong), wrong.reason, [Edit::By(Credential::Wrong(wrong))]));
    changed.chain(wrong).map(|row| row.of(base.clone())).collect()
}

/// A query parameter that no operation has.
const OTHER_PARAMETER: &str = "sallyport-other";

/// Percent-encoding every byte of a query (RFC 3986, 2.1) and parameters before the token do not change what the query means.
pub(super) fn other_spellings(clause: Clause, operation: OperationId) -> Case {
    Case::for_data("written otherwise", Cost::requests(5), (clause, operation), accepts_other_spellings)
}

async fn accepts_other_spellings(
    probe: &Probe<'_>,
    (clause, operation): (Clause, OperationId),
) -> Result<(), Stop> {
    let good = probe.valid(operation);
    let name = token_parameter(probe.contract(), &good);
    probe.control_once(&good).await?;
    let encoded = good.clone().spelling(QuerySpelling::Encoded);
    probe.accepts(clause, "each byte of the query is percent-encoded", &encoded).await?;
    // The service may reject unknown parameters.
    let between = good.clone().add_query(OTHER_PARAMETER, 1);
    if !probe.is_accepted(&between).await?.1 {
        return Ok(());
    }
    let token = good.query_value(name).unwrap_or_default().to_owned();
    let why = "the token is sent twice, with another parameter between";
    probe.rejects(clause, why, &between.add_query(name, &token)).await?;
    let after = good.clone().without_query(name).add_query(OTHER_PARAMETER, 1).add_query(name, token);
    probe.accepts(clause, "the token follows another parameter", &after).await?;
    Ok(())
}

/// The token with a last character that real tokens hardly have.
pub(super) fn altered(token: &Secret) -> String {
    format!("{}~", token.without_last_character())
}

/// Whether two rejections have the same status and the same code.
pub(super) fn rejected_alike(one: &Exchange, other: &Exchange) -> bool {
    let outline = |exchange: &Exchange| {
        let response = exchange.result.as_ref().ok()?;
        Some((response.status, response.at("/code").cloned()))
    };
    outline(one).is_some() && outline(one) == outline(other)
}

/// Shows what the rejection of a token is worth: that the token is valid. A success would be a violation in any case. List groups
/// accepts a valid token, or rejects it in another way than an unknown one. Passes when list groups accepts no token at all, since
/// nothing can be shown then.
pub(in crate::checks) async fn is_valid(probe: &Probe<'_>, token: &Secret, fact: Fact) -> Result<(), Stop> {
    let groups = |token: &str| probe.groups().query(&probe.contract().groups().api_key.name, token);
    let reason = match probe.control_once(&groups(token.expose())).await {
        Err(Stop::Inconclusive(reason)) => reason,
        other => return other,
    };
    if probe.control_once(&probe.groups()).await.is_err() {
        return Ok(());
    }
    let (supplied, _) = probe.send_once(&groups(token.expose())).await?;
    let (unknown, _) = probe.send_once(&groups(UNKNOWN)).await?;
    if !rejected_alike(&supplied, &unknown) {
        return Ok(());
    }
    // Which conditions static operations apply to a valid token is unspecified.
    Err(probe.skip(&format!(
        "list groups rejects the token like an unknown one, so a rejection shows nothing: either the token is \
         invalid (expected {fact}), or static operations apply the same condition: {reason}"
    )))
}
