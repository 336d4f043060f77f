//! Who calls: the token in its transports, and what extraction asks of the account.

use super::behaviour::Tags;
use super::http::PEER;
use super::world::{Account, MAIN_AT, SECOND_AT};
use super::{Reject, Request, Server};

/// Headers in which proxies name the caller.
pub(super) const FORWARDED: [&str; 6] =
    ["x-forwarded-for", "x-real-ip", "forwarded", "true-client-ip", "cf-connecting-ip", "x-client-ip"];

/// The first caller that such a header names.
pub(super) fn forwarded<'a>(request: &'a Request, header: &str) -> Option<&'a str> {
    let first = request.header(header)?.split(',').next()?.trim();
    Some(first.strip_prefix("for=").unwrap_or(first))
}

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
        if let Some(at) = account_of(accounts, token, operation == "extract") {
            let is_link = accounts[at].links.contains(&token);
            if !(is_link && self.on("extract-link-refused", tags)) {
                return Ok(at);
            }
        }
        let near = |same: &dyn Fn(&str) -> bool| {
            accounts.iter().position(|account| account.tokens.iter().any(|known| same(known)))
        };
        let beginning = |text: &str| text.as_bytes()[..8.min(text.len())].to_vec();
        let is_shorter = |known: &str| token.len() < known.len() && known.starts_with(token);
        let has_beginning = |known: &str| token.len() == known.len() && beginning(token) == beginning(known);
        let rules = [
            ("token-shorter", near(&is_shorter).filter(|_| token.len() >= 6)),
            ("token-longer", near(&|known| token.len() > known.len() && token.starts_with(known))),
            ("token-any-case", near(&|known| known.eq_ignore_ascii_case(token))),
            ("token-first-characters", near(&has_beginning)),
            ("token-revoked", accounts.iter().position(|account| account.revoked.contains(&token))),
            ("token-unknown", Some(MAIN_AT)),
        ];
        let found = self.first_broken_part(operation, tags, rules);
        found.ok_or_else(|| unauthorized("the token is not known"))
    }

    /// The account of the one token that counts.
    fn account(&self, operation: &str, token: Option<&str>, tags: &Tags) -> Result<usize, Reject> {
        let on = |rule: &str| self.on_part(operation, rule, tags);
        let (passes, message) = match token {
            None => {
                let has_session = self.memory().texts.contains_key("session");
                (has_session && on("session-by-address") || on("token-missing"), "a token is required")
            }
            Some("") => (on("token-empty"), "the token must not be empty"),
            Some(blank) if blank.trim().is_empty() && on("token-blank") => (true, ""),
            Some(token) => {
                let at = self.look_up(operation, token, tags)?;
                self.memory().texts.insert("session".into(), token.into());
                return Ok(at);
            }
        };
        if passes { Ok(MAIN_AT) } else { Err(unauthorized(message)) }
    }

    /// The account of a static operation, whose one token is in the query.
    pub(super) fn static_account(
        &self,
        operation: &str,
        request: &Request,
        tags: &Tags,
    ) -> Result<usize, Reject> {
        let sent = request.all("api_key");
        if let ([], true, Some(token)) =
            (&sent[..], self.decides("static-header-token"), request.header("x-api-key"))
        {
            return self.look_up(operation, token, tags);
        }
        let token = match &sent[..] {
            [] => None,
            [one] => Some(*one),
            [first, .., last] => {
                let same = sent.iter().all(|other| other == first);
                let filled: Vec<_> = sent.iter().copied().filter(|value| !value.is_empty()).collect();
                let only_filled = filled.first().copied().filter(|_| filled.len() == 1);
                let rules = [
                    ("token-repeated", Some(*first)),
                    ("token-repeated-last", Some(*last)),
                    ("token-repeated-same", same.then_some(*first)),
                    ("token-repeated-different", (!same).then_some(*first)),
                    ("token-repeated-empty", only_filled),
                ];
                let counts = self.first_broken_part(operation, tags, rules);
                Some(counts.ok_or_else(|| unauthorized("`api_key` must be given once"))?)
            }
        };
        let is_known = token.is_some_and(|token| !token.trim().is_empty());
        let at = self.account(operation, token, tags)?;
        if is_known && self.decides("static-whitelist") && !self.is_whitelisted(at) {
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
        let queries = request.all("api_key");
        let is_repeated = queries.len() > 1 && !self.decides("repeated-first");
        if is_repeated || queries.iter().any(|value| value != &queries[0]) {
            return Err(unauthorized("`api_key` must be given once"));
        }
        let bearer = |value: &&str| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| ("bearer", token.trim().to_owned()))
        };
        let mut sent: Vec<(&'static str, String)> =
            queries.first().map(|value| ("query", (*value).to_owned())).into_iter().collect();
        sent.extend(request.header_all("x-api-key").iter().map(|value| ("x-api-key", (*value).to_owned())));
        sent.extend(request.header_all("authorization").iter().filter_map(bearer));
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
        let first = sent.first().map(|(_, token)| token.as_str());
        if sent.iter().any(|(_, token)| Some(token.as_str()) != first) {
            return self.unequal(&sent, tags);
        }
        let rules = [
            (sent.len() > 1, "extract-token-equal-refused"),
            (sent.len() == 3, "extract-token-three-equal-refused"),
        ];
        if self.breaks_any(tags, rules) {
            return Err(unauthorized("give the token once"));
        }
        let at = self.account("extract", first, tags)?;
        if first.is_some_and(|first| self.world().accounts[at].links.contains(&first)) {
            tags.push("link");
        }
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
        let by_query = || query.and_then(known);
        let case = sent.iter().all(|(_, token)| token.eq_ignore_ascii_case(&sent[0].1));
        let same_account = all.iter().all(|at| at.is_some() && *at == all[0]);
        let only_headers = different(key, bearer) && !different(query, key) && !different(query, bearer);
        let only_bearer = query.is_some() && query == key && different(query, bearer);
        let rules = [
            (true, "first-wins", all[0]),
            (true, "last-wins", all[all.len() - 1]),
            (true, "any-known", first_known()),
            (only_headers, "headers", key.and_then(known)),
            (only_bearer, "third", by_query()),
            (different(query, key), "query-x-api-key", by_query()),
            (different(query, bearer), "query-bearer", by_query()),
            (case, "case", first_known()),
            (same_account, "same-account", all[0]),
            (all.iter().any(Option::is_none), "unknown", first_known()),
            (all.iter().all(Option::is_some), "known", all[0]),
        ];
        let rules = rules.map(|(holds, rule, winner)| (rule, winner.filter(|_| holds)));
        let winner = self.first_broken_part("extract-token-unequal", tags, rules);
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
        let mut peer = PEER;
        for header in FORWARDED {
            if let Some(Ok(address)) = forwarded(request, header).map(str::parse)
                && address != peer
                && self.on_part("extract-whitelist", header, tags)
            {
                peer = address;
            }
        }
        let (is_listed, is_verified, protocols) = {
            let world = self.world();
            let account = &world.accounts[account];
            let is_listed = account.whitelist.iter().any(|allowed| peer == *allowed);
            (is_listed, account.verified, account.protocols.clone())
        };
        let seen = format!("whitelisted {peer}");
        let is_known = self.memory().texts.contains_key(&seen);
        if is_listed {
            self.memory().texts.insert(seen, String::new());
        }
        let is_proxied = request.header("x-forwarded-for").is_some();
        // How often an account was rejected for it, this time included; 0 when it need not be.
        let attempts = |holds: bool, code: i64| match holds {
            true => 0,
            false => self.count(&format!("rejected {account} {code}")),
        };
        let rejection = |attempt: usize, code: i64, message: &str, rules: &[(bool, &'static str)]| {
            let passes = attempt == 0 || self.breaks_any(tags, rules.iter().copied());
            if passes { Ok(()) } else { Err(Reject::new(403, code, message)) }
        };
        let attempt = attempts(is_listed, 40_301);
        let rules = [
            (true, "extract-whitelist-unchecked"),
            (attempt > 1, "extract-whitelist-first-call-only"),
            (attempt > 2, "extract-whitelist-third-call"),
            (is_known, "extract-whitelist-cached-by-address"),
            (is_proxied, "extract-whitelist-skipped-behind-proxy"),
        ];
        rejection(attempt, 40_301, "the address is not in the whitelist", &rules)?;
        let attempt = attempts(is_verified, 40_302);
        let rules =
            [(true, "extract-real-name-unchecked"), (attempt > 1, "extract-real-name-first-call-only")];
        rejection(attempt, 40_302, "the account is not real-name verified", &rules)?;
        let attempt = attempts(protocols.contains(&protocol), 40_303);
        let rules = [
            (true, "extract-entitlement-unchecked"),
            (!protocols.is_empty(), "extract-entitlement-any-suffices"),
            (protocols.is_empty(), "extract-entitlement-none-passes"),
            (attempt > 1, "extract-entitlement-first-call-only"),
        ];
        rejection(attempt, 40_303, "no entitlement for this protocol", &rules)?;
        if protocols == [protocol] && self.on("extract-entitlement-needs-all", tags) {
            return Err(Reject::new(403, 40_303, "no entitlement for every protocol"));
        }
        Ok(())
    }
}
