//! Extraction: which gateways a call gets.

use super::behaviour::{Tags, with_tags};
use super::extract_input::Parameters;
use super::world::{EMPTY_REGION, Gateway, SCARCE};
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
        self.extract_error(&Reject::new(405, 40_500, "use GET"), &tags)
    }

    fn attempt(&self, request: &Request, tags: &mut Tags) -> Result<Extraction, Reject> {
        let _alone = self.extracting.lock().expect("no handler panics while it extracts");
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
            && let Some(gateways) = self.kept(key, &parameters, request, tags)?
        {
            return Ok(Extraction { parameters, gateways, is_repeat: true });
        }
        let gateways = self.choose(&parameters, tags)?;
        let rules = [
            (gateways.len() < parameters.num, "extract-partial-not-remembered"),
            (true, "extract-not-remembered"),
        ];
        if let Some(key) = key.filter(|_| !self.breaks_any(tags, rules)) {
            let kept =
                StoredExtraction { parameters: parameters.key(), gateways: gateways.clone(), times: 0 };
            let mut memory = self.memory();
            memory.extractions.insert(key.clone(), kept);
            memory.ids.push(key);
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
        let is_unknown = caller.is_err();
        let is_refused = caller.is_ok_and(|account| self.admit(account, request, "http", &own).is_err());
        let rules =
            [(is_unknown, "extract-replay-before-token"), (is_refused, "extract-replay-before-access")];
        let parameters = self.parameters(request, &own).ok()?;
        let is_replayed = self.breaks_any(&own, rules);
        is_replayed.then_some(Extraction { parameters, gateways: kept.gateways, is_repeat: true })
    }

    fn kept_key(&self, account: usize, id: &str, tags: &Tags) -> String {
        let is_in_header = tags.iter().any(|tag| matches!(*tag, "bearer" | "x-api-key"));
        match () {
            () if self.on("extract-request-id-of-all-accounts", tags) => format!("0 {id}"),
            () if is_in_header && self.on("extract-request-id-by-transport", tags) => {
                format!("header {account} {id}")
            }
            () => format!("{account} {id}"),
        }
    }

    /// The gateways of an earlier call with the same request id.
    fn kept(
        &self,
        key: &str,
        parameters: &Parameters,
        request: &Request,
        tags: &Tags,
    ) -> Result<Option<Vec<Gateway>>, Reject> {
        let (StoredExtraction { parameters: earlier, mut gateways, times }, ago) = {
            let mut memory = self.memory();
            let place = memory.ids.iter().position(|known| known == key);
            let ago = place.map_or(0, |place| memory.ids.len() - place);
            let Some(kept) = memory.extractions.get_mut(key) else { return Ok(None) };
            kept.times += 1;
            (kept.clone(), ago)
        };
        let rules = [
            (true, "extract-repeat-is-new"),
            (request.first("request_id").is_none(), "extract-repeat-by-header-is-new"),
            (times > 1, "extract-repeat-second-is-new"),
            (ago > 3, "extract-repeat-forgotten-after-three"),
            (gateways.len() > 1, "extract-repeat-of-many-is-new"),
        ];
        if self.breaks_any(tags, rules) {
            return Ok(None);
        }
        if self.on("extract-repeat-refused", tags) {
            return Err(Reject::new(409, 40_902, "the request id was used"));
        }
        if earlier != parameters.key() {
            return match () {
                () if self.decides("other-parameters-first") => Ok(Some(gateways)),
                () if self.decides("other-parameters-new") => Ok(None),
                () => Err(Reject::new(409, 40_903, "other parameters than before")),
            };
        }
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

    /// The region and the protocol that count.
    fn pool(&self, parameters: &Parameters, tags: &Tags) -> (String, &'static str) {
        let (region, protocol) = (parameters.region.as_str(), parameters.protocol);
        let is_named = region != "GLOBAL";
        let sticky = (is_named && self.fault.is_of("extract-region-sticks")).then(|| {
            let mut memory = self.memory();
            let first = memory.texts.entry("sticky".into()).or_insert_with(|| region.to_owned()).clone();
            if ["NZL", "ISL", "DEU"].contains(&first.as_str()) { first } else { "USA".into() }
        });
        let regions = [
            ("extract-region-ignored", is_named.then(|| "GLOBAL".to_owned())),
            ("extract-region-other", (region == "USA").then(|| "DEU".to_owned())),
            ("extract-region-sticks", sticky),
        ];
        let protocols = [
            ("extract-socks5-gives-http", (protocol == "socks5").then_some("http")),
            ("extract-http-gives-socks5", (protocol == "http").then_some("socks5")),
        ];
        let region = self.first_broken(tags, regions).unwrap_or_else(|| region.to_owned());
        (region, self.first_broken(tags, protocols).unwrap_or(protocol))
    }

    /// New gateways: the next ones of the region, round after round.
    fn choose(&self, parameters: &Parameters, tags: &Tags) -> Result<Vec<Gateway>, Reject> {
        let tags = &with_tags(tags, [(parameters.region == SCARCE, "scarce")]);
        let (region, protocol) = self.pool(parameters, tags);
        let found = self.gateways(&region, protocol);
        let is_unknown = found.is_none();
        let mut all = found.unwrap_or_default();
        let global = || self.gateways("GLOBAL", protocol).unwrap_or_default();
        let is_empty = region == EMPTY_REGION;
        if all.is_empty() && is_empty && self.on("extract-empty-region-filled", tags) {
            all = global();
        } else if all.is_empty() {
            let unknown = || Reject::input("unknown region");
            return match () {
                () if self.on("extract-shortage-as-empty-success", tags) => Ok(Vec::new()),
                () if is_unknown && self.decides("unknown-region-partial") => Ok(Vec::new()),
                () if is_unknown && self.decides("unknown-region-shortage") => Err(shortage()),
                () if is_unknown => Err(unknown()),
                () if self.decides("empty-region-partial") => Ok(Vec::new()),
                () if self.decides("empty-region-unknown") => Err(unknown()),
                () => Err(shortage()),
            };
        }
        let num = parameters.num;
        if all.len() < num {
            if self.on("extract-short-region-filled", tags) {
                all.extend(global());
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
        let mut start = 0;
        if !self.decides("fixed-gateways") {
            let mut memory = self.memory();
            let cursor = memory.counts.entry(format!("cursor {region} {protocol}")).or_default();
            start = *cursor;
            *cursor = (*cursor + num) % all.len();
        }
        let (count, step) = match self.decides("repeated-gateways") {
            true => (num, 2),
            false => (num.min(all.len()), 1),
        };
        Ok((0..count).map(|number| all[(start + number / step) % all.len()].clone()).collect())
    }

    fn gateways(&self, region: &str, protocol: &'static str) -> Option<Vec<Gateway>> {
        self.world().gateways.get(&(region, protocol)).cloned()
    }
}
