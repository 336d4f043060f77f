//! The document changes the code, and what the server cannot express is a problem.

use super::emit;
use crate::{
    emit::code,
    fixture::{contract, edited},
};

#[test]
fn the_types_follow_the_document() {
    let before = emit(&contract()).unwrap();
    for edit in [
        "enum: [http, «socks5→socks6»]",
        "      required: [«ips→ips, page»]",
        "      nullable: «true→false»\n      x-clause: search.group",
        "          format: «ipv4→date-time»\n          x-clause: extract.request-ip",
        "code: { type: integer, enum: [«0→7»],",
        "X-Proxy-Partial«→-Result»:",
        "  «/openapi/v1/static/groups→/openapi/v1/groups»:",
    ] {
        let after = emit(&edited(edit)).unwrap_or_else(|problems| panic!("{edit}: {problems:?}"));
        assert_ne!(before, after, "{edit}");
    }
}

#[test]
fn what_the_server_cannot_express_is_a_problem() {
    for (edit, words) in [
        ("«      x-credentials-agree: extract.token-equal\n→»", "x-credentials-agree"),
        ("schema: { type: string, minLength: «1→8» }", "token"),
        (
            "          type: string\n«→          format: ipv4\n»          x-clause: search.country\n",
            "unsupported `format",
        ),
        ("ip: { type: string, «→enum: [a, b], »description: Gateway address", "without a name"),
        ("schema: { type: «string, x-max-utf8-bytes: 32→integer, enum: [1, 2]» }", "unsupported `enum"),
    ] {
        let Err(problems) = code(&edited(edit)) else { panic!("{edit} is accepted") };
        let problem = problems.iter().find(|problem| problem.message.contains(words));
        let problem = problem.unwrap_or_else(|| panic!("{edit:?}: {problems:#?}"));
        assert!(problem.place.is_some() && !problem.help.is_empty(), "{problem}");
    }
}
