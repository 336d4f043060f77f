//! What a server does differently: one fault at most, and its decisions on unspecified behaviour.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::world::Instance;

/// Names of the circumstances that hold for a request, an instance or a response. A fault may be bound to one of them.
pub(crate) type Tags = Vec<&'static str>;

/// The circumstances with those of `more` that hold.
pub(crate) fn with_tags(tags: &Tags, more: impl IntoIterator<Item = (bool, &'static str)>) -> Tags {
    let more = more.into_iter().filter_map(|(holds, tag)| holds.then_some(tag));
    tags.iter().copied().chain(more).collect()
}

/// The circumstances of a request as they are for one of its instances, which may be of the other IP version.
pub(crate) fn tags_of_instance(tags: &Tags, instance: &Instance) -> Tags {
    let of_request = tags.iter().copied().filter(|tag| *tag != "ipv6").collect();
    with_tags(&of_request, [(instance.ip.is_ipv6(), "ipv6")])
}

/// The fault that a server has: a rule, and perhaps the one circumstance in which it breaks it (`rule@circumstance`).
#[derive(Debug, Default)]
pub(crate) struct ActiveFault {
    rule: String,
    circumstance: Option<String>,
    /// How often the fault took effect, or was at least reached.
    pub(crate) reached: AtomicUsize,
}

impl ActiveFault {
    /// The fault with that id.
    pub(crate) fn new(id: &str) -> Self {
        let (rule, circumstance) = match id.split_once('@') {
            Some((rule, circumstance)) => (rule, Some(circumstance)),
            None => (id, None),
        };
        Self { rule: rule.into(), circumstance: circumstance.map(Into::into), reached: AtomicUsize::new(0) }
    }

    /// Whether it breaks `rule` in these circumstances.
    pub(crate) fn breaks(&self, rule: &str, tags: &Tags) -> bool {
        let breaks =
            self.rule == rule && self.circumstance.as_deref().is_none_or(|wanted| tags.contains(&wanted));
        self.reached.fetch_add(usize::from(breaks), Ordering::Relaxed);
        breaks
    }

    /// Whether the fault's rule begins so.
    pub(crate) fn is_of(&self, family: &str) -> bool {
        self.rule.starts_with(family)
    }

    /// As [`Self::breaks`], for a rule whose name is made of two parts.
    pub(crate) fn breaks_part(&self, first: &str, second: &str, tags: &Tags) -> bool {
        let fits = self.rule.strip_prefix(first).and_then(|rest| rest.strip_prefix('-')) == Some(second);
        fits && self.breaks(&format!("{first}-{second}"), tags)
    }
}

/// How rejections look on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RejectionStatus {
    /// A status of its own for each kind.
    #[default]
    Usual,
    /// The same for all.
    Fixed(u16),
}

/// The error body of the static operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum StaticErrorBody {
    #[default]
    CodeMessage,
    Empty,
    Html,
    Problem,
}

/// What a repeated request id with other parameters gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OtherParameters {
    #[default]
    Rejected,
    FirstResponse,
    NewExtraction,
}

/// What becomes of a region that the directory does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum UnknownRegion {
    #[default]
    Rejected,
    Shortage,
    Partial,
}

/// IPv4-mapped IPv6 addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MappedAddresses {
    #[default]
    OwnAddress,
    SameAsIpv4,
    Rejected,
}

/// An empty filter text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EmptyFilter {
    #[default]
    Nothing,
    Ignored,
    Rejected,
}

/// The order of instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum InstanceOrder {
    #[default]
    Id,
    IdDescending,
    Address,
    Scattered,
    NewestActivation,
}

/// How much data there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Size {
    #[default]
    Rich,
    Small,
    Tiny,
}

/// Decisions on unspecified behaviour. The default is one conforming server; a variation moves some of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decisions {
    pub(crate) rejection: RejectionStatus,
    pub(crate) text_codes: bool,
    pub(crate) static_error: StaticErrorBody,
    pub(crate) extra_fields: bool,
    pub(crate) short_region_rejected: bool,
    /// Default: a shortage.
    pub(crate) empty_region: Option<UnknownRegion>,
    pub(crate) unknown_region: UnknownRegion,
    /// Default: 409.
    pub(crate) shortage_status: Option<u16>,
    pub(crate) retry_after_date: bool,
    pub(crate) full_headers: bool,
    /// Default: `true`.
    pub(crate) partial_flag: Option<&'static str>,
    pub(crate) fixed_gateways: bool,
    pub(crate) repeats_in_response: bool,
    pub(crate) trailing_separator: bool,
    /// Default: `{ip}:{port}`.
    pub(crate) text_form: Option<&'static str>,
    pub(crate) empty_optional_rejected: bool,
    pub(crate) unused_separator_checked: bool,
    pub(crate) other_parameters: OtherParameters,
    pub(crate) unknown_rejected: bool,
    pub(crate) unsupported_rejected: bool,
    pub(crate) repeated_first: bool,
    pub(crate) static_header_token: bool,
    pub(crate) static_whitelist: bool,
    pub(crate) header_id_differs: bool,
    pub(crate) null_optional_rejected: bool,
    pub(crate) fraction_accepted: bool,
    pub(crate) lenient_content_type: bool,
    pub(crate) brackets_accepted: bool,
    pub(crate) leading_zeros_accepted: bool,
    pub(crate) spaces_accepted: bool,
    pub(crate) mapped: MappedAddresses,
    pub(crate) stored_spelling_only: bool,
    pub(crate) long_spelling: bool,
    pub(crate) order: InstanceOrder,
    pub(crate) past_end_rejected: bool,
    pub(crate) unknown_filter_rejected: bool,
    pub(crate) country_any_case: bool,
    pub(crate) empty_filter: EmptyFilter,
    pub(crate) throttle_every: Option<usize>,
    pub(crate) delay_ms: u64,
    pub(crate) close: bool,
    pub(crate) title_case: bool,
    pub(crate) chunked: bool,
    pub(crate) size: Size,
    pub(crate) post_works: bool,
    pub(crate) empty_msg: bool,
    pub(crate) zoned_times: bool,
    pub(crate) request_id_limit: Option<usize>,
    /// Default: `no-store`.
    pub(crate) cache_control: Option<&'static str>,
    pub(crate) media_charset: bool,
}
