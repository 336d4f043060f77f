use std::path::{Path, PathBuf};

use clap::Args;
use sallyport_conformance::check::Finding;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::observe::{Archive, Judgement, Traffic};
use sallyport_conformance::report::{self, Detail, plain, quantity};
use sallyport_conformance::run::{SavedReport, Session, SessionError};
use sallyport_conformance::wire::{RecordedExchange, Request};
use sallyport_conformance::{Contract, Options, Target, Verdict, files};
use serde_json::Value;

use super::UsageError;
use super::arguments::TargetArguments;
use super::output::{Output, print};
use super::replay::{again, read_report};
use super::setup::{AccountToken, Setup};

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// File with the curl command that was run.
    #[arg(long, value_name = "FILE", requires = "response", required_unless_present = "har")]
    pub(crate) curl: Option<PathBuf>,
    /// File with what `curl -i` printed: status line, headers, an empty line and the body.
    #[arg(long, value_name = "FILE", requires = "curl")]
    pub(crate) response: Option<PathBuf>,
    /// HTTP Archive (HAR) with the exchange.
    #[arg(long, value_name = "FILE", conflicts_with = "curl")]
    pub(crate) har: Option<PathBuf>,
    /// Number of the exchange in `log.entries`, from 0 [default: the only one].
    #[arg(long, value_name = "N", requires = "har")]
    pub(crate) entry: Option<usize>,
    /// Judge this clause, for example search.total [default: each that the exchange can show].
    #[arg(long, value_name = "CLAUSE")]
    pub(crate) clause: Option<String>,
    /// Say whether the run of this report in JSON would have noticed it.
    #[arg(long, value_name = "REPORT")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}

/// `conformance judge`: which clauses one exchange from the field shows, and the smallest request that shows it again.
pub(crate) async fn judge(arguments: JudgeArguments) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let named = |id: &String| {
        let unknown = || format!("--clause: unknown clause `{id}`; `conformance list` names the clauses");
        Clause::from_id(id).ok_or_else(unknown)
    };
    let complaint = arguments.clause.as_ref().map(named).transpose()?;
    let before = arguments.run.as_deref().map(read_report).transpose()?;
    let traffic = Traffic::from_archive(contract, archive(&arguments)?, None)?;
    let Some(mut judgement) = Judgement::new(contract, &traffic) else {
        let reasons = traffic.left_out.iter().map(|(reason, _)| reason.as_str());
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        return Err(format!("expected an exchange that can be judged, found none: {reasons}").into());
    };
    // The complaint is that the exchange violates this clause, or any.
    judgement.violations.retain(|violation| complaint.is_none_or(|clause| violation.clause == clause));
    let verdict = verdict(complaint, &judgement);
    print(&text(complaint, &judgement, verdict));
    if let Some(before) = &before {
        print(&noticed(before, &judgement.violations));
    }
    if arguments.target.embedded {
        return Err("--embedded: expected a service, by --base-url or a configuration".into());
    }
    let is_given = arguments.target.base_url.is_some() || arguments.target.config.is_some();
    if is_given && (verdict == Verdict::Findings || judgement.is_valid_and_rejected) {
        let Setup { target, options, .. } = Setup::new(&arguments.target, AccountToken::Required)?;
        let target = target.ok_or("expected --base-url, or a configuration with base-url")?;
        let reduction = Reduction { contract, target: &target, options, original: &judgement };
        return reduction.run(verdict).await;
    }
    Ok(verdict)
}

fn archive(arguments: &JudgeArguments) -> Result<Archive, UsageError> {
    let read = |path: &Path| files::read_text(path, Archive::MAX_BYTES).map_err(files::named(path));
    if let (Some(curl), Some(response)) = (&arguments.curl, &arguments.response) {
        return Ok(Archive::from_command(&read(curl)?, &read(response)?)?);
    }
    let path = arguments.har.as_deref().unwrap_or(Path::new(""));
    let wrong = |message: &str| format!("{}: {message}", path.display());
    let archive = Archive::read(read(path)?.as_bytes(), Archive::MAX_BYTES).map_err(|error| wrong(&error))?;
    let entries = archive.len();
    if arguments.entry.is_none() && entries > 1 {
        return Err(wrong(&format!("has {entries} entries; choose one with --entry")).into());
    }
    let only = archive.only(arguments.entry.unwrap_or(0));
    Ok(only.ok_or_else(|| wrong(&format!("has {entries} entries")))?)
}

fn verdict(complaint: Option<Clause>, judgement: &Judgement) -> Verdict {
    let is_shown = match complaint {
        Some(clause) => judgement.shown.contains(&clause),
        None => !judgement.shown.is_empty(),
    };
    match () {
        () if !judgement.violations.is_empty() => Verdict::Findings,
        () if is_shown && !judgement.is_valid_and_rejected => Verdict::Conforms,
        () => Verdict::Incomplete,
    }
}

fn text(complaint: Option<Clause>, judgement: &Judgement, verdict: Verdict) -> String {
    let RecordedExchange { method, target, .. } = &judgement.exchange;
    let path = target.split('?').next().unwrap_or_default();
    let screen = Output::Stdout.screen(Detail::Normal);
    let mut text = screen.line("exchange", &format!("{method} {path}: {}", judgement.response));
    let shown: Vec<&str> = judgement.shown.iter().map(|clause| clause.id()).collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    text.push_str(&screen.line("can show", &shown));
    for Finding { clause, expected, actual, .. } in &judgement.violations {
        text.push_str(&screen.line("violated", clause.id()));
        text.push_str(&screen.line("expected", expected));
        text.push_str(&screen.line("actual", actual));
    }
    let words = match (verdict, complaint) {
        (Verdict::Findings, _) => "the exchange violates the contract".to_owned(),
        (Verdict::Conforms, Some(clause)) => format!("the exchange keeps {clause}"),
        (Verdict::Conforms, None) => "the exchange keeps the clauses that it can show".to_owned(),
        (_, _) if judgement.is_valid_and_rejected => "open: the document allows the request, and the service rejected it; \
             another reason may be the cause, such as the token. With --base-url it is compared with smaller requests"
            .to_owned(),
        (_, Some(clause)) => format!("open: this exchange cannot show {clause}"),
        (_, None) => "open: this exchange shows no clause".to_owned(),
    };
    text.push_str(&screen.line("verdict", &words));
    text
}

/// Whether the run of a report found these violations, or judged their clauses at all.
fn noticed(before: &SavedReport, violations: &[Finding]) -> String {
    let screen = Output::Stdout.screen(Detail::Normal);
    let line = |Finding { clause, .. }: &Finding| {
        let found: Vec<String> =
            before.findings().filter(|(.., finding)| finding.clause == *clause).map(|(id, ..)| id).collect();
        let judged =
            before.clauses.iter().find(|known| known.id == clause.id()).map_or(0, |known| known.checked);
        screen.line("last run", &match (found.is_empty(), judged) {
            (false, _) => format!("{clause}: noticed, in {}", found.join(", ")),
            (true, 0) => format!("{clause}: not noticed, because the run of {} did not judge it", before.begun),
            (true, judged) => format!(
                "{clause}: not noticed, although {} of the run of {} judged it: none sent a request like this one",
                quantity(judged, "check"),
                before.begun
            ),
        })
    };
    violations.iter().map(line).collect()
}

struct Reduction<'a> {
    contract: &'a Contract,
    target: &'a Target,
    options: Options,
    original: &'a Judgement,
}

impl Reduction<'_> {
    const MAX_REQUESTS: usize = 24;

    /// Removes one part after another as long as the same shows. The last part that can't be removed makes a pair: with it the same
    /// shows, and without it it does not. The verdict stays, unless nothing was judged and the target says why.
    async fn run(&self, verdict: Verdict) -> Result<Verdict, UsageError> {
        let screen = Output::Stdout.screen(Detail::Normal);
        let base = self.target.redactor(&self.options.wire)?.redact(self.target.base().as_str());
        let not_reproduced = |reason: &str| print(&screen.line("not reproduced", reason));
        if let Some(place) = self.request(&self.original.exchange).as_ref().and_then(hidden) {
            not_reproduced(&format!("a credential in {place} is hidden; pass its header with --header"));
            return Ok(verdict);
        }
        let session = match Session::begin(self.contract, self.target, &self.options, true).await {
            Ok(session) => session,
            Err(SessionError::Unreachable(obstacle, reason)) => {
                not_reproduced(&reason);
                return Ok(if verdict == Verdict::Findings { verdict } else { obstacle });
            }
            Err(error) => return Err(error.into()),
        };
        let (mut sent, mut smallest, mut accepted) = (0, None, None);
        let mut open = vec![(String::new(), self.original.exchange.clone())];
        while let Some((part, candidate)) = open.pop().filter(|_| sent < Self::MAX_REQUESTS) {
            let Some(request) = self.request(&candidate) else { continue };
            let judgement = match Judgement::of_request(&session, &request).await {
                Ok(judgement) => judgement,
                Err(SessionError::Budget(limit)) if smallest.is_none() => {
                    not_reproduced(&limit.to_string());
                    return Ok(verdict);
                }
                Err(SessionError::Budget(limit)) => {
                    print(&screen.line("stopped", &limit.to_string()));
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            sent += 1;
            let Some(judgement) = judgement else { continue };
            if self.is_same(&judgement) {
                open = smaller(&judgement.exchange);
                (smallest, accepted) = (Some(judgement.exchange), None);
            } else if self.original.is_valid_and_rejected && judgement.response == "a success" {
                accepted = Some((part, judgement.exchange));
            }
        }
        let Some(smallest) = smallest else {
            not_reproduced(&format!("{base} does not show it again; it may be fixed, or depend on data"));
            return Ok(verdict);
        };
        let command = |label: &str, exchange: &RecordedExchange| {
            format!("{label:>16} {}\n", plain(&report::curl(&base, &self.options.curl_options, exchange)))
        };
        let Some((part, control)) = accepted else {
            print(&format!(
                "{:>16} at {base}, in {}\n{}",
                "reproduced",
                quantity(sent, "request"),
                command("smallest", &smallest)
            ));
            return Ok(verdict);
        };
        let without = format!("at {base}; without {part} the request is accepted");
        print(&format!(
            "{}{}{}",
            screen.line("reproduced", &without),
            command("accepted", &control),
            command("rejected", &smallest)
        ));
        // No verdict: the contract lets a service reject what it does not know, such as a country or a parameter.
        Ok(verdict)
    }

    fn is_same(&self, other: &Judgement) -> bool {
        let is_violated =
            |now: &Finding| self.original.violations.iter().any(|before| before.clause == now.clause);
        match self.original.is_valid_and_rejected {
            true => other.is_valid_and_rejected,
            false => other.violations.iter().any(is_violated),
        }
    }

    /// The request as it is sent, without what the wire sets.
    fn request(&self, exchange: &RecordedExchange) -> Option<Request> {
        let own =
            ["host", "content-length", "connection", "accept-encoding", "user-agent", "transfer-encoding"];
        let request = again(exchange, self.target, &self.options)?;
        Some(own.iter().fold(request, |request, name| request.without_header(name)))
    }
}

/// Where a request has a name in place of a credential that nobody knows any more. It would be rejected for that.
fn hidden(request: &Request) -> Option<String> {
    let is_hidden = |text: &[u8]| String::from_utf8_lossy(text).contains("$HIDDEN");
    let header = request.headers().iter().find(|(_, value)| is_hidden(value));
    let is_in_query = ["$HIDDEN", "%24HIDDEN"].iter().any(|name| request.target().contains(name));
    let in_query = || is_in_query.then(|| "the query".to_owned());
    let in_body = || request.body_bytes().filter(|body| is_hidden(body)).map(|_| "the body".to_owned());
    header.map(|(name, _)| format!("`{name}`")).or_else(in_query).or_else(in_body)
}

/// The requests with one part less, in words: a query parameter but the token's, a member of the body, half of a list.
fn smaller(exchange: &RecordedExchange) -> Vec<(String, RecordedExchange)> {
    let mut smaller = Vec::new();
    let (path, query) = exchange.target.split_once('?').unwrap_or((&exchange.target, ""));
    let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    for (number, pair) in pairs.iter().enumerate().filter(|(_, pair)| !pair.contains('$')) {
        let others = pairs.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, pair)| *pair);
        let target = format!("{path}?{}", others.collect::<Vec<_>>().join("&"));
        let part = format!("`{}`", pair.split('=').next().unwrap_or_default());
        smaller.push((part, RecordedExchange { target, ..exchange.clone() }));
    }
    let body = exchange.request_body.as_deref().and_then(|body| serde_json::from_str::<Value>(body).ok());
    let Some(Value::Object(members)) = body else { return smaller };
    let mut add = |part: String, members: serde_json::Map<String, Value>| {
        let request_body = Some(Value::Object(members).to_string());
        smaller.push((part, RecordedExchange { request_body, ..exchange.clone() }));
    };
    for (name, value) in &members {
        let mut others = members.clone();
        others.shift_remove(name);
        add(format!("`{name}`"), others);
        let items = value.as_array().filter(|items| items.len() > 1);
        for half in items.iter().flat_map(|items| items.chunks(items.len().div_ceil(2))) {
            let mut others = members.clone();
            others.insert(name.clone(), half.to_vec().into());
            add(format!("some items of `{name}`"), others);
        }
    }
    smaller
}
