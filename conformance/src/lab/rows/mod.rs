//! Faults and variations as rows of texts.

mod act;
pub(crate) mod edit;
mod filters;
mod known;
mod own;
mod part;
pub(crate) mod row;
mod search;

use part::separator;

#[cfg(test)]
mod tests {
    use super::row::{Kind, Row};
    use super::*;
    use crate::lab::{Context, Handler as _, Upstream};

    #[test]
    fn every_row_can_be_read() {
        let mistakes = super::row::mistakes();
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }

    #[tokio::test]
    async fn a_row_whose_expression_fails_says_where() {
        let text = "all.prefix/\nof-test: A row of a test.\n    if number + [] => /code: 0";
        let [fault] = Row::parse("a.txt", text, Kind::Fault).expect("rows") else { panic!("one row") };
        assert_eq!(fault.failure(), None);
        fault.server(known::tests::context()).handle(known::tests::request()).await;
        let failure = fault.failure().expect("a failure");
        assert!(failure.starts_with("a.txt:3: ") && failure.contains("`number + []`"), "{failure}");
    }

    #[tokio::test]
    async fn headers_are_added_and_a_semicolon_in_quotes_ends_no_act() {
        let text = "http.\nof-test: A row of a test.\n    => instead: [200, \"\", {\"a\": \"1\"}]";
        let more = "http.\nof-test: A row of a test.\n    => further a: \"2; \\\"3\"; further b: \"4\"";
        let row = |text| &Row::parse("a.txt", text, Kind::Variation).expect("a row")[0];
        let [text, more] = [text, more].map(row);
        let context = known::tests::context();
        let before = Context::before(Upstream::new(text.server(context.clone())), context.backend());
        let reply = more.server(before).handle(known::tests::request()).await;
        let values = |name: &str| reply.headers.get_all(name).iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            (values("a"), values("b")),
            (
                vec!["1".parse().expect("a value"), "2; \"3".parse().expect("a value")],
                vec!["4".parse().expect("a value")]
            )
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (head, mistake) in [
            (
                "a consistant: A.\n    => reject",
                "a.txt:3: unknown flag `consistant`; expected one of `consistent`, `everywhere`, `capitals`, `+`, `in`",
            ),
            ("a + by_header by_hand: A.\n    => reject", "a.txt:3: unknown context `by_hand`"),
            ("a: A.\n    of serch => reject", "a.txt:3: unknown operation `serch`"),
            ("a: A.\n    => regoins: none", "a.txt:3: unknown place in `regoins: none`"),
        ] {
            let text = format!("extract.\n{head}").leak();
            assert_eq!(Row::parse("a.txt", text, Kind::Variation).expect_err(head), [mistake]);
        }
        // A fault has no flags.
        let text = "extract.num/\na consistent: A.\n    => reject";
        assert!(Row::parse("a.txt", text, Kind::Fault).is_err());
    }
}
