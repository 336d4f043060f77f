use std::ops::RangeInclusive;

use super::input::Input;
use super::operation::Operation;
use super::part;
use super::schema::Schema;
use super::source::{ContractError, Node};

/// The extraction: its parameters by name, and its limits.
#[derive(Debug)]
#[expect(missing_docs, reason = "each parameter has its name; the others are described")]
pub struct Extract {
    pub operation: Operation,
    pub num: Input,
    pub regions: Input,
    pub country: Input,
    pub protocol: Input,
    pub return_type: Input,
    pub lb: Input,
    pub sb: Input,
    pub request_id: Input,
    pub request_id_header: Input,
    /// The header that carries the token.
    pub api_key_header: String,
    /// The header that repeats `num` on a partial result.
    pub requested_count: String,
    /// The header that counts the entries of a partial result.
    pub returned_count: String,
    /// The header that flags a partial result.
    pub partial_flag: String,
    /// Minimum and maximum number of gateways of one call.
    pub num_range: RangeInclusive<i64>,
    /// Maximum length of `sb`, in bytes of UTF-8.
    pub separator_bytes: usize,
    pub protocols: Vec<String>,
    /// Every value of `lb` with its text.
    pub separators: Vec<Separator>,
    /// The value of `lb` that takes its text from `sb`.
    pub custom_separator: String,
    /// The value of `return_type` that asks for JSON.
    pub json: String,
    /// The value of `return_type` that asks for text.
    pub text: String,
}

/// A separator of text responses that the contract names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Separator {
    /// Value of `lb`.
    pub code: String,
    /// The text between two entries.
    pub text: String,
}

impl Extract {
    /// The smallest and the largest value of [`part::NUM`] or [`part::LB`], whose listed values are consecutive integers.
    pub fn range(&self, name: &str) -> RangeInclusive<i64> {
        if name == part::NUM {
            return self.num_range.clone();
        }
        let codes = || self.lb.schema.values.iter().filter_map(|code| code.as_str()?.parse().ok());
        codes().min().unwrap_or_default()..=codes().max().unwrap_or_default()
    }

    /// The text between two entries of the plain-text response to a request with this `lb` and `sb`.
    pub fn separator(&self, lb: Option<String>, sb: Option<String>) -> String {
        let code = lb.unwrap_or_else(|| self.lb.default_text());
        let named = self.separators.iter().find(|separator| separator.code == code);
        named.map_or_else(|| sb.unwrap_or_default(), |separator| separator.text.clone())
    }

    pub(super) fn read(
        (operation, node): (Operation, Node<'_>),
        schemes: &Node<'_>,
    ) -> Result<Self, ContractError> {
        let take = |name| operation.input(name, &node);
        let (num, lb, sb) = (take(part::NUM)?, take(part::LB)?, take(part::SB)?);
        let (return_type, protocol) = (take(part::RETURN_TYPE)?, take(part::PROTOCOL)?);
        let separators = lb.schema.separators.clone().into_iter();
        let separators: Vec<_> = separators.map(|(code, text)| Separator { code, text }).collect();
        let is_custom = |code: &String| separators.iter().all(|known| known.code != *code);
        let schemes = schemes.members()?;
        let header = schemes.iter().find(|(_, scheme)| scheme.value["in"] == "header");
        let (_, header) = header.ok_or_else(|| node.wrong("expected a security scheme in a header"))?;
        let response_header =
            |name: &str| node.get(&format!("/responses/200/headers/{name}")).map(|_| name.to_owned());
        let json = return_type.default_text();
        let other = |schema: &Schema| schema.strings()?.into_iter().find(|form| *form != json);
        Ok(Self {
            requested_count: response_header("X-Proxy-Requested-Count")?,
            returned_count: response_header("X-Proxy-Returned-Count")?,
            partial_flag: response_header("X-Proxy-Partial")?,
            num_range: num.needs("minimum and maximum", Schema::range)?,
            separator_bytes: sb.needs("x-max-utf8-bytes", |schema| schema.max_utf8_bytes)?,
            protocols: protocol.needs("an enum of strings", Schema::strings)?,
            text: return_type.needs("a second value", other)?,
            json,
            custom_separator: lb
                .needs("one value without a text", |lb| lb.strings()?.into_iter().find(is_custom))?,
            separators,
            regions: take(part::REGIONS)?,
            country: take(part::COUNTRY)?,
            request_id: take(part::REQUEST_ID)?,
            request_id_header: take(part::REQUEST_ID_HEADER)?,
            num,
            protocol,
            return_type,
            lb,
            sb,
            operation,
            api_key_header: header.read("/name")?,
        })
    }
}
