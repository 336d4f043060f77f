use std::io::{self, Write};

use sallyport_client::Client;

use crate::{
    args::{Format, GroupsOptions},
    failure::Failure,
    output::{json, table},
};

/// Lists the account's groups.
pub(crate) async fn run(client: &Client, options: GroupsOptions) -> Result<(), Failure> {
    let groups = client.groups().await?;
    let mut out = io::stdout().lock();
    match if options.json { Format::Jsonl } else { options.format } {
        Format::Jsonl => groups.iter().try_for_each(|group| json(&mut out, group))?,
        Format::Json => json(&mut out, &groups)?,
        Format::Table | Format::Lines => {
            let rows: Vec<Vec<String>> = groups
                .iter()
                .map(|group| {
                    vec![
                        group.group_id.to_string(),
                        group.name.clone(),
                        group.created_at.to_string(),
                        group.updated_at.to_string(),
                    ]
                })
                .collect();
            table(&mut out, &["ID", "NAME", "CREATED", "UPDATED"], &rows)?;
        }
    }
    Ok(out.flush()?)
}
