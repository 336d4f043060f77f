//! What a server does differently: one fault at most, and its decisions on unspecified behaviour.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Names of the circumstances that hold for a request, an instance or an answer. A fault may be bound to one of them.
pub type Tags = Vec<&'static str>;

/// The fault that a server has: a rule, and perhaps the one circumstance in which it breaks it (`rule@circumstance`).
#[derive(Debug, Default)]
pub struct ActiveFault {
    rule: String,
    circumstance: Option<String>,
    /// How often the fault took effect, or was at least reached.
    pub reached: AtomicUsize,
}

impl ActiveFault {
    /// The fault with that id.
    pub fn new(id: &str) -> Self {
        let (rule, circumstance) = match id.split_once('@') {
            Some((rule, circumstance)) => (rule, Some(circumstance)),
            None => (id, None),
        };
        Self { rule: rule.into(), circumstance: circumstance.map(Into::into), reached: AtomicUsize::new(0) }
    }

    /// Whether it breaks `rule` in these circumstances.
    pub fn breaks(&self, rule: &str, tags: &Tags) -> bool {
        let breaks =
            self.rule == rule && self.circumstance.as_deref().is_none_or(|wanted| tags.contains(&wanted));
        self.reached.fetch_add(usize::from(breaks), Ordering::Relaxed);
        breaks
    }

    /// Whether the fault's rule begins so.
    pub fn is_of(&self, family: &str) -> bool {
        self.rule.starts_with(family)
    }

    /// As [`Self::breaks`], for a rule whose name is made of two parts.
    pub fn breaks_part(&self, first: &str, second: &str, tags: &Tags) -> bool {
        let fits = self.rule.strip_prefix(first).and_then(|rest| rest.strip_prefix('-')) == Some(second);
        fits && self.breaks(&format!("{first}-{second}"), tags)
    }
}

/// How rejections look on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RejectionStatus {
    /// A status of its own for each kind.
    #[default]
    Usual,
    /// The same for all.
    Fixed(u16),
}

/// The error body of the static operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StaticErrorBody {
    #[default]
    CodeMessage,
    Empty,
    Html,
    Problem,
}

/// What a repeated request id with other parameters gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherParameters {
    #[default]
    Rejected,
    FirstAnswer,
    NewExtraction,
}

/// What becomes of a region that the directory does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownRegion {
    #[default]
    Rejected,
    Shortage,
    Partial,
}

/// IPv4-mapped IPv6 addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mapped {
    #[default]
    OwnAddress,
    SameAsIpv4,
    Rejected,
}

/// An empty filter text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EmptyFilter {
    #[default]
    Nothing,
    Ignored,
    Rejected,
}

/// The order of instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InstanceOrder {
    #[default]
    Id,
    IdDescending,
    Address,
    Scattered,
    NewestActivation,
}

/// How much data there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Size {
    #[default]
    Rich,
    Small,
    Tiny,
}

/// Decisions on unspecified behaviour. The default is one conforming server; a variation moves some of them.
#[derive(Debug, Clone)]
pub struct Decisions {
    pub rejection: RejectionStatus,
    pub text_codes: bool,
    pub static_error: StaticErrorBody,
    pub extra_fields: bool,
    pub short_region_rejected: bool,
    pub empty_region: UnknownRegion,
    pub unknown_region: UnknownRegion,
    pub shortage_status: u16,
    pub retry_after_date: bool,
    pub full_headers: bool,
    pub partial_flag: &'static str,
    pub fixed_gateways: bool,
    pub repeats_in_answer: bool,
    pub trailing_separator: bool,
    pub text_form: &'static str,
    pub empty_optional_rejected: bool,
    pub unused_separator_checked: bool,
    pub other_parameters: OtherParameters,
    pub unknown_rejected: bool,
    pub unsupported_rejected: bool,
    pub repeated_first: bool,
    pub static_header_token: bool,
    pub static_whitelist: bool,
    pub header_id_differs: bool,
    pub null_optional_rejected: bool,
    pub fraction_accepted: bool,
    pub lenient_content_type: bool,
    pub brackets_accepted: bool,
    pub leading_zeros_accepted: bool,
    pub spaces_accepted: bool,
    pub mapped: Mapped,
    pub stored_spelling_only: bool,
    pub long_spelling: bool,
    pub order: InstanceOrder,
    pub past_end_rejected: bool,
    pub unknown_filter_rejected: bool,
    pub country_any_case: bool,
    pub empty_filter: EmptyFilter,
    pub throttle_every: Option<usize>,
    pub delay_ms: u64,
    pub close: bool,
    pub title_case: bool,
    pub chunked: bool,
    pub size: Size,
    pub post_works: bool,
    pub empty_msg: bool,
    pub zoned_times: bool,
    pub request_id_limit: Option<usize>,
    pub cache_control: &'static str,
    pub media_charset: bool,
}

impl Default for Decisions {
    fn default() -> Self {
        Self {
            rejection: RejectionStatus::Usual,
            text_codes: false,
            static_error: StaticErrorBody::CodeMessage,
            extra_fields: false,
            short_region_rejected: false,
            empty_region: UnknownRegion::Shortage,
            unknown_region: UnknownRegion::Rejected,
            shortage_status: 409,
            retry_after_date: false,
            full_headers: false,
            partial_flag: "true",
            fixed_gateways: false,
            repeats_in_answer: false,
            trailing_separator: false,
            text_form: "{ip}:{port}",
            empty_optional_rejected: false,
            unused_separator_checked: false,
            other_parameters: OtherParameters::Rejected,
            unknown_rejected: false,
            unsupported_rejected: false,
            repeated_first: false,
            static_header_token: false,
            static_whitelist: false,
            header_id_differs: false,
            null_optional_rejected: false,
            fraction_accepted: false,
            lenient_content_type: false,
            brackets_accepted: false,
            leading_zeros_accepted: false,
            spaces_accepted: false,
            mapped: Mapped::OwnAddress,
            stored_spelling_only: false,
            long_spelling: false,
            order: InstanceOrder::Id,
            past_end_rejected: false,
            unknown_filter_rejected: false,
            country_any_case: false,
            empty_filter: EmptyFilter::Nothing,
            throttle_every: None,
            delay_ms: 0,
            close: false,
            title_case: false,
            chunked: false,
            size: Size::Rich,
            post_works: false,
            empty_msg: false,
            zoned_times: false,
            request_id_limit: None,
            cache_control: "no-store",
            media_charset: false,
        }
    }
}
