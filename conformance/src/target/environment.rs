use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::path::Path;

use super::fact_form::Source;
use super::{
    Fact, Facts, GatewayPool, KnownGateway, KnownInstance, KnownOrder, RejectedToken, RejectionReason, Secret,
};

/// A variable with an invalid value.
#[derive(Debug, thiserror::Error)]
#[error("{variable}: expected {expected}")]
pub struct EnvironmentError {
    variable: &'static str,
    expected: Cow<'static, str>,
}

/// Reads the facts from variables, which `get` looks up. Lists are separated by commas. An order is `NUMBER=ADDRESS+ADDRESS`,
/// gateways are `REGION/PROTOCOL=HOST:PORT+HOST:PORT`, a rejected token is `REASON=TOKEN`, and known instances are the path of a
/// file.
///
/// # Errors
/// Names the variable and the expected format, never its value.
pub fn facts_from(get: impl Fn(&str) -> Option<String>) -> Result<Facts, EnvironmentError> {
    let mut facts = Facts::default();
    for fact in Fact::ALL {
        if let Some(text) = get(fact.variable()).filter(|value| !value.is_empty()) {
            facts.supply(fact, &Variable { name: fact.variable(), text })?;
        }
    }
    Ok(facts)
}

struct Variable {
    name: &'static str,
    text: String,
}

impl Variable {
    fn wrong(&self, expected: impl Into<Cow<'static, str>>) -> EnvironmentError {
        EnvironmentError { variable: self.name, expected: expected.into() }
    }
}

impl Source for Variable {
    type Error = EnvironmentError;

    fn text(&self) -> Result<String, Self::Error> {
        Ok(self.text.clone())
    }

    fn integer(&self) -> Result<i64, Self::Error> {
        self.text.parse().map_err(|_| self.wrong("an integer"))
    }

    fn ip(&self) -> Result<Ipv4Addr, Self::Error> {
        self.text.parse().map_err(|_| self.wrong("an IPv4 address"))
    }

    fn texts(&self) -> Result<Vec<String>, Self::Error> {
        let items = self.text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Ok(items.map(str::to_owned).collect())
    }

    fn orders(&self) -> Result<Vec<KnownOrder>, Self::Error> {
        let orders: Option<_> = self.texts()?.iter().map(|text| order(text)).collect();
        orders.ok_or_else(|| self.wrong("NUMBER=ADDRESS+ADDRESS, separated by commas"))
    }

    fn gateway_pools(&self) -> Result<Vec<GatewayPool>, Self::Error> {
        let pools: Option<_> = self.texts()?.iter().map(|pool| gateway_pool(pool)).collect();
        pools.ok_or_else(|| self.wrong("REGION/PROTOCOL=HOST:PORT+HOST:PORT, separated by commas"))
    }

    fn integers(&self) -> Result<Vec<i64>, Self::Error> {
        let numbers: Option<_> =
            self.texts()?.iter().map(|text| text.parse().ok().filter(|number| *number >= 1)).collect();
        numbers.ok_or_else(|| self.wrong("whole numbers from 1, separated by commas"))
    }

    fn instances(&self) -> Result<Vec<KnownInstance>, Self::Error> {
        let path = Path::new(&self.text);
        // Not shown: it may be a token in the wrong variable.
        if !path.is_file() {
            return Err(self.wrong("the path of a file of instances"));
        }
        KnownInstance::read(path).map_err(|reason| self.wrong(reason))
    }

    fn rejected_tokens(&self) -> Result<Vec<RejectedToken>, Self::Error> {
        let rejected = |text: &String| {
            let (reason, token) = text.split_once('=')?;
            let reason = RejectionReason::named(reason.trim())?;
            let token = Some(token.trim()).filter(|token| !token.is_empty())?;
            Some(RejectedToken { token: Secret::new(self.name, token), reason, note: String::new() })
        };
        let tokens: Option<_> = self.texts()?.iter().map(rejected).collect();
        let reasons = RejectionReason::ALL.map(RejectionReason::name).join(", ");
        tokens.ok_or_else(|| {
            self.wrong(format!("REASON=TOKEN, separated by commas, with REASON one of {reasons}"))
        })
    }

    fn secret(&self) -> Result<Secret, Self::Error> {
        Ok(Secret::new(self.name, self.text()?))
    }

    fn secrets(&self) -> Result<Vec<Secret>, Self::Error> {
        Ok(self.texts()?.into_iter().map(|text| Secret::new(self.name, text)).collect())
    }
}

fn order(text: &str) -> Option<KnownOrder> {
    let (number, addresses) = text.split_once('=')?;
    let addresses: Vec<String> = addresses.split('+').map(|address| address.trim().to_owned()).collect();
    let is_complete = !number.is_empty() && addresses.iter().all(|address| !address.is_empty());
    is_complete.then(|| KnownOrder { number: number.to_owned(), addresses })
}

fn gateway_pool(text: &str) -> Option<GatewayPool> {
    let (name, gateways) = text.split_once('=')?;
    let (region, protocol) = name.split_once('/')?;
    let gateways: Option<_> =
        gateways.split('+').map(|gateway| KnownGateway::parse(gateway.trim())).collect();
    let pool = GatewayPool { region: region.to_owned(), protocol: protocol.to_owned(), gateways: gateways? };
    (!region.is_empty() && !protocol.is_empty()).then_some(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(variable: &str, value: &str) -> Result<Facts, EnvironmentError> {
        facts_from(|asked| (asked == variable).then(|| value.to_owned()))
    }

    #[test]
    fn each_variable_supplies_its_own_fact() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "ip,port\n203.0.113.7,80\n").expect("a writable file");
        for fact in Fact::ALL {
            let value = match fact {
                Fact::Orders => "SO-1=203.0.113.7+203.0.113.8:80, SO-2=[2001:db8::1]:80",
                Fact::KnownGateways => "USA/http=gw.invalid:80+203.0.113.1:81, DEU/socks5=[2001:db8::1]:80",
                Fact::ForeignGroup => "7",
                Fact::EgressIp => "198.51.100.4",
                Fact::OwnGroups => "3, 7",
                Fact::KnownInstances => file.path().to_str().expect("a path in UTF-8"),
                Fact::RejectedTokens => "revoked=token-one, not-whitelisted=token-two",
                _ => "some, values",
            };
            let facts = facts(fact.variable(), value).expect("a good value");
            for other in Fact::ALL {
                assert_eq!(facts.has(other), other == fact, "{other:?} from {}", fact.variable());
            }
        }
    }
}
