//! The integers that arguments take.

/// Any integer of the standard library of up to 64 bits, as an argument: a literal, a length, a field of a result, or a limit of
/// [`contract`](crate::contract).
///
/// Results and limits hold the document's integers as `i64`. A value above `i64::MAX` counts as `i64::MAX`.
///
/// ```no_run
/// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
/// use sallyport_client::{Address, contract::{ExtractProxies, SearchStaticInstances}};
///
/// let mut extraction = client.extract(ExtractProxies::NUM_MAXIMUM).await?;
/// if extraction.is_partial {
///     extraction = client.extract(extraction.requested - extraction.returned).await?;
/// }
/// let first = client.search(["203.0.113.7"]).page_size(SearchStaticInstances::PAGE_SIZE_MAXIMUM).page(1).await?;
/// let second = client.search(["203.0.113.7"]).page_size(first.page_size).page(first.page + 1).await?;
/// let again = client.extract(second.items.len()).await?;
/// for instance in &second.items {
///     if let Some(ip) = instance.ip_addr() {
///         println!("{}", Address::with_port(ip, instance.port)?);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub trait Integer: sealed::ToI64 {}

pub(crate) mod sealed {
    pub trait ToI64 {
        fn to_i64(self) -> i64;
    }
}

macro_rules! integers {
    ($($name:ty),*) => {$(
        impl Integer for $name {}

        impl sealed::ToI64 for $name {
            fn to_i64(self) -> i64 {
                // Only a number above the maximum does not fit.
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);
