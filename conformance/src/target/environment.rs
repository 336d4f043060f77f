use super::{Fact, Facts, HeldOrder, Secret};

/// A variable whose value can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{variable}: expected {expected}")]
pub struct EnvironmentError {
    variable: &'static str,
    expected: &'static str,
}

/// Reads the facts from variables, through `get`. Lists are separated by commas; an order is written
/// `NUMBER=ADDRESS+ADDRESS`, several orders are separated by commas.
///
/// # Errors
/// Names the variable and the form that was expected, never its value.
pub fn facts_from(get: impl Fn(&str) -> Option<String>) -> Result<Facts, EnvironmentError> {
    let text = |fact: Fact| get(fact.variable()).filter(|value| !value.is_empty());
    let list = |fact: Fact| -> Vec<String> {
        let items = text(fact).unwrap_or_default();
        items.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    };
    let secret = |fact: Fact| text(fact).map(|value| Secret::new(fact.variable(), value));
    let wrong = |fact: Fact, expected| EnvironmentError { variable: fact.variable(), expected };
    Ok(Facts {
        own_addresses: list(Fact::OwnAddresses),
        orders: list(Fact::Orders)
            .iter()
            .map(|order| held_order(order))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong(Fact::Orders, "NUMBER=ADDRESS+ADDRESS, separated by commas"))?,
        foreign_addresses: list(Fact::ForeignAddresses),
        foreign_order: text(Fact::ForeignOrder),
        foreign_group: text(Fact::ForeignGroup)
            .map(|value| value.parse().map_err(|_| wrong(Fact::ForeignGroup, "a whole number")))
            .transpose()?,
        shared_address: text(Fact::SharedAddress),
        second_token: secret(Fact::SecondToken),
        empty_token: secret(Fact::EmptyToken),
        link_credential: secret(Fact::LinkCredential),
        revoked_token: secret(Fact::RevokedToken),
        token_not_whitelisted: secret(Fact::TokenNotWhitelisted),
        token_not_verified: secret(Fact::TokenNotVerified),
        token_not_entitled: secret(Fact::TokenNotEntitled),
        token_partly_entitled: secret(Fact::TokenPartlyEntitled),
        plentiful_region: text(Fact::PlentifulRegion),
        scarce_region: text(Fact::ScarceRegion),
        empty_region: text(Fact::EmptyRegion),
        egress_ip: text(Fact::EgressIp)
            .map(|value| value.parse().map_err(|_| wrong(Fact::EgressIp, "an IPv4 address")))
            .transpose()?,
        canaries: list(Fact::Canaries)
            .into_iter()
            .map(|value| Secret::new(Fact::Canaries.variable(), value))
            .collect(),
    })
}

fn held_order(text: &str) -> Option<HeldOrder> {
    let (number, addresses) = text.split_once('=')?;
    let addresses: Vec<String> = addresses.split('+').map(|address| address.trim().to_owned()).collect();
    let complete = !number.is_empty() && addresses.iter().all(|address| !address.is_empty());
    complete.then(|| HeldOrder { number: number.to_owned(), addresses })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(variable: &str, value: &str) -> Result<Facts, EnvironmentError> {
        facts_from(|asked| (asked == variable).then(|| value.to_owned()))
    }

    #[test]
    fn each_variable_supplies_its_own_fact() {
        for fact in Fact::ALL {
            let value = match fact {
                Fact::Orders => "SO-1=203.0.113.7+203.0.113.8:80, SO-2=[2001:db8::1]:80",
                Fact::ForeignGroup => "7",
                Fact::EgressIp => "198.51.100.4",
                _ => "some, values",
            };
            let facts = facts(fact.variable(), value).expect("a good value");
            for other in Fact::ALL {
                assert_eq!(facts.has(other), other == fact, "{other:?} from {}", fact.variable());
            }
        }
    }

    #[test]
    fn a_bad_value_names_the_variable_and_not_the_value() {
        for (variable, value) in [
            ("SALLYPORT_ORDERS", "hunter2"),
            ("SALLYPORT_FOREIGN_GROUP", "hunter2"),
            ("SALLYPORT_EGRESS_IP", "hunter2"),
        ] {
            let error = facts(variable, value).expect_err("a bad value").to_string();
            assert!(error.starts_with(variable) && !error.contains("hunter2"), "{error}");
        }
    }
}
