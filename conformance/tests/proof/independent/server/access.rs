//! Who calls: the token in its transports, and what extraction asks of the account.

use super::behaviour::Tags;
use super::http::PEER;
use super::world::{Account, MAIN_AT, SECOND_AT};
use super::{Reject, Request, Server};

/// Positions of an account by what was sent.
fn account_of(accounts: &[Account], token: &str, with_links: bool) -> Option<usize> {
    accounts
        .iter()
        .position(|account| account.tokens.contains(&token) || with_links && account.links.contains(&token))
}

fn unauthorized(message: &str) -> Reject {
    Reject::new(401, 40_100, message)
}

impl Server {
    /// The account of a token, by exact comparison but for faults.
    fn look_up(&self, operation: &str, token: &str, tags: &Tags) -> Result<usize, Reject> {
        let world = self.world();
        let accounts = &world.accounts;
        let links = operation == "extract";
        if let Some(at) = account_of(accounts, token, links) {
            let is_link = accounts[at].links.contains(&token);
            if !(is_link && self.on("extract-link-refused", tags)) {
                return Ok(at);
            }
        }
        let near = |same: &dyn Fn(&str) -> bool| {
            accounts.iter().position(|account| account.tokens.iter().any(|known| same(known)))
        };
        let shorter =
            near(&|known| token.len() >= 6 && token.len() < known.len() && known.starts_with(token));
        let longer = near(&|known| token.len() > known.len() && token.starts_with(known));
        let any_case = near(&|known| known.eq_ignore_ascii_case(token));
        let changed_end = near(&|known| {
            token.len() == known.len()
                && token.as_bytes()[..8.min(token.len())] == known.as_bytes()[..8.min(known.len())]
        });
        let revoked = accounts.iter().position(|account| account.revoked.contains(&token));
        let found = [
            (shorter, "token-shorter"),
            (longer, "token-longer"),
            (any_case, "token-any-case"),
            (changed_end, "token-first-characters"),
            (revoked, "token-revoked"),
            (Some(MAIN_AT), "token-unknown"),
        ];
        let found =
            found.into_iter().find_map(|(at, what)| at.filter(|_| self.on_part(operation, what, tags)));
        found.ok_or_else(|| unauthorized("the token is not known"))
    }

    /// The one token of a static operation, from the query.
    pub(super) fn static_account(
        &self,
        operation: &str,
        request: &Request,
        tags: &Tags,
    ) -> Result<usize, Reject> {
        let sent = request.all("api_key");
        let repeated = || unauthorized("`api_key` must be given once");
        let token = match sent.as_slice() {
            [] => {
                if self.decides("static-header-token")
                    && let Some(token) = request.header("x-api-key")
                {
                    return self.look_up(operation, token, tags);
                }
                let has_session = self.memory().texts.contains_key("session");
                let passes = has_session && self.on_part(operation, "session-by-address", tags)
                    || self.on_part(operation, "token-missing", tags);
                return if passes { Ok(MAIN_AT) } else { Err(unauthorized("`api_key` is required")) };
            }
            [one] => *one,
            [first, rest @ ..] => {
                let last = rest.last().expect("there are two at least");
                let same = rest.iter().all(|other| other == first);
                let filled: Vec<_> = sent.iter().filter(|value| !value.is_empty()).collect();
                if self.on_part(operation, "token-repeated", tags) {
                    first
                } else if self.on_part(operation, "token-repeated-last", tags) {
                    last
                } else if same && self.on_part(operation, "token-repeated-same", tags) {
                    first
                } else if !same && self.on_part(operation, "token-repeated-different", tags) {
                    first
                } else if filled.len() == 1 && self.on_part(operation, "token-repeated-empty", tags) {
                    filled[0]
                } else {
                    return Err(repeated());
                }
            }
        };
        if token.is_empty() {
            return if self.on_part(operation, "token-empty", tags) {
                Ok(MAIN_AT)
            } else {
                Err(unauthorized("`api_key` must not be empty"))
            };
        }
        if token.trim().is_empty() && self.on_part(operation, "token-blank", tags) {
            return Ok(MAIN_AT);
        }
        let at = self.look_up(operation, token, tags)?;
        self.memory().texts.insert("session".into(), token.into());
        if self.decides("static-whitelist") && !self.is_whitelisted(at) {
            return Err(Reject::new(403, 40_301, "the address is not in the whitelist"));
        }
        Ok(at)
    }

    fn is_whitelisted(&self, account: usize) -> bool {
        let world = self.world();
        world.accounts[account].whitelist.iter().any(|allowed| PEER == *allowed)
    }

    /// The account of an extraction, and the circumstance of the transport.
    pub(super) fn extract_account(&self, request: &Request, tags: &mut Tags) -> Result<usize, Reject> {
        let mut sent: Vec<(&'static str, String)> = Vec::new();
        let queries = request.all("api_key");
        if queries.len() > 1
            && !(self.decides("repeated-first") && queries.iter().all(|value| value == &queries[0]))
        {
            return Err(unauthorized("`api_key` must be given once"));
        }
        sent.extend(queries.first().map(|value| ("query", (*value).to_owned())));
        let keys = request.header_all("x-api-key");
        sent.extend(keys.iter().map(|value| ("x-api-key", (*value).to_owned())));
        for value in request.header_all("authorization") {
            if let Some((scheme, token)) = value.split_once(' ')
                && scheme.eq_ignore_ascii_case("bearer")
            {
                sent.push(("bearer", token.trim().to_owned()));
            }
        }
        let only = sent.first().filter(|_| sent.len() == 1).map(|(via, _)| *via);
        tags.extend(only);
        if sent.len() > 1 {
            tags.push("several-tokens");
        }
        match only {
            Some("bearer") if self.on("extract-bearer-refused", tags) => sent.clear(),
            Some("x-api-key") if self.on("extract-x-api-key-refused", tags) => sent.clear(),
            Some("query") if self.on("extract-query-refused", tags) => sent.clear(),
            Some("bearer" | "x-api-key") if self.on("extract-header-token-any", tags) => return Ok(MAIN_AT),
            Some("bearer" | "x-api-key") if self.on("extract-header-token-other-account", tags) => {
                return Ok(SECOND_AT);
            }
            _ => {}
        }
        let Some((_, first)) = sent.first().cloned() else {
            let has_session = self.memory().texts.contains_key("session");
            let passes = self.on("extract-token-missing", tags)
                || has_session && self.on("extract-session-by-address", tags);
            return if passes { Ok(MAIN_AT) } else { Err(unauthorized("a token is required")) };
        };
        if sent.iter().any(|(_, token)| *token != first) {
            return self.unequal(&sent, tags);
        }
        if sent.len() > 1 && self.on("extract-token-equal-refused", tags)
            || sent.len() == 3 && self.on("extract-token-three-equal-refused", tags)
        {
            return Err(unauthorized("give the token once"));
        }
        if first.is_empty() {
            return if self.on("extract-token-empty", tags) {
                Ok(MAIN_AT)
            } else {
                Err(unauthorized("the token must not be empty"))
            };
        }
        if first.trim().is_empty() && self.on("extract-token-blank", tags) {
            return Ok(MAIN_AT);
        }
        let at = self.look_up("extract", &first, tags)?;
        if self.world().accounts[at].links.contains(&first.as_str()) {
            tags.push("link");
        }
        self.memory().texts.insert("session".into(), first);
        Ok(at)
    }

    /// Several tokens that differ: rejected, but for faults.
    fn unequal(&self, sent: &[(&'static str, String)], tags: &Tags) -> Result<usize, Reject> {
        let of = |via: &str| sent.iter().find(|(from, _)| *from == via).map(|(_, token)| token.as_str());
        let (query, key, bearer) = (of("query"), of("x-api-key"), of("bearer"));
        let known = |token: &str| account_of(&self.world().accounts, token, true);
        let all: Vec<Option<usize>> = sent.iter().map(|(_, token)| known(token)).collect();
        let different =
            |one: Option<&str>, other: Option<&str>| one.is_some() && other.is_some() && one != other;
        let first_known = || all.iter().flatten().next().copied();
        let case = sent.iter().all(|(_, token)| token.eq_ignore_ascii_case(&sent[0].1));
        let same_account = all.iter().all(|at| at.is_some() && *at == all[0]);
        let only_headers = different(key, bearer) && !different(query, key) && !different(query, bearer);
        let only_bearer = query.is_some() && query == key && different(query, bearer);
        let rules = [
            (true, "extract-token-unequal-first-wins", all[0]),
            (true, "extract-token-unequal-last-wins", all[all.len() - 1]),
            (true, "extract-token-unequal-any-known", first_known()),
            (only_headers, "extract-token-unequal-headers", key.and_then(known)),
            (only_bearer, "extract-token-unequal-third", query.and_then(known)),
            (different(query, key), "extract-token-unequal-query-x-api-key", query.and_then(known)),
            (different(query, bearer), "extract-token-unequal-query-bearer", query.and_then(known)),
            (case, "extract-token-unequal-case", first_known()),
            (same_account, "extract-token-unequal-same-account", all[0]),
            (all.iter().any(Option::is_none), "extract-token-unequal-unknown", first_known()),
            (all.iter().all(Option::is_some), "extract-token-unequal-known", all[0]),
        ];
        let rules = rules.map(|(holds, rule, winner)| (rule, winner.filter(|_| holds)));
        let winner = self.first_broken(tags, rules);
        winner.ok_or_else(|| unauthorized("the tokens differ"))
    }

    /// Whitelist, real-name verification and entitlement, in this order.
    pub(super) fn admit(
        &self,
        account: usize,
        request: &Request,
        protocol: &str,
        tags: &Tags,
    ) -> Result<(), Reject> {
        let forwarded = |name: &str| {
            let value = request.header(name)?;
            let first = value.split(',').next()?.trim();
            let first = first.strip_prefix("for=").unwrap_or(first);
            first.parse().ok()
        };
        let mut peer = PEER;
        for (name, rule) in [
            ("x-forwarded-for", "extract-whitelist-x-forwarded-for"),
            ("x-real-ip", "extract-whitelist-x-real-ip"),
            ("forwarded", "extract-whitelist-forwarded"),
            ("true-client-ip", "extract-whitelist-true-client-ip"),
            ("cf-connecting-ip", "extract-whitelist-cf-connecting-ip"),
            ("x-client-ip", "extract-whitelist-x-client-ip"),
        ] {
            if let Some(address) = forwarded(name)
                && address != peer
                && self.on(rule, tags)
            {
                peer = address;
            }
        }
        let (listed, verified, protocols) = {
            let world = self.world();
            let account = &world.accounts[account];
            let listed = account.whitelist.iter().any(|allowed| peer == *allowed);
            (listed, account.verified, account.protocols.clone())
        };
        let seen = format!("whitelisted {peer}");
        if listed {
            self.memory().texts.insert(seen.clone(), String::new());
        } else {
            let attempts = self.count(&format!("not whitelisted {account}"));
            let known_address = self.memory().texts.contains_key(&seen);
            let passes = self.on("extract-whitelist-unchecked", tags)
                || attempts > 1 && self.on("extract-whitelist-first-call-only", tags)
                || attempts > 2 && self.on("extract-whitelist-third-call", tags)
                || known_address && self.on("extract-whitelist-cached-by-address", tags)
                || request.header("x-forwarded-for").is_some()
                    && self.on("extract-whitelist-skipped-behind-proxy", tags);
            if !passes {
                return Err(Reject::new(403, 40_301, "the address is not in the whitelist"));
            }
        }
        if !verified {
            let attempts = self.count(&format!("not verified {account}"));
            let passes = self.on("extract-real-name-unchecked", tags)
                || attempts > 1 && self.on("extract-real-name-first-call-only", tags);
            if !passes {
                return Err(Reject::new(403, 40_302, "the account is not real-name verified"));
            }
        }
        if !protocols.contains(&protocol) {
            let attempts = self.count(&format!("not entitled {account}"));
            let passes = self.on("extract-entitlement-unchecked", tags)
                || !protocols.is_empty() && self.on("extract-entitlement-any-suffices", tags)
                || protocols.is_empty() && self.on("extract-entitlement-none-passes", tags)
                || attempts > 1 && self.on("extract-entitlement-first-call-only", tags);
            if !passes {
                return Err(Reject::new(403, 40_303, "no entitlement for this protocol"));
            }
        } else if protocols.len() == 1 && self.on("extract-entitlement-needs-all", tags) {
            return Err(Reject::new(403, 40_303, "no entitlement for every protocol"));
        }
        Ok(())
    }
}
