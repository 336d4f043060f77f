//! Faults and variations as rows of texts.

mod act;
pub(crate) mod edit;
mod filters;
mod known;
mod own;
mod part;
pub(crate) mod row;
mod search;

#[cfg(test)]
mod tests {
    use super::row::{Kind, Row};
    use super::*;
    use crate::Handler as _;

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
    async fn headers_are_added_and_dropped_in_any_case_and_a_semicolon_in_quotes_ends_no_act() {
        let text = "http.\nof-test: A row of a test.\n    => further a: \"1\"; further a: \"2; \\\"3\"; \
            header bc: \"1\"; header d: \"1\"; header B*: drop; header D: drop";
        let row = &Row::parse("a.txt", text, Kind::Variation).expect("a row")[0];
        let reply = row.server(known::tests::context()).handle(known::tests::request()).await;
        assert_eq!(reply.headers.get_all("a").iter().collect::<Vec<_>>(), ["1", "2; \"3"]);
        assert!(!reply.headers.contains_key("bc") && !reply.headers.contains_key("d"));
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
