//! The order of bounds on the activation time.

use jiff::Timestamp;

use super::*;

pub(super) static PROGRAMS: &[Program] = &[active("search.activated-range.beyond", |_| {
    surveyed([("reversed by one step", 18, ())], reversed_by_one_step)
})];

async fn reversed_by_one_step(probe: &Probe<'_>, (): ()) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    for time in account.chosen()? {
        let time = Timestamp::from_nanosecond(time).map_err(|error| Stop::Error(error.to_string()))?;
        let Ok(before) = time.checked_sub(account.survey.step()) else { continue };
        let why = format!("{ACTIVATED_TO} {before} is just earlier than {ACTIVATED_FROM} {time}");
        let [good, bad] = [time, before].map(|to| {
            let bounds = kinds().filter(|kind| kind.is_bound()).zip([time, to]);
            let filters = bounds.map(|(kind, time)| kind.with(FieldValue::Time(time)));
            account.survey.query().filtered(filters).request(probe)
        });
        probe.control_once(&good).await?;
        probe.rejects(SearchActivatedOrder, &why, &bad).await?;
    }
    Ok(())
}
