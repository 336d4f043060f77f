use super::*;

/// What a result should have been, and was.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    pub(crate) clause: Clause,
    pub(crate) expected: String,
    pub(crate) actual: String,
    pub(crate) exchanges: Vec<Exchange>,
    /// Those from which the expected result was taken; none for the survey's.
    pub(crate) references: Option<Vec<Exchange>>,
}

/// Why a comparison shows nothing.
const CHANGED_MEANWHILE: &str = "the instances changed while they were compared; run it again, and if this recurs, see whether the \
                                            searches themselves change them";

/// Judges queries by a relation, and reports differences as findings on those clauses that the check declares: a result also shows
/// `total` and the echo, which are the question of other checks. A check must declare the clause of a query.
pub(crate) async fn relate(
    probe: &Probe<'_>,
    survey: &Survey,
    relation: Relation,
    queries: &[Query],
) -> Result<(), Stop> {
    let mut reader = Reader::new(probe, survey, false);
    let mut differences = Vec::new();
    for query in queries {
        if let Some(clause) = relation.clause(query).filter(|clause| !probe.cites(*clause)) {
            let bug = format!("the check does not declare {clause}; this is a bug of the suite");
            return Err(Stop::Error(bug));
        }
        differences.extend(relation.judge(&mut reader, query).await?);
    }
    differences.retain(|difference| probe.cites(difference.clause));
    report(probe, survey, differences).await
}

/// Reports differences as findings, with the searches that show what was expected; inconclusive when that has changed meanwhile.
pub(crate) async fn report(
    probe: &Probe<'_>,
    survey: &Survey,
    differences: Vec<Difference>,
) -> Result<(), Stop> {
    if differences.is_empty() {
        return Ok(());
    }
    let Some(surveyed) = survey.confirm(probe).await? else {
        return Err(probe.inconclusive(CHANGED_MEANWHILE));
    };
    for Difference { clause, expected, actual, exchanges, references } in &differences {
        let references: Vec<_> = references.as_ref().unwrap_or(&surveyed).iter().collect();
        probe.finding_beside(*clause, expected, actual, &exchanges.iter().collect::<Vec<_>>(), &references);
    }
    Ok(())
}

/// The result must contain exactly these instances, each once. `what` names the request.
pub(super) fn same(
    clause: Clause,
    what: &str,
    expected: &BTreeSet<i64>,
    found: &ResultSet,
) -> Option<Difference> {
    let ids = found.ids();
    let (expected, actual) = if ids != *expected {
        (format!("{what} finds {}", quantity(expected.len(), "instance")), compared(expected, &ids))
    } else if found.order.len() != ids.len() {
        let actual =
            format!("{} for {}", quantity(found.order.len(), "item"), quantity(ids.len(), "instance"));
        (format!("{what} finds each instance once"), actual)
    } else {
        return None;
    };
    Some(Difference { clause, expected, actual, exchanges: found.exchanges.clone(), references: None })
}

/// How many instances were found, and which ones are missing or too many.
pub(super) fn compared(expected: &BTreeSet<i64>, found: &BTreeSet<i64>) -> String {
    let [missing, added] = [expected - found, found - expected].map(|ids| few(&ids));
    format!("{}; missing {missing}, too many {added}", quantity(found.len(), "instance"))
}

/// The number of ids, and the first few of them.
pub(super) fn few(ids: &BTreeSet<i64>) -> String {
    const MAX: usize = 5;
    let first: Vec<_> = ids.iter().take(MAX).collect();
    match ids.len() {
        0 => "none".to_owned(),
        count if count <= MAX => format!("{first:?}"),
        count => format!("{count} ({first:?} …)"),
    }
}
