//! Who calls: the token in its transports, and what extraction asks of the account.

use std::collections::BTreeMap;

use super::behaviour::Tags;
use super::http::PEER;
use super::world::{Account, MAIN_AT};
use super::{Reject, Request, Server};

/// Headers in which proxies name the caller.
const FORWARDED: [&str; 6] =
    ["x-forwarded-for", "x-real-ip", "forwarded", "true-client-ip", "cf-connecting-ip", "x-client-ip"];

/// The first caller that each of these headers names.
pub(super) fn claimed(request: &Request) -> BTreeMap<&'static str, &str> {
    let caller = |header: &'static str| {
        let first = request.header(header)?.split(',').next()?.trim();
        Some((header, first.strip_prefix("for=").unwrap_or(first)))
    };
    FORWARDED.into_iter().filter_map(caller).collect()
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
        let place = format!("{operation}.token");
        let passes =
            |known: &str, revoked: bool| self.breaks(&place, tags, || known! { token, known, revoked });
        let near = accounts.iter().position(|account| {
            account.tokens.iter().any(|known| passes(known, false))
                || account.revoked.iter().any(|known| passes(known, true))
        });
        near.ok_or_else(|| unauthorized("the token is not known"))
    }

    /// The account of the one token that counts.
    fn account(&self, operation: &str, token: Option<&str>, tags: &Tags) -> Result<usize, Reject> {
        let session = self.memory().texts.contains_key("session");
        let is_blank = token.is_none_or(|token| token.trim().is_empty());
        if is_blank && self.breaks(&format!("{operation}.no-token"), tags, || known! { token, session }) {
            return Ok(MAIN_AT);
        }
        let token =
            token.filter(|token| !token.is_empty()).ok_or_else(|| unauthorized("a token is required"))?;
        let at = self.look_up(operation, token, tags)?;
        self.memory().texts.insert("session".into(), token.into());
        Ok(at)
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
        let repeated;
        let token = match &sent[..] {
            [] => None,
            [one] => Some(*one),
            _ => {
                let counts = self.instead::<String>(&format!("{operation}.tokens"), tags, || known! { sent });
                repeated = counts.ok_or_else(|| unauthorized("`api_key` must be given once"))?;
                Some(repeated.as_str())
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
        if self.breaks("extract.transport", tags, || known! { via => only }) {
            sent.clear();
        }
        if let Some(account) = self.instead("extract.holder", tags, || known! { via => only }) {
            return Ok(account);
        }
        let first = sent.first().map(|(_, token)| token.as_str());
        if sent.iter().any(|(_, token)| Some(token.as_str()) != first) {
            return self.unequal(&sent, tags);
        }
        if self.breaks("extract.same-tokens", tags, || known! { count => sent.len() }) {
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
        let account = |token: &str| account_of(&self.world().accounts, token, true);
        let winner = self.instead::<Option<usize>>("extract.tokens", tags, || {
            let accounts: Vec<_> = sent.iter().map(|(_, token)| account(token)).collect();
            let known: Vec<_> = accounts.iter().flatten().collect();
            let (query, key, bearer) = (of("query"), of("x-api-key"), of("bearer"));
            let texts: Vec<_> = sent.iter().map(|(_, token)| token).collect();
            let (by_query, by_key) = (query.and_then(account), key.and_then(account));
            known! { query, key, bearer, texts, accounts, known, by_query, by_key }
        });
        winner.flatten().ok_or_else(|| unauthorized("the tokens differ"))
    }

    /// Whitelist, real-name verification and entitlement, in this order.
    pub(super) fn admit(
        &self,
        account: usize,
        request: &Request,
        protocol: &str,
        tags: &Tags,
    ) -> Result<(), Reject> {
        let claimed = claimed(request);
        let peer = self.instead::<String>("extract.peer", tags, || known! { claimed });
        let peer = peer.and_then(|peer| peer.parse().ok()).unwrap_or(PEER);
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
        let is_proxied = claimed.contains_key("x-forwarded-for");
        let rules = [
            ("whitelist", is_listed, 40_301, "the address is not in the whitelist"),
            ("real-name", is_verified, 40_302, "the account is not real-name verified"),
            ("entitlement", protocols.contains(&protocol), 40_303, "no entitlement for this protocol"),
        ];
        for (rule, holds, code, message) in rules {
            if holds {
                continue;
            }
            let attempt = self.count(&format!("rejected {account} {code}"));
            let known = || known! { attempt, is_known, is_proxied, protocols };
            if !self.breaks(&format!("extract.{rule}"), tags, known) {
                return Err(Reject::new(403, code, message));
            }
        }
        if self.breaks("extract.entitled", tags, || known! { protocols }) {
            return Err(Reject::new(403, 40_303, "no entitlement for every protocol"));
        }
        Ok(())
    }
}
