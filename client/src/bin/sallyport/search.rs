use std::io::{self, Write};

use sallyport_client::{Client, GroupFilter, Instance, Search};

use crate::{
    addresses,
    args::{SearchFormat, SearchOptions},
    failure::Failure,
    output::{csv, json, table},
    set,
};

/// Columns of a table and of CSV, whose names are those of JSON.
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
    let format = options.format();
    let page = options.page;
    let search = search(client, *options)?;
    let mut writer = InstanceWriter { out: io::stdout().lock(), format, rows: Vec::new(), has_header: false };
    match page {
        Some(number) => writer.add(&search.page(number).await?.items)?,
        None => {
            let mut pages = search.pages();
            while let Some(page) = pages.next().await? {
                writer.add(&page.items)?;
            }
        }
    }
    writer.end()
}

fn search(client: &Client, options: SearchOptions) -> Result<Search, Failure> {
    if let (Some(from), Some(to)) = (options.activated_from, options.activated_to)
        && to < from
    {
        return Err(Failure::usage(format!(
            "--activated-to: expected a time not before --activated-from, which is {from}, found {to}"
        )));
    }
    let addresses = addresses::read(&options.addresses, &options.file)?;
    let group = options.group.or(options.ungrouped.then_some(GroupFilter::Ungrouped));
    let search = client.search(addresses).in_batches().group(group.unwrap_or_default());
    let search = set(search, options.order, |search, order| search.order_number(order));
    let search = set(search, options.country, |search, code| search.country(code));
    let search = set(search, options.city, |search, code| search.city(code));
    let search = set(search, options.status, Search::status);
    let search = set(search, options.activated_from, Search::activated_from);
    let search = set(search, options.activated_to, Search::activated_to);
    Ok(set(search, options.page_size, |search, size| search.page_size(size)))
}

/// Writes instances page by page. A table is buffered, because its column widths depend on all rows.
struct InstanceWriter<W> {
    out: W,
    format: SearchFormat,
    rows: Vec<Vec<String>>,
    has_header: bool,
}

impl<W: Write> InstanceWriter<W> {
    /// Writes a page. Every search has a first page, possibly empty; the CSV header is written with it, so that a search that
    /// fails before leaves no output.
    fn add(&mut self, instances: &[Instance]) -> Result<(), Failure> {
        if let (SearchFormat::Csv, false) = (self.format, self.has_header) {
            csv(&mut self.out, &COLUMNS.map(|(_, name)| name.to_owned()))?;
        }
        self.has_header = true;
        for instance in instances {
            match self.format {
                SearchFormat::Table => self.rows.push(cells(instance)),
                SearchFormat::Csv => csv(&mut self.out, &cells(instance))?,
                SearchFormat::Jsonl => json(&mut self.out, &serde_json::json!(instance))?,
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Failure> {
        if let SearchFormat::Table = self.format {
            table(&mut self.out, &COLUMNS.map(|(title, _)| title), &self.rows)?;
        }
        Ok(self.out.flush()?)
    }
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
