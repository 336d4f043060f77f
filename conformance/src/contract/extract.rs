use std::ops::RangeInclusive;

use super::operation::Operation;
use super::parameter::Parameter;
use super::part;
use super::source::{ContractError, Node};

/// The extraction: its parameters by name, and its limits.
#[derive(Debug)]
pub struct Extract {
    /// Method, path and success.
    pub operation: Operation,
    /// Number of gateways.
    pub num: Parameter,
    /// Country of the gateways.
    pub regions: Parameter,
    /// Alias of `regions`.
    pub country: Parameter,
    /// Protocol of the gateways.
    pub protocol: Parameter,
    /// JSON or text.
    pub return_type: Parameter,
    /// Separator of a text response.
    pub lb: Parameter,
    /// The separator itself.
    pub sb: Parameter,
    /// Idempotency number in the query.
    pub request_id: Parameter,
    /// Idempotency number in a header.
    pub request_id_header: Parameter,
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
    /// Every value of `protocol`.
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
    pub(crate) fn range(&self, name: &str) -> RangeInclusive<i64> {
        if name == part::NUM {
            return self.num_range.clone();
        }
        let codes = self.lb.schema.values.iter().filter_map(|code| code.as_str()?.parse().ok());
        let codes: Vec<i64> = codes.collect();
        codes.iter().min().copied().unwrap_or_default()..=codes.iter().max().copied().unwrap_or_default()
    }

    /// The text between two entries of the plain-text response to a request with this `lb` and `sb`.
    pub fn separator(&self, lb: Option<String>, sb: Option<String>) -> String {
        let code = lb.unwrap_or_else(|| self.lb.default_text());
        let named = self.separators.iter().find(|separator| separator.code == code);
        named.map_or_else(|| sb.unwrap_or_default(), |separator| separator.text.clone())
    }

    pub(super) fn read((operation, node): (Operation, Node<'_>)) -> Result<Self, ContractError> {
        operation.has_only(&part::OF_EXTRACTIONS, &node)?;
        let take = |name| operation.parameter(name, &node);
        let (num, lb, sb, return_type) =
            (take(part::NUM)?, take(part::LB)?, take(part::SB)?, take(part::RETURN_TYPE)?);
        let protocol = take(part::PROTOCOL)?;

        let parameters = node.get("parameters")?.items()?.into_iter();
        let mut texts = parameters.filter_map(|parameter| parameter.find("schema")?.find("x-separators"));
        let texts = texts.next().ok_or_else(|| node.wrong("expected a parameter with x-separators"))?;
        let mut separators = Vec::new();
        for (code, text) in texts.members()? {
            separators.push(Separator { code: code.to_owned(), text: text.read()? });
        }
        let mut custom = lb.schema.strings()?.into_iter();
        let custom_separator = custom.find(|code| separators.iter().all(|known| known.code != *code));
        let custom_separator =
            custom_separator.ok_or_else(|| texts.wrong("expected one value of lb without a text"))?;

        let schemes = node.document()?.get("components")?.get("securitySchemes")?.members()?;
        let mut in_header = schemes.into_iter().filter(|(_, scheme)| scheme.value["in"] == "header");
        let (_, header) =
            in_header.next().ok_or_else(|| node.wrong("expected a security scheme in a header"))?;

        let headers = node.get("responses")?.get("200")?.get("headers")?;
        let response_header = |name: &str| headers.get(name).map(|_| name.to_owned());

        let json = return_type.default_text();
        let text = return_type.schema.strings()?.into_iter().find(|form| *form != json);
        Ok(Self {
            requested_count: response_header("X-Proxy-Requested-Count")?,
            returned_count: response_header("X-Proxy-Returned-Count")?,
            partial_flag: response_header("X-Proxy-Partial")?,
            num_range: num.schema.range()?,
            separator_bytes: sb
                .schema
                .max_utf8_bytes
                .ok_or_else(|| node.wrong("expected x-max-utf8-bytes of sb"))?,
            protocols: protocol.schema.strings()?,
            text: text.ok_or_else(|| node.wrong("expected a second value of return_type"))?,
            json,
            separators,
            custom_separator,
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
            api_key_header: header.get("name")?.read()?,
        })
    }
}
