//! Values of arguments.

use sallyport_client::{
    GroupFilter,
    contract::{ExtractProxies, SearchStaticInstances},
};

/// Reads a number within limits, those of the contract where it has some.
pub(crate) fn number<T: TryFrom<i64>>(
    minimum: i64,
    maximum: i64,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (minimum..=maximum).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("expected a number from {minimum} to {maximum}"))
    }
}

/// Reads a number that has no upper limit of its own.
pub(crate) fn at_least(minimum: i64) -> impl Fn(&str) -> Result<u32, String> + Clone {
    number(minimum, u32::MAX.into())
}

/// Reads a text. An empty one is a mistake, such as a variable of a script that is not set, and must not count as absent.
pub(crate) fn text(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected a value, found an empty one; leave the option out if it has none".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads the code of a country. The directory has them in upper case, and a service may take another spelling for a country without
/// gateways, which is waited for in vain.
pub(crate) fn country(code: &str) -> Result<String, String> {
    text(code).map(|code| code.to_ascii_uppercase())
}

/// Reads a request id.
pub(crate) fn request_id(id: &str) -> Result<String, String> {
    let (length, maximum) = (id.len(), ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES);
    if id.is_empty() {
        return Err(
            "expected the request id of an extraction, found an empty value; leave the option out for a new \
                    extraction"
                .to_owned(),
        );
    }
    if length > maximum {
        return Err(format!("expected at most {maximum} bytes of UTF-8, found {length}"));
    }
    Ok(id.to_owned())
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
