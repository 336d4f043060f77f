//! Conforming servers that decide unspecified behaviour another way.

use crate::server::behaviour::{
    Decisions, EmptyFilter, InstanceOrder, MappedAddresses, OtherParameters, RejectionStatus, Size,
    StaticErrorBody, UnknownRegion,
};

/// One variation: an id, what it does, and the decisions that it moves.
pub(crate) struct Variation {
    pub(crate) id: &'static str,
    pub(crate) text: &'static str,
    change: fn(&mut Decisions),
}

impl Variation {
    /// The decisions of this server.
    pub(crate) fn decisions(&self) -> Decisions {
        let mut decisions = Decisions::default();
        (self.change)(&mut decisions);
        decisions
    }
}

const fn v(id: &'static str, text: &'static str, change: fn(&mut Decisions)) -> Variation {
    Variation { id, text, change }
}

/// All variations.
pub(crate) static ALL: &[Variation] = &[
    v("conforming", "the server as it is", |_| {}),
    v("status-200", "rejections are HTTP 200 with a code", |d| d.rejection = RejectionStatus::Fixed(200)),
    v("status-400", "rejections are 400", |d| d.rejection = RejectionStatus::Fixed(400)),
    v("status-422", "rejections are 422", |d| d.rejection = RejectionStatus::Fixed(422)),
    v("status-418", "rejections are 418", |d| d.rejection = RejectionStatus::Fixed(418)),
    v("status-404", "rejections are 404", |d| d.rejection = RejectionStatus::Fixed(404)),
    v("status-500", "rejections are 500 with a code, a warning", |d| {
        d.rejection = RejectionStatus::Fixed(500)
    }),
    v("text-codes", "error codes are texts", |d| d.text_codes = true),
    v("text-codes-200", "error codes are texts, with HTTP 200", |d| {
        d.text_codes = true;
        d.rejection = RejectionStatus::Fixed(200);
    }),
    v("static-error-empty", "static errors have no body", |d| d.static_error = StaticErrorBody::Empty),
    v("static-error-html", "static errors are pages", |d| d.static_error = StaticErrorBody::Html),
    v("static-error-problem", "static errors are problem details", |d| {
        d.static_error = StaticErrorBody::Problem
    }),
    v("extra-fields", "responses, groups, instances and errors have further fields", |d| {
        d.extra_fields = true
    }),
    v("short-region-shortage", "a region with too few gateways is a shortage", |d| {
        d.short_region_rejected = true
    }),
    v("empty-region-unknown", "a region without gateways is unknown", |d| {
        d.empty_region = Some(UnknownRegion::Rejected)
    }),
    v("empty-region-partial", "a region without gateways gives a partial result of none", |d| {
        d.empty_region = Some(UnknownRegion::Partial);
    }),
    v("unknown-region-shortage", "an unknown region is a shortage", |d| {
        d.unknown_region = UnknownRegion::Shortage
    }),
    v("unknown-region-partial", "an unknown region gives a partial result of none", |d| {
        d.unknown_region = UnknownRegion::Partial;
    }),
    v("shortage-503", "a shortage is 503", |d| d.shortage_status = Some(503)),
    v("shortage-200", "a shortage is HTTP 200 with a code", |d| d.shortage_status = Some(200)),
    v("shortage-429", "a shortage is 429", |d| d.shortage_status = Some(429)),
    v("shortage-404", "a shortage is 404", |d| d.shortage_status = Some(404)),
    v("retry-after-date", "Retry-After of a shortage is an HTTP-date", |d| d.retry_after_date = true),
    v("full-headers", "a full result carries the X-Proxy headers", |d| d.full_headers = true),
    v("flag-1", "the flag of a partial result is 1", |d| {
        d.partial_flag = Some("1");
        d.full_headers = true;
    }),
    v("flag-yes", "the flag of a partial result is yes", |d| d.partial_flag = Some("yes")),
    v("flag-capital", "the flag of a partial result is True", |d| d.partial_flag = Some("True")),
    v("fixed-gateways", "the same gateways come each time", |d| d.fixed_gateways = true),
    v("repeated-gateways", "a gateway comes twice in a response", |d| d.repeats_in_response = true),
    v("trailing-separator", "a separator ends a text", |d| d.trailing_separator = true),
    v("text-url", "an entry of a text is a URL", |d| d.text_form = Some("http://{ip}:{port}")),
    v("text-comma", "an entry of a text has a comma for the colon", |d| d.text_form = Some("{ip},{port}")),
    v("text-labels", "an entry of a text has labels", |d| d.text_form = Some("ip={ip};port={port}")),
    v("text-trailing-url", "entries are URLs, and a separator ends a text", |d| {
        d.text_form = Some("socks5://{ip}:{port}/");
        d.trailing_separator = true;
    }),
    v("empty-optional-rejected", "an empty optional parameter is rejected", |d| {
        d.empty_optional_rejected = true
    }),
    v("unused-separator-checked", "lb and sb are checked for JSON too", |d| {
        d.unused_separator_checked = true
    }),
    v("other-parameters-first", "a known request id gives its first response, whatever else is asked", |d| {
        d.other_parameters = OtherParameters::FirstResponse;
    }),
    v("other-parameters-new", "a known request id with other parameters is new", |d| {
        d.other_parameters = OtherParameters::NewExtraction;
    }),
    v("unknown-rejected", "unknown parameters and fields are rejected", |d| d.unknown_rejected = true),
    v("unsupported-rejected", "session, state and city are rejected", |d| d.unsupported_rejected = true),
    v("repeated-first", "of a repeated parameter the first counts", |d| d.repeated_first = true),
    v("static-header-token", "static operations take X-API-Key", |d| d.static_header_token = true),
    v("static-whitelist", "static operations look at the whitelist", |d| d.static_whitelist = true),
    v("other-header-id", "the header's request id is not the body's", |d| d.header_id_differs = true),
    v("null-rejected", "null in optional fields is rejected", |d| d.null_optional_rejected = true),
    v("fraction-accepted", "2.0 is taken for 2", |d| d.fraction_accepted = true),
    v("lenient-content-type", "any media type is taken for JSON", |d| d.lenient_content_type = true),
    v("brackets-accepted", "[IPv6] without a port is accepted", |d| d.brackets_accepted = true),
    v("leading-zeros-accepted", "leading zeros are accepted", |d| d.leading_zeros_accepted = true),
    v("spaces-accepted", "spaces around an item are accepted", |d| d.spaces_accepted = true),
    v("mapped-same", "an IPv4-mapped address is the IPv4 address", |d| {
        d.mapped = MappedAddresses::SameAsIpv4
    }),
    v("mapped-rejected", "IPv4-mapped addresses are rejected", |d| d.mapped = MappedAddresses::Rejected),
    v("stored-spelling", "only the stored spelling of an address matches", |d| d.stored_spelling_only = true),
    v("long-spelling", "IPv6 addresses come in full length and capitals", |d| d.long_spelling = true),
    v("order-descending", "instances come the other way round", |d| d.order = InstanceOrder::IdDescending),
    v("order-address", "instances are sorted by address", |d| d.order = InstanceOrder::Address),
    v("order-scattered", "instances come in an order without sense", |d| d.order = InstanceOrder::Scattered),
    v("order-activation", "the newest activation comes first", |d| d.order = InstanceOrder::NewestActivation),
    v("past-end-rejected", "a page past the last is rejected", |d| d.past_end_rejected = true),
    v("unknown-filter-rejected", "unknown countries, cities, orders and groups are rejected", |d| {
        d.unknown_filter_rejected = true;
    }),
    v("country-any-case", "case of countryCode does not matter", |d| d.country_any_case = true),
    v("empty-filter-ignored", "an empty filter is ignored", |d| d.empty_filter = EmptyFilter::Ignored),
    v("empty-filter-rejected", "an empty filter is rejected", |d| d.empty_filter = EmptyFilter::Rejected),
    v("throttled", "every 15th call is 429 with Retry-After", |d| d.throttle_every = Some(15)),
    v("slow", "each response takes 25 ms", |d| d.delay_ms = 25),
    v("close", "each connection is closed after its response", |d| d.close = true),
    v("title-case", "header names are in title case", |d| d.title_case = true),
    v("chunked", "bodies are chunked", |d| d.chunked = true),
    v("small", "there is little data", |d| d.size = Size::Small),
    v("tiny", "there are two addresses and one group", |d| d.size = Size::Tiny),
    v("post-works", "POST extraction works", |d| d.post_works = true),
    v("empty-msg", "msg is empty", |d| d.empty_msg = true),
    v("zoned-times", "times come with an offset", |d| d.zoned_times = true),
    v("request-id-36", "a request id has at most 36 characters", |d| d.request_id_limit = Some(36)),
    v("more-cache-control", "Cache-Control says more than no-store", |d| {
        d.cache_control = Some("private, no-store, max-age=0");
    }),
    v("media-charset", "JSON comes with a charset", |d| d.media_charset = true),
    v("strict", "whatever may be rejected is rejected", |d| {
        d.empty_optional_rejected = true;
        d.unused_separator_checked = true;
        d.unknown_rejected = true;
        d.null_optional_rejected = true;
        d.mapped = MappedAddresses::Rejected;
        d.past_end_rejected = true;
        d.unknown_filter_rejected = true;
        d.empty_filter = EmptyFilter::Rejected;
        d.short_region_rejected = true;
        d.rejection = RejectionStatus::Fixed(200);
    }),
    v("lenient", "whatever may be accepted is accepted", |d| {
        d.repeated_first = true;
        d.static_header_token = true;
        d.fraction_accepted = true;
        d.lenient_content_type = true;
        d.brackets_accepted = true;
        d.leading_zeros_accepted = true;
        d.spaces_accepted = true;
        d.mapped = MappedAddresses::SameAsIpv4;
        d.country_any_case = true;
        d.empty_filter = EmptyFilter::Ignored;
        d.other_parameters = OtherParameters::FirstResponse;
        d.post_works = true;
    }),
];
