//! The other server's extraction: shortages rather than surprises, and texts that nobody would split by colons.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use sallyport_conformance::lab::{ProxiedRequest, Reply};
use serde_json::{Value, json};

use super::data::Account;
use super::{OtherServer, Rejection};

/// What a caller asks for.
struct Order {
    num: usize,
    region: String,
    protocol: String,
    /// The separator of a text response.
    text: Option<String>,
}

impl OtherServer {
    pub(super) fn extract(&self, seen: &ProxiedRequest) -> Reply {
        match self.take(seen) {
            Ok(reply) => reply,
            // In 200 when text was asked for, which a client that looks at the status alone would split into entries.
            Err(Rejection(why)) => {
                let status = if seen.param("return_type").as_deref() == Some("txt") { 200 } else { 422 };
                Reply::json_with(status, &json!({"message": why, "code": "REJECTED", "help": null}))
            }
        }
    }

    fn take(&self, seen: &ProxiedRequest) -> Result<Reply, Rejection> {
        let extract = &self.contract.extract;
        let params = seen.params();
        for (index, (name, value)) in params.iter().enumerate() {
            let again = params.iter().skip(index + 1).any(|(other, _)| other == name);
            if value.is_empty() || again {
                return Err(Rejection("an empty parameter, or one that comes twice"));
            }
        }
        let account = self.extractor(seen)?;
        let order = self.order(seen)?;
        let entitled = match account {
            Account::Unpaid => false,
            Account::SocksOnly => order.protocol == "socks5",
            _ => true,
        };
        if account == Account::Elsewhere || account == Account::Nameless || !entitled {
            return Err(Rejection("not entitled, not verified or not from there"));
        }
        let header = seen.headers.get(extract.request_id_header.name.as_str());
        let id = seen.param(&extract.request_id.name);
        let id = id.or_else(|| Some(header?.to_str().ok()?.to_owned()).filter(|id| !id.is_empty()));
        // Everything but the ways in which the token and the id travel.
        let asked = format!("{}|{}|{}|{:?}", order.num, order.region, order.protocol, order.text);
        let Some(id) = id else { return Ok(self.serve(&order)) };
        if let Some((of, reply)) = self.pool().remembered.get(&(account, id.clone())) {
            return if *of == asked {
                Ok(reply.clone())
            } else {
                Err(Rejection("the id of another extraction"))
            };
        }
        let reply = self.serve(&order);
        let mut pool = self.pool();
        // Another call may have been as quick.
        let kept = pool.remembered.entry((account, id)).or_insert((asked, reply));
        Ok(kept.1.clone())
    }

    /// The account of an extraction: all tokens that are sent must be one.
    fn extractor(&self, seen: &ProxiedRequest) -> Result<Account, Rejection> {
        let header = |name: &str| {
            let values = seen.headers.get_all(name).iter();
            values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect::<Vec<_>>()
        };
        let bearer = header(AUTHORIZATION.as_str());
        let bearer: Option<Vec<_>> =
            bearer.iter().map(|value| value.strip_prefix("Bearer ").map(str::to_owned)).collect();
        let mut tokens = bearer.ok_or(Rejection("another scheme than Bearer"))?;
        tokens.extend(header(&self.contract.extract.api_key_header));
        tokens.extend(seen.param(&self.contract.extract.api_key.name));
        let (first, others) = tokens.split_first().ok_or(Rejection("no token"))?;
        if others.iter().any(|other| other != first) {
            return Err(Rejection("several tokens"));
        }
        if first == "link-77aa" {
            return Ok(Account::Main);
        }
        Self::account(first).ok_or(Rejection("unknown token"))
    }

    fn order(&self, seen: &ProxiedRequest) -> Result<Order, Rejection> {
        let extract = &self.contract.extract;
        let num = seen.param("num").filter(|num| num.bytes().all(|byte| byte.is_ascii_digit()));
        let num = num.and_then(|num| num.parse().ok()).filter(|num| extract.num_range.contains(num));
        let num = num.and_then(|num| usize::try_from(num).ok()).ok_or(Rejection("num"))?;
        let (regions, country) = (seen.param("regions"), seen.param("country"));
        if regions.is_some() && country.is_some() && regions != country {
            return Err(Rejection("regions and country"));
        }
        let region = regions.or(country).unwrap_or_else(|| "GLOBAL".to_owned());
        if !["GLOBAL", "KEN", "FJI", "NRU"].contains(&region.as_str()) {
            return Err(Rejection("no such region"));
        }
        let protocol = seen.param("protocol").unwrap_or_else(|| "http".to_owned());
        if !extract.protocols.contains(&protocol) {
            return Err(Rejection("protocol"));
        }
        let lb = seen.param("lb").unwrap_or_else(|| "1".to_owned());
        let sb = seen.param("sb");
        if sb.as_ref().is_some_and(|sb| sb.len() > extract.separator_bytes) {
            return Err(Rejection("sb"));
        }
        // Looked at in JSON as well.
        let separator = match extract.separators.iter().find(|separator| separator.code == lb) {
            Some(separator) => separator.text.clone(),
            None if lb == extract.custom_separator => sb.ok_or(Rejection("sb"))?,
            None => return Err(Rejection("lb")),
        };
        let text = match seen.param("return_type").as_deref() {
            None | Some("json") => None,
            Some("txt") => Some(separator),
            Some(_) => return Err(Rejection("return_type")),
        };
        Ok(Order { num, region, protocol, text })
    }

    fn serve(&self, order: &Order) -> Reply {
        let held = match order.region.as_str() {
            "FJI" => 2,
            "NRU" => 0,
            _ => usize::MAX,
        };
        if held == 0 {
            // In HTTP 200, and until a date.
            let mut reply =
                Reply::json_with(200, &json!({"code": 90_001, "message": "nothing left", "data": []}));
            let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(2));
            reply.headers.insert(RETRY_AFTER, HeaderValue::from_str(&soon).expect("a date is printable"));
            return reply;
        }
        let count = order.num.min(held);
        let first = {
            let mut pool = self.pool();
            pool.next += count;
            pool.next - count
        };
        let port = if order.protocol == "http" { 3128 } else { 1080 };
        let hosts: Vec<_> =
            (first..first + count).map(|index| format!("n{index}.{}.invalid", order.region)).collect();
        let mut reply = match &order.text {
            None => {
                let entry =
                    |host: &String| json!({"port": port, "ttl": 60, "ip": host, "protocol": order.protocol});
                let data: Vec<Value> = hosts.iter().map(entry).collect();
                let body =
                    json!({"request_ip": "127.0.0.1", "data": data, "msg": "", "success": true, "code": 0});
                Reply::json_with(200, &body)
            }
            Some(separator) => {
                let entry = |host: &String| format!("{}://{host};{port}{separator}", order.protocol);
                let mut reply = Reply::json_with(200, &Value::Null);
                reply.body = Bytes::from(hosts.iter().map(entry).collect::<String>());
                reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
                reply
            }
        };
        if count < order.num {
            let extract = &self.contract.extract;
            let headers = [
                (&extract.requested_count, order.num.to_string()),
                (&extract.returned_count, count.to_string()),
                (&extract.partial_flag, "some".to_owned()),
            ];
            for (name, value) in headers {
                let name: hyper::header::HeaderName = name.parse().expect("the document names headers");
                reply.headers.insert(name, HeaderValue::from_str(&value).expect("digits and letters"));
            }
        }
        reply
    }
}
