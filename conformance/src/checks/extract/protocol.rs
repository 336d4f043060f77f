//! `protocol`: the default, and invalid values. Combinations use the valid ones.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.protocol.default", |scope| {
        // The account is entitled to some protocols only, so one protocol is accepted and another is not. The valid extraction
        // names a protocol if the account may not use the default one.
        let extract = &scope.contract.extract;
        let by = || Edit::By(Credential::Supplied(Fact::TokenPartlyEntitled));
        let default = extract.protocol.default_text();
        let named = (format!("{PROTOCOL}={default}"), vec![by(), set(PROTOCOL, default)]);
        let row = alike("", [named, (format!("without {PROTOCOL}"), vec![by(), Drop(PROTOCOL)])]);
        cases(ExtractProtocol, each(&Extraction::all_without_protocol(extract), [row]))
    }),
    active("extract.protocol.unlisted", unlisted),
];

/// Values that callers may try as protocols, between spaces; proxy URLs have them.
const NEAR: &str = "HTTPS socks socks4 socks4a socks5h sock5 socks6 ftp htt http2 httphttp any";

fn unlisted(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let listed = |value: &String| extract.protocols.contains(value);
    let derived = boundaries(&extract.protocol.schema).into_iter().filter(|value| !value.allowed);
    let derived = derived.map(|value| value.text());
    let urls = extract.protocols.iter().flat_map(|listed| [format!("{listed}:"), format!("{listed}://")]);
    let pairs = [extract.protocols.join(","), extract.protocols.join(" "), extract.protocols.join("|")];
    let spelled = extract.protocols.iter().flat_map(|listed| near("listed text").map(|near| near.of(listed)));
    let other = ["0", "1", "true", "null", "*", "-", "h\u{442}tp"].map(str::to_owned);
    let near = NEAR.split(' ').map(str::to_owned);
    let mut others: Vec<String> =
        near.chain(derived).chain(urls).chain(spelled).chain(pairs).chain(other).collect();
    others.retain(|value| !listed(value));
    others.dedup();
    let forms = Extraction::all_without_protocol(extract);
    let malformed = |text: String| Spelling::malformed(text, "not a protocol of a gateway");
    // The contract mentions this one.
    let everywhere = each(&forms, values(PROTOCOL, [malformed("https".to_owned())]));
    let others = in_three(&forms, values(PROTOCOL, others.into_iter().map(malformed)));
    cases(ExtractProtocol, everywhere.into_iter().chain(others))
}
