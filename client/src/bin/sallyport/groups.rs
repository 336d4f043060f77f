use std::io::{self, Write};

use sallyport_client::Client;

use crate::{
    args::{GroupsFormat, GroupsOptions},
    failure::Failure,
    output::{json, table},
};

/// Lists the account's groups.
pub(crate) async fn run(client: &Client, options: GroupsOptions) -> Result<(), Failure> {
    let groups = client.groups().await?;
    let mut out = io::stdout().lock();
    match options.format() {
        GroupsFormat::Table => {
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
        GroupsFormat::Json => json(&mut out, &groups)?,
        GroupsFormat::Jsonl => groups.iter().try_for_each(|group| json(&mut out, group))?,
    }
    Ok(out.flush()?)
}
