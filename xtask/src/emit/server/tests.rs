//! What the server cannot express is a problem.

use crate::{emit::code, fixture::edited};

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
