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
            && self.fault.is_at("extract.replay")
            && let Some(extracted) = self.replay_unchecked(request, id, tags)
        {
            return Ok(extracted);
        }
        let account = self.extract_account(request, tags)?;
        let parameters = self.parameters(request, tags)?;
        self.admit(account, request, &parameters.protocol, tags)?;
        let key = parameters.request_id.as_ref().map(|id| self.kept_key(account, id, tags));
        if let Some(key) = &key
            && let Some(gateways) = self.kept(key, &parameters, request, tags)?
        {
            return Ok(Extraction { parameters, gateways, is_repeat: true });
        }
        let gateways = self.choose(&parameters, tags)?;
        let known = || known! { got => gateways.len(), num => parameters.num };
        if let Some(key) = key.filter(|_| !self.breaks("extract.forgotten", tags, known)) {
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
        let unknown = caller.is_err();
        let refused = caller.is_ok_and(|account| self.admit(account, request, "http", &own).is_err());
        let parameters = self.parameters(request, &own).ok()?;
        let is_replayed = self.breaks("extract.replay", &own, || known! { unknown, refused });
        is_replayed.then_some(Extraction { parameters, gateways: kept.gateways, is_repeat: true })
    }

    fn kept_key(&self, account: usize, id: &str, tags: &Tags) -> String {
        let is_in_header = tags.iter().any(|tag| matches!(*tag, "bearer" | "x-api-key"));
        self.instead("extract.key", tags, || known! { account, id, is_in_header })
            .unwrap_or_else(|| format!("{account} {id}"))
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
        let by_header = request.first("request_id").is_none();
        let known = || known! { by_header, times, ago, count => gateways.len() };
        if self.breaks("extract.new", tags, known) {
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
        if let Some(kept) = self.instead("extract.repeated", tags, || known! {}) {
            gateways.truncate(kept);
        }
        if gateways.len() > 1 && self.on("extract-repeat-partly-new", tags) {
            gateways.pop();
            gateways.extend(self.choose(parameters, tags)?.into_iter().take(1));
        }
        Ok(Some(gateways))
    }

    /// The region and the protocol that count.
    fn pool(&self, parameters: &Parameters, tags: &Tags) -> (String, String) {
        let (region, protocol) = (parameters.region.as_str(), &parameters.protocol);
        let first = self.memory().texts.entry("region".into()).or_insert_with(|| region.to_owned()).clone();
        let region = self.instead("extract.region", tags, || known! { region, first });
        (
            region.unwrap_or_else(|| parameters.region.clone()),
            self.instead("extract.pool", tags, || known! { protocol }).unwrap_or_else(|| protocol.clone()),
        )
    }

    /// New gateways: the next ones of the region, round after round.
    fn choose(&self, parameters: &Parameters, tags: &Tags) -> Result<Vec<Gateway>, Reject> {
        let tags = &with_tags(tags, [(parameters.region == SCARCE, "scarce")]);
        let (region, protocol) = self.pool(parameters, tags);
        let found = self.gateways(&region, &protocol);
        let is_unknown = found.is_none();
        let mut all = found.unwrap_or_default();
        let global = || self.gateways("GLOBAL", &protocol).unwrap_or_default();
        let num = parameters.num;
        let (count, is_empty) = (all.len(), region == EMPTY_REGION);
        if self.breaks("extract.filled", tags, || known! { count, num, is_empty }) {
            all.extend(global());
        } else if all.is_empty() {
            let unknown = || Reject::input("unknown region");
            let other = self.instead::<String>("extract.nothing", tags, || known! { is_unknown });
            return match other.as_deref() {
                Some("partial") => Ok(Vec::new()),
                Some("unknown") => Err(unknown()),
                None if is_unknown => Err(unknown()),
                _ => Err(shortage()),
            };
        }
        if all.len() < num && self.decides("short-region-shortage") {
            return Err(shortage());
        }
        let num = self.instead("extract.count", tags, || known! { num, count }).unwrap_or(num);
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

    fn gateways(&self, region: &str, protocol: &str) -> Option<Vec<Gateway>> {
        self.world().gateways.get(&(region, protocol)).cloned()
    }
}
