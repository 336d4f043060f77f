//! Names that somebody may have meant.

/// Longest text, in characters, that is compared with names.
const LONGEST: usize = 40;

/// The known name that somebody may have meant by `name`: it differs in letter case or in two letters at most.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.chars().nth(LONGEST).is_some() {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let name = plain(name);
    known
        .iter()
        .map(|candidate| (distance(&name, &plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, remove or replace to turn one text into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["num", "request_id", "pageSize"];
        assert_eq!(nearest("numm", &known), Some("num"));
        assert_eq!(nearest("requestId", &known), Some("request_id"));
        assert_eq!(nearest("page_size", &known), Some("pageSize"));
        assert_eq!(nearest("session", &known), None);
        assert_eq!(nearest(&"num".repeat(100), &known), None);
    }
}
