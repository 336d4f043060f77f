//! Values of arguments.

use std::{error::Error, str::FromStr};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sallyport_client::{GroupFilter, contract::SearchStaticInstances};

/// Reads a text. An empty one is a mistake, such as a variable of a script that is not set, and must not count as absent.
pub(crate) fn text(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected a value, found an empty one; leave the option out if it has none".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads a code, such as that of a country. Directories have them in upper case, and a service may take another spelling for a country
/// without gateways, which is waited for in vain.
pub(crate) fn upper_case(code: &str) -> Result<String, String> {
    text(code).map(|code| code.to_ascii_uppercase())
}

/// Reads the groups of a search.
pub(crate) fn group(text: &str) -> Result<GroupFilter, String> {
    // The lowest number stands for instances without a group.
    let minimum = SearchStaticInstances::GROUP_ID_MINIMUM + 1;
    match text.parse() {
        _ if text == "none" => Ok(GroupFilter::Ungrouped),
        Ok(number) if number >= minimum => Ok(GroupFilter::Id(number)),
        _ => Err(format!("expected the number of a group or `none`; numbers start at {minimum}")),
    }
}

/// Reads one of the values that the document has for an enum.
pub(crate) fn one_of<T>(known: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(known).try_map(|text| text.parse::<T>())
}
