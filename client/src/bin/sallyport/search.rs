use std::io::{self, Write};

use sallyport_client::{Client, Instance, Search};

use crate::{
    addresses,
    args::{Format, SearchOptions},
    failure::Failure,
    output::{json, table},
    set,
};

/// The columns of the table, each with the member that it shows.
const COLUMNS: [(&str, &str); 11] = [
    ("INSTANCE", "instanceId"),
    ("OFFER", "offerId"),
    ("STATUS", "status"),
    ("IP", "ip"),
    ("PORT", "port"),
    ("PROTOCOLS", "protocols"),
    ("COUNTRY", "countryCode"),
    ("CITY", "cityCode"),
    ("EXPIRES", "expiresAt"),
    ("ACTIVATED", "activatedAt"),
    ("GROUP", "groupId"),
];

/// Searches instances and writes them.
pub(crate) async fn run(client: &Client, options: Box<SearchOptions>) -> Result<(), Failure> {
    let is_json = options.json || options.format == Format::Jsonl;
    let page = options.page;
    let search = search(client, *options)?;
    let mut out = io::stdout().lock();
    // A table is written at the end, because the widths of its columns depend on all rows.
    let mut found = Vec::new();
    let mut write = |mut instances: Vec<Instance>| {
        if is_json {
            return instances.iter().try_for_each(|one| json(&mut out, one));
        }
        found.append(&mut instances);
        Ok(())
    };
    match page {
        Some(number) => write(search.page(number).await?.items)?,
        None => {
            let mut pages = search.pages();
            while let Some(page) = pages.next().await? {
                write(page.items)?;
            }
        }
    }
    if !is_json {
        table(&mut out, &found, &COLUMNS)?;
    }
    Ok(out.flush()?)
}

fn search(client: &Client, options: SearchOptions) -> Result<Search, Failure> {
    let addresses = addresses::read(&options.addresses, &options.file)?;
    let search = options.filters.apply(client.search(addresses).in_batches());
    Ok(set(search, options.page_size, |search, size| search.page_size(size)))
}
