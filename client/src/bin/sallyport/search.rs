use std::io::{self, Write};

use sallyport_client::{Client, Instance, Search};

use crate::{
    addresses,
    args::{Format, SearchOptions},
    failure::Failure,
    output::{json, table},
    set,
};

const COLUMNS: [&str; 11] = [
    "INSTANCE",
    "OFFER",
    "STATUS",
    "IP",
    "PORT",
    "PROTOCOLS",
    "COUNTRY",
    "CITY",
    "EXPIRES",
    "ACTIVATED",
    "GROUP",
];

/// Searches instances and writes them.
pub(crate) async fn run(client: &Client, options: Box<SearchOptions>) -> Result<(), Failure> {
    let is_json = options.json || options.format == Format::Jsonl;
    let page = options.page;
    let search = search(client, *options)?;
    let mut out = io::stdout().lock();
    // A table is written at the end, because the widths of its columns depend on all rows.
    let mut rows = Vec::new();
    let mut write = |instances: &[Instance]| {
        if is_json {
            return instances.iter().try_for_each(|one| json(&mut out, one));
        }
        rows.extend(instances.iter().map(cells));
        Ok(())
    };
    match page {
        Some(number) => write(&search.page(number).await?.items)?,
        None => {
            let mut pages = search.pages();
            while let Some(page) = pages.next().await? {
                write(&page.items)?;
            }
        }
    }
    if !is_json {
        table(&mut out, &COLUMNS, &rows)?;
    }
    Ok(out.flush()?)
}

fn search(client: &Client, options: SearchOptions) -> Result<Search, Failure> {
    let addresses = addresses::read(&options.addresses, &options.file)?;
    let search = options.filters.apply(client.search(addresses).in_batches());
    Ok(set(search, options.page_size, |search, size| search.page_size(size)))
}

fn cells(instance: &Instance) -> Vec<String> {
    let optional = |value: Option<String>| value.unwrap_or_default();
    vec![
        instance.instance_id.to_string(),
        instance.offer_id.to_string(),
        instance.status.to_string(),
        instance.ip.clone(),
        instance.port.to_string(),
        instance.protocols.join(" "),
        instance.country_code.clone(),
        instance.city_code.clone(),
        optional(instance.expires_at.map(|time| time.to_string())),
        optional(instance.activated_at.map(|time| time.to_string())),
        optional(instance.group_id.map(|id| id.to_string())),
    ]
}
