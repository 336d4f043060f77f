//! Faults and variations as rows of texts.

mod act;
mod filters;
mod known;
mod own;
pub(crate) mod row;

use crate::lab::faults::condition::separator;
use crate::lab::{Fault, Variation};

pub(crate) fn faults() -> Vec<Fault> {
    row::faults().iter().map(Fault::of_row).collect()
}

pub(crate) fn variations() -> Vec<Variation> {
    row::variations().iter().map(Variation::of_row).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_can_be_read() {
        let mistakes = super::row::mistakes();
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }

    #[tokio::test]
    async fn a_row_whose_expression_fails_says_where() {
        let row = super::row::of_body("if number + [] => /code: 0").expect("a row");
        assert_eq!(row.failure(), None);
        row.response(super::known::tests::known().call()).await;
        let failure = row.failure().expect("a failure");
        assert!(failure.starts_with("a.txt:1: ") && failure.contains("`number + []`"), "{failure}");
    }
}
