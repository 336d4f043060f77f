//! Extraction: which gateways a call gets.

use serde_json::json;

use super::behaviour::Tags;
use super::extract_input::Parameters;
use super::world::{Gateway, SCARCE};
use super::{Reject, Reply, Request, Server, StoredExtraction};

/// What an extraction comes to.
#[derive(Debug)]
pub(super) struct Extraction {
    pub parameters: Parameters,
    pub gateways: Vec<Gateway>,
    pub is_repeat: bool,
}

/// Code of a shortage.
pub(super) const SHORTAGE: i64 = 40_901;

fn shortage() -> Reject {
    Reject::new(409, SHORTAGE, "not enough resources")
}

impl Server {
    pub(super) fn extract(&self, request: &Request, mut tags: Tags) -> Reply {
        self.extract_tags(request, &mut tags);
        match self.attempt(request, &mut tags) {
            Ok(extracted) => self.extract_success(request, &extracted, &tags),
            Err(reject) => self.extract_error(&reject, &tags),
        }
    }

    pub(super) fn extract_post(&self, request: &Request, tags: Tags) -> Reply {
        if self.decides("post-works") {
            return self.extract(request, tags);
        }
        let rules = [
            ("extract-post-error-without-message", Some(json!({ "code": 40_500 }))),
            ("extract-post-error-without-code", Some(json!({ "message": "use GET" }))),
            ("extract-post-error-msg", Some(json!({ "code": 40_500, "msg": "use GET" }))),
        ];
        match self.first_broken(&tags, rules) {
            Some(body) => Reply::json(405, &body),
            None => self.extract_error(&Reject::new(405, 40_500, "use GET"), &tags),
        }
    }

    fn attempt(&self, request: &Request, tags: &mut Tags) -> Result<Extraction, Reject> {
        let sent_id =
            request.first("request_id").or(request.header("x-request-id")).filter(|id| !id.is_empty());
        if let Some(id) = sent_id
            && self.fault.is_of("extract-replay")
            && let Some(extracted) = self.replay_unchecked(request, id, tags)
        {
            return Ok(extracted);
        }
        let account = self.extract_account(request, tags)?;
        let parameters = self.parameters(request, tags)?;
        self.admit(account, request, parameters.protocol, tags)?;
        let key = parameters.request_id.as_ref().map(|id| self.kept_key(account, id, tags));
        if let Some(key) = &key
            && let Some(kept) = self.kept(key, &parameters, request, tags)?
        {
            return Ok(Extraction { parameters, gateways: kept, is_repeat: true });
        }
        let gateways = self.choose(&parameters, tags)?;
        if let Some(key) = key {
            self.keep(&key, &parameters, &gateways, tags);
        }
        Ok(Extraction { parameters, gateways, is_repeat: false })
    }

    /// Faults that look a request id up before they know who calls.
    fn replay_unchecked(&self, request: &Request, id: &str, tags: &Tags) -> Option<Extraction> {
        let kept = {
            let memory = self.memory();
            let of_id = memory.ids.iter().rev().find(|key| key.ends_with(&format!(" {id}")))?;
            memory.extractions.get(of_id)?.clone()
        };
        let mut own = tags.clone();
        let caller = self.extract_account(request, &mut own);
        let without_token = caller.is_err() && self.on("extract-replay-before-token", &own);
        let refused = caller.is_ok_and(|account| self.admit(account, request, "http", &own).is_err());
        let without_access = refused && self.on("extract-replay-before-access", &own);
        let parameters = self.parameters(request, &own).ok()?;
        (without_token || without_access).then_some(Extraction {
            parameters,
            gateways: kept.gateways,
            is_repeat: true,
        })
    }

    fn kept_key(&self, account: usize, id: &str, tags: &Tags) -> String {
        let mut key = format!("{account} {id}");
        if self.on("extract-request-id-of-all-accounts", tags) {
            key = format!("0 {id}");
        }
        let header = tags.iter().any(|tag| matches!(*tag, "bearer" | "x-api-key"));
        if header && self.on("extract-request-id-by-transport", tags) {
            key = format!("header {key}");
        }
        key
    }

    /// The gateways of an earlier call with the same request id.
    fn kept(
        &self,
        key: &str,
        parameters: &Parameters,
        request: &Request,
        tags: &Tags,
    ) -> Result<Option<Vec<Gateway>>, Reject> {
        let position = {
            let memory = self.memory();
            memory.ids.iter().position(|known| known == key).map(|at| memory.ids.len() - at)
        };
        let Some(mut kept) = self.memory().extractions.get(key).cloned() else { return Ok(None) };
        kept.times += 1;
        self.memory().extractions.insert(key.into(), kept.clone());
        let by_header = request.first("request_id").is_none();
        let forgotten = self.on("extract-repeat-is-new", tags)
            || by_header && self.on("extract-repeat-by-header-is-new", tags)
            || kept.times > 1 && self.on("extract-repeat-second-is-new", tags)
            || position.is_some_and(|ago| ago > 3) && self.on("extract-repeat-forgotten-after-three", tags)
            || kept.gateways.len() > 1 && self.on("extract-repeat-of-many-is-new", tags);
        if forgotten {
            return Ok(None);
        }
        if self.on("extract-repeat-refused", tags) {
            return Err(Reject::new(409, 40_902, "the request id was used"));
        }
        if kept.parameters != parameters.key() {
            return match () {
                () if self.decides("other-parameters-first") => Ok(Some(kept.gateways)),
                () if self.decides("other-parameters-new") => Ok(None),
                () => Err(Reject::new(409, 40_903, "other parameters than before")),
            };
        }
        let mut gateways = kept.gateways;
        if gateways.len() > 1 && self.on("extract-repeat-first-only", tags) {
            gateways.truncate(1);
        }
        if gateways.len() > 1 && self.on("extract-repeat-partly-new", tags) {
            gateways.pop();
            gateways.extend(self.choose(parameters, tags)?.into_iter().take(1));
        }
        if self.on("extract-repeat-empty", tags) {
            gateways.clear();
        }
        Ok(Some(gateways))
    }

    fn keep(&self, key: &str, parameters: &Parameters, gateways: &[Gateway], tags: &Tags) {
        let partial = gateways.len() < parameters.num;
        if partial && self.on("extract-partial-not-remembered", tags)
            || self.on("extract-not-remembered", tags)
        {
            return;
        }
        let kept = StoredExtraction { parameters: parameters.key(), gateways: gateways.to_vec(), times: 0 };
        let mut memory = self.memory();
        memory.extractions.insert(key.into(), kept);
        memory.ids.push(key.into());
    }

    /// New gateways: the next ones of the region, round after round.
    fn choose(&self, parameters: &Parameters, tags: &Tags) -> Result<Vec<Gateway>, Reject> {
        let mut region = parameters.region.as_str();
        let mut protocol = parameters.protocol;
        let mut own = tags.clone();
        if region == SCARCE {
            own.push("scarce");
        }
        let tags = &own;
        if region != "GLOBAL" && self.on("extract-region-ignored", tags) {
            region = "GLOBAL";
        }
        if region == "USA" && self.on("extract-region-other", tags) {
            region = "DEU";
        }
        if region != "GLOBAL" && self.on("extract-region-sticks", tags) {
            let mut memory = self.memory();
            region = match memory.texts.entry("sticky".into()).or_insert_with(|| region.to_owned()).as_str() {
                "NZL" => "NZL",
                "ISL" => "ISL",
                "DEU" => "DEU",
                _ => "USA",
            };
        }
        if protocol == "socks5" && self.on("extract-socks5-gives-http", tags) {
            protocol = "http";
        } else if protocol == "http" && self.on("extract-http-gives-socks5", tags) {
            protocol = "socks5";
        }
        let all: Option<Vec<Gateway>> = {
            let world = self.world();
            let found = world.gateways.iter().find(|((name, of), _)| *name == region && *of == protocol);
            found.map(|(_, gateways)| gateways.clone())
        };
        let is_unknown = all.is_none();
        let mut all = all.unwrap_or_default();
        if all.is_empty() {
            if region == "ISL" && self.on("extract-empty-region-filled", tags) {
                all = self.global(protocol);
            } else if self.on("extract-shortage-as-empty-success", tags) {
                return Ok(Vec::new());
            } else {
                return match is_unknown {
                    true if self.decides("unknown-region-partial") => Ok(Vec::new()),
                    true if self.decides("unknown-region-shortage") => Err(shortage()),
                    true => Err(Reject::input("unknown region")),
                    false if self.decides("empty-region-partial") => Ok(Vec::new()),
                    false if self.decides("empty-region-unknown") => Err(Reject::input("unknown region")),
                    false => Err(shortage()),
                };
            }
        }
        let num = parameters.num;
        if all.len() < num {
            if self.on("extract-short-region-filled", tags) {
                all.extend(self.global(protocol));
            } else if self.decides("short-region-shortage") {
                return Err(shortage());
            }
        }
        let rules = [
            (true, "extract-one-too-many", num + 1),
            (true, "extract-rounded-up-to-ten", num.div_ceil(10) * 10),
            (num < 5, "extract-at-least-five", 5),
            (num > 50, "extract-too-many-beyond-fifty", num + 5),
            (num == 100, "extract-101-for-100", 101),
            (all.len() < 10, "extract-all-of-scarce-region", all.len().max(num)),
            (num > 20, "extract-at-most-20", 20),
            (num > 99, "extract-at-most-99", 99),
        ];
        let rules = rules.map(|(holds, rule, more)| (holds && more != num, rule, more));
        let num = self.first_broken_of(tags, rules).unwrap_or(num);
        let start = if self.decides("fixed-gateways") {
            0
        } else {
            let mut memory = self.memory();
            let cursor = memory.counts.entry(format!("cursor {region} {protocol}")).or_default();
            let start = *cursor;
            *cursor = (*cursor + num) % all.len();
            start
        };
        let count = if self.decides("repeated-gateways") { num } else { num.min(all.len()) };
        let step = if self.decides("repeated-gateways") { 2 } else { 1 };
        let at = |number: usize| all[(start + number / step) % all.len()].clone();
        Ok((0..count).map(at).collect())
    }

    fn global(&self, protocol: &'static str) -> Vec<Gateway> {
        self.world().gateways[&("GLOBAL", protocol)].clone()
    }
}
