//! Items of `ips`: a complete IPv4 or IPv6 address, `IPv4:port` or `[IPv6]:port` (`search.ips-item`, `search.ips-port`).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use fastrand::Rng;

use super::{Spelling, distinct};

/// Valid and malformed items. The addresses are reserved for documentation (RFC 5737, RFC 3849).
pub(crate) fn ip_endpoints(seed: u64, ports: &RangeInclusive<i64>) -> Vec<Spelling> {
    let mut random = Rng::with_seed(seed);
    let mut spellings = valid(&mut random, ports);
    ipv4(&mut random, &mut spellings);
    ipv6(&mut random, &mut spellings);
    separators(&mut random, &mut spellings, ports);
    wrappings(&mut random, &mut spellings);
    spellings.extend(NO_ADDRESS.map(|text| Spelling::malformed(text, "not an address")));
    spellings.extend(HOST_NAMES.map(|text| Spelling::malformed(text, "a host name")));
    distinct(spellings)
}

/// Texts that a lenient parser or a resolver might accept.
const NO_ADDRESS: [&str; 19] = [
    "",
    " ",
    "   ",
    "\t",
    "0",
    ".",
    ":",
    ":::",
    "[]",
    "[]:80",
    "[:]:80",
    ":80",
    "*",
    "any",
    "null",
    "...",
    "-",
    "\u{0}",
    "a name of more than a hundred characters, which is longer than any address with a port and two brackets around it",
];

const HOST_NAMES: [&str; 4] =
    ["gateway.invalid", "localhost", "gateway.invalid:80", "7.100.51.198.in-addr.arpa"];

fn address_v4(random: &mut Rng) -> Ipv4Addr {
    let network = *random.choice(&[[192, 0, 2], [198, 51, 100], [203, 0, 113]]).unwrap_or(&[192, 0, 2]);
    Ipv4Addr::new(network[0], network[1], network[2], random.u8(100..250))
}

/// Groups of four non-zero digits, which have a single spelling.
fn groups_v6(random: &mut Rng) -> [u16; 8] {
    let mut group = || random.u16(0x1111..0xefff) | 0x1111;
    [0x2001, 0xdb8, group(), group(), group(), group(), group(), group()]
}

fn address_v6(random: &mut Rng) -> Ipv6Addr {
    Ipv6Addr::from(groups_v6(random))
}

fn port(random: &mut Rng, ports: &RangeInclusive<i64>) -> i64 {
    i64::from(random.u16(1024..60_000)).clamp(*ports.start(), *ports.end())
}

fn valid(random: &mut Rng, ports: &RangeInclusive<i64>) -> Vec<Spelling> {
    let (min, max) = (ports.start(), ports.end());
    let (v4, v6, groups) = (address_v4(random), address_v6(random), groups_v6(random));
    let [a, b, c, ..] = groups;
    let full = groups.map(|group| format!("{group:04x}")).join(":");
    vec![
        Spelling::valid(v4.to_string(), "an IPv4 address"),
        Spelling::valid(format!("{v4}:{}", port(random, ports)), "an IPv4 address with a port"),
        Spelling::valid(format!("{v4}:{min}"), "an IPv4 address with the smallest port"),
        Spelling::valid(format!("{v4}:{max}"), "an IPv4 address with the largest port"),
        Spelling::valid("255.255.255.255", "the largest IPv4 address"),
        Spelling::valid("1.2.3.4", "an IPv4 address of single digits"),
        Spelling::valid("0.0.0.0", "the smallest IPv4 address"),
        Spelling::valid("10.20.30.40", "a private IPv4 address"),
        Spelling::valid("172.16.30.40", "a private IPv4 address"),
        Spelling::valid("192.168.30.40", "a private IPv4 address"),
        Spelling::valid("127.0.0.1", "the loopback address of IPv4"),
        Spelling::valid("169.254.30.40", "a link-local IPv4 address"),
        Spelling::valid(v6.to_string(), "an IPv6 address"),
        Spelling::valid(v6.to_string().to_uppercase(), "an IPv6 address in capitals"),
        Spelling::valid(full.clone(), "an IPv6 address with every digit"),
        Spelling::valid(
            format!("{a:x}:{b:04x}:{c:x}:0:0:0:0:1"),
            "an IPv6 address with zero groups written out",
        ),
        Spelling::valid(format!("{a:x}:{b:x}::1"), "an IPv6 address with `::` in the middle"),
        Spelling::valid(format!("{a:x}:{b:x}:{c:x}::"), "an IPv6 address with `::` at the end"),
        Spelling::valid("::1", "the loopback address of IPv6"),
        Spelling::valid("::", "the smallest IPv6 address"),
        Spelling::valid(format!("::{b:x}:{c:x}"), "an IPv6 address with `::` at the start"),
        Spelling::valid("fe80::5:6", "a link-local IPv6 address without a zone"),
        Spelling::valid("fd00::5:6", "a unique local IPv6 address"),
        Spelling::valid("2001:db8::203.0.113.7", "an IPv6 address whose last groups are written as IPv4"),
        Spelling::valid("2001:1111:2222:3333:4444:5555:6666:7777", "an IPv6 address of decimal digits alone"),
        Spelling::valid(format!("{a:x}:{b:x}:{c:x}:{a:x}:{b:x}:{c:x}:{a:x}::"), "`::` for a single group"),
        Spelling::valid("2001:Db8::aBcD", "an IPv6 address in mixed case"),
        Spelling::valid("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "the largest IPv6 address"),
        Spelling::valid(format!("[{v6}]:{}", port(random, ports)), "an IPv6 address with a port"),
        Spelling::valid(format!("[{a:x}:{b:x}::1]:{min}"), "a short IPv6 address with the smallest port"),
        Spelling::valid(format!("[{full}]:{max}"), "a long IPv6 address with the largest port"),
    ]
}

/// IPv4 addresses with each kind of damage at each position.
fn ipv4(random: &mut Rng, spellings: &mut Vec<Spelling>) {
    const OCTETS: [(&str, &str); 16] = [
        ("256", "a part above 255"),
        ("260", "a part above 255"),
        ("300", "a part above 255"),
        ("999", "a part above 255"),
        ("1000", "a part of four digits"),
        ("65536", "a part that wraps in 16 bits"),
        ("4294967297", "a part that wraps in 32 bits"),
        ("-1", "a negative part"),
        ("+1", "a part with a sign"),
        ("", "an empty part"),
        ("x", "a part that is no number"),
        ("*", "a wildcard"),
        ("0x1", "a part in hexadecimal"),
        ("1e1", "a part with an exponent"),
        ("\u{661}", "a digit of another script"),
        ("\u{ff11}", "a digit in full width"),
    ];
    let parts = |address: Ipv4Addr| address.octets().map(|octet| octet.to_string());
    for position in 0..4 {
        for (octet, reason) in OCTETS {
            let mut damaged = parts(address_v4(random));
            octet.clone_into(&mut damaged[position]);
            spellings.push(Spelling::malformed(damaged.join("."), reason));
        }
        let mut fewer = parts(address_v4(random)).to_vec();
        fewer.remove(position);
        spellings.push(Spelling::malformed(fewer.join("."), "three parts"));
        let mut more = parts(address_v4(random)).to_vec();
        more.insert(position, random.u8(1..250).to_string());
        spellings.push(Spelling::malformed(more.join("."), "five parts"));
    }
    for separator in [",", ":", "/", "..", " ", "-", "_", ";", "\u{3002}", "\u{ff0e}", "\n"] {
        let octets = parts(address_v4(random));
        let place = random.usize(1..4);
        let text = format!("{}{separator}{}", octets[..place].join("."), octets[place..].join("."));
        spellings.push(Spelling::malformed(text, "another separator between two parts"));
    }
    let address = address_v4(random);
    let [a, b, ..] = address.octets();
    let number = address.to_bits();
    spellings.extend([
        Spelling::malformed(number.to_string(), "an address as one number"),
        Spelling::malformed(address.to_string().replace('.', ","), "commas for dots"),
        Spelling::malformed(format!("{number:#x}"), "an address as one hexadecimal number"),
        Spelling::malformed(
            address.octets().map(|octet| format!("{octet:#x}")).join("."),
            "an address with all parts in hexadecimal",
        ),
        Spelling::malformed(format!("{a}.{}", number & 0xff_ffff), "an address in two parts"),
        Spelling::malformed(format!("{a}.{b}.{}", number & 0xffff), "an address in three parts"),
        Spelling::malformed(format!("{a}.{b}"), "the first half of an address"),
        Spelling::malformed(format!("{a}.{b}."), "the first half of an address, with a dot"),
        Spelling::malformed(format!(".{address}"), "a dot before the address"),
        Spelling::malformed(format!("{address}."), "a dot after the address"),
    ]);
}

fn ipv6(random: &mut Rng, spellings: &mut Vec<Spelling>) {
    const GROUPS: [(&str, &str); 6] = [
        ("12345", "a group of five digits"),
        ("10000", "a group of five digits"),
        ("g", "a group that is not hexadecimal"),
        ("-1", "a negative group"),
        ("0x1", "a group with a prefix of its radix"),
        ("*", "a wildcard"),
    ];
    let parts = |random: &mut Rng| groups_v6(random).map(|group| format!("{group:x}"));
    for (group, reason) in GROUPS {
        for position in [0, random.usize(1..7), 7] {
            let mut damaged = parts(random);
            group.clone_into(&mut damaged[position]);
            spellings.push(Spelling::malformed(damaged.join(":"), reason));
        }
    }
    let whole = parts(random).join(":");
    let [a, b, c, d, ..] = groups_v6(random);
    let v4 = address_v4(random);
    spellings.extend([
        Spelling::malformed(parts(random)[..7].join(":"), "seven groups"),
        Spelling::malformed(parts(random)[..2].join(":"), "two groups"),
        Spelling::malformed(format!("{whole}:{d:x}"), "nine groups"),
        Spelling::malformed(format!("{whole}::"), "`::` after eight groups"),
        Spelling::malformed(format!("::{whole}"), "`::` before eight groups"),
        Spelling::malformed(format!("{a:x}::{b:x}::{c:x}"), "two `::`"),
        Spelling::malformed(format!("{a:x}:::{b:x}"), "three colons in a row"),
        Spelling::malformed(format!(":{a:x}:{b:x}::1"), "one colon at the start"),
        Spelling::malformed(format!("{a:x}:{b:x}::1:"), "one colon at the end"),
        Spelling::malformed(format!("{a:x}.{b:x}::1"), "a dot between groups"),
        Spelling::malformed(format!("{a:x} :{b:x}::1"), "a space between groups"),
        Spelling::malformed(format!("2001:db8::{v4}.7"), "an embedded IPv4 address of five parts"),
        Spelling::malformed("2001:db8::192.0.2", "an embedded IPv4 address of three parts"),
        Spelling::malformed("2001:db8::192.0.2.256", "an embedded IPv4 address with a part above 255"),
        Spelling::malformed(format!("{v4}::1"), "an embedded IPv4 address in front"),
        Spelling::malformed("fe80::1%eth0", "a zone identifier"),
        Spelling::malformed("fe80::1%1", "a zone identifier that is a number"),
        Spelling::malformed("fe80::1%", "an empty zone identifier"),
        Spelling::malformed(format!("{a:x}:{b:x}::1%25eth0"), "a percent-encoded zone identifier"),
        Spelling::malformed("[fe80::1%eth0]:8080", "a zone identifier in brackets"),
        Spelling::malformed("[fe80::1%25eth0]:8080", "a percent-encoded zone identifier in brackets"),
        Spelling::malformed("[fe80::1%1]:8080", "a numeric zone identifier in brackets"),
    ]);
}

/// Items with a valid address and a port that is out of range or not a number (`search.ips-port`).
pub(crate) fn ip_ports(seed: u64, ports: &RangeInclusive<i64>) -> Vec<Spelling> {
    const PORTS: [(&str, &str); 27] = [
        ("", "an empty port"),
        ("0", "port 0"),
        ("00000", "port 0 in five digits"),
        ("65536", "a port above 65535"),
        ("65537", "a port that wraps in 16 bits"),
        ("65616", "a port that wraps in 16 bits"),
        ("70000", "a port above 65535"),
        ("99999", "a port above 65535"),
        ("100000", "a port of six digits"),
        ("4294967376", "a port that wraps in 32 bits"),
        ("18446744073709551696", "a port that wraps in 64 bits"),
        ("-1", "a negative port"),
        ("+80", "a port with a sign"),
        ("80.0", "a port with a fraction"),
        ("8e1", "a port with an exponent"),
        ("0x50", "a port in hexadecimal"),
        ("http", "a port by name"),
        ("80-90", "a range of ports"),
        ("80,81", "a list of ports"),
        ("*", "any port"),
        ("80:81", "two ports"),
        ("80abc", "a port and letters"),
        ("80:user:pass", "a user and a password behind the port"),
        ("80/tcp", "a port with a protocol"),
        ("80/", "a slash behind the port"),
        ("8_0", "a port with an underscore"),
        ("\u{668}\u{660}", "a port in digits of another script"),
    ];
    let mut random = Rng::with_seed(seed);
    // Another document may have another range.
    let is_outside = |port: &str| port.parse::<i64>().map_or(true, |port| port < 0 || !ports.contains(&port));
    let spellings = PORTS.into_iter().flat_map(|(port, reason)| {
        let (v4, v6) = (address_v4(&mut random), address_v6(&mut random));
        let both = [format!("{v4}:{port}"), format!("[{v6}]:{port}")];
        both.map(|text| (port, Spelling::malformed(text, reason)))
    });
    let spellings = spellings.filter(|(port, _)| port.starts_with('+') || is_outside(port));
    distinct(spellings.map(|(_, spelling)| spelling).collect())
}

/// Items with wrong separators or brackets between address and port.
fn separators(random: &mut Rng, spellings: &mut Vec<Spelling>, ports: &RangeInclusive<i64>) {
    let (v4, v6, port) = (address_v4(random), address_v6(random), port(random, ports));
    spellings.extend([
        Spelling::malformed(format!("{v6}:{port}"), "an IPv6 address with a port and no brackets"),
        Spelling::malformed(format!("[{v6}]{port}"), "no colon before the port"),
        Spelling::malformed(format!("[{v6}]abc:{port}"), "letters behind the bracket"),
        Spelling::malformed(format!("user:pass@{v4}:{port}"), "a user and a password before the address"),
        Spelling::malformed(format!("[{v6}:{port}"), "no closing bracket"),
        Spelling::malformed(format!("[{v6}"), "no closing bracket"),
        Spelling::malformed(format!("{v6}]"), "no opening bracket"),
        Spelling::malformed(format!("{v6}]:{port}"), "no opening bracket"),
        Spelling::malformed(format!("[[{v6}]]:{port}"), "two pairs of brackets"),
        Spelling::malformed(format!("[{v6}]]:{port}"), "two closing brackets"),
        Spelling::malformed(format!("[[{v6}]]"), "two pairs of brackets"),
        Spelling::malformed(format!("{v6}#{port}"), "a number sign before the port"),
        Spelling::malformed(format!("{v6}.{port}"), "a dot before the port"),
        Spelling::malformed(format!("({v6}):{port}"), "parentheses for brackets"),
        Spelling::malformed(format!("[{v4}]:{port}"), "an IPv4 address in brackets"),
        Spelling::malformed(format!("[{v6}]::{port}"), "two colons before the port"),
        Spelling::malformed(format!("{v4}::{port}"), "two colons before the port"),
        Spelling::malformed(format!("{v4};{port}"), "a semicolon before the port"),
        Spelling::malformed(format!("{v4} {port}"), "a space before the port"),
        Spelling::malformed(format!("{v4}: {port}"), "a space after the colon"),
        Spelling::malformed(format!("{v4} :{port}"), "a space before the colon"),
        Spelling::malformed(format!("[ {v6} ]:{port}"), "spaces inside the brackets"),
        Spelling::malformed(format!("{v4}.{port}"), "a dot before the port"),
        Spelling::malformed(format!("{v4}/32:{port}"), "a prefix length before the port"),
        Spelling::malformed(format!("[{v6}/128]:{port}"), "a prefix length before the port"),
        Spelling::malformed(format!("[{v6}]/128:{port}"), "a prefix length before the port"),
        Spelling::malformed(format!("{v4}#{port}"), "a number sign before the port"),
        Spelling::malformed(format!("198.51.100.256:{port}"), "a part above 255 before a port"),
        Spelling::malformed(format!("300.51.100.7:{port}"), "a part above 255 before a port"),
        Spelling::malformed(format!("198.51.100:{port}"), "three parts before a port"),
        Spelling::malformed(format!("[2001:db8:12345::1]:{port}"), "a group of five digits before a port"),
    ]);
}

/// Addresses with other text around them: networks, ranges, URLs, quotes.
fn wrappings(random: &mut Rng, spellings: &mut Vec<Spelling>) {
    const AROUND: [(&str, &str, &str); 23] = [
        ("", "/32", "a network in CIDR form"),
        ("", "/24", "a network in CIDR form"),
        ("", "/64", "a network in CIDR form"),
        ("", "/0", "a network in CIDR form"),
        ("", "/128", "a network in CIDR form"),
        ("", "/255.255.255.0", "a network with its mask"),
        ("", "/", "a slash after the address"),
        ("", "/path", "a path after the address"),
        ("", "?query", "a query after the address"),
        ("", "#fragment", "a fragment after the address"),
        ("", "%eth0", "a zone identifier"),
        ("", ",", "a comma after the address"),
        ("", ";", "a semicolon after the address"),
        ("", "*", "a wildcard after the address"),
        ("", "x", "a letter after the address"),
        ("", "\u{0}", "a NUL after the address"),
        ("", "\u{200f}", "an invisible character after the address"),
        ("\u{2060}", "", "an invisible character before the address"),
        ("user@", "", "a user before the address"),
        ("//", "", "slashes before the address"),
        ("!", "", "a negated address"),
        ("\"", "\"", "an address in quotes"),
        ("<", ">", "an address in angle brackets"),
    ];
    for (before, after, reason) in AROUND {
        spellings.push(Spelling::malformed(format!("{before}{}{after}", address_v4(random)), reason));
        spellings.push(Spelling::malformed(format!("{before}{}{after}", address_v6(random)), reason));
    }
    for (v4, v6) in [
        ("198.51.100.0/24", "2001:db8::/32"),
        ("198.51.100.0/24:80", "[2001:db8::]/32:80"),
        ("198.51.100.0:80/24", "[2001:db8::]:80/32"),
    ] {
        spellings.push(Spelling::malformed(v4, "a network in CIDR form"));
        spellings.push(Spelling::malformed(v6, "a network in CIDR form"));
    }
    let pair =
        |random: &mut Rng, between: &str| format!("{}{between}{}", address_v4(random), address_v4(random));
    for between in [",", ", ", " ", "-", " - ", "..", ";", "|", "\n", "\t"] {
        spellings.push(Spelling::malformed(pair(random, between), "two addresses in one item"));
    }
    for scheme in ["http://", "https://", "tcp://", "socks5://", "HTTP://"] {
        spellings.push(Spelling::malformed(format!("{scheme}{}", address_v4(random)), "a URL"));
        spellings.push(Spelling::malformed(format!("{scheme}[{}]:80", address_v6(random)), "a URL"));
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};

    use super::*;

    const PORTS: RangeInclusive<i64> = 1..=65535;

    #[test]
    fn ports_follow_the_range_of_the_document() {
        let texts = |spellings: Vec<Spelling>| spellings.into_iter().map(|one| one.text).collect::<Vec<_>>();
        assert!(texts(ip_ports(1, &PORTS)).iter().any(|text| text.ends_with(":0")));
        assert!(!texts(ip_ports(1, &(0..=65535))).iter().any(|text| text.ends_with(":0")));
        let valid = ip_endpoints(1, &(2..=9000)).into_iter().filter(|spelling| spelling.is_valid);
        let ports = valid.filter_map(|spelling| spelling.text.parse::<SocketAddr>().ok());
        assert!(ports.into_iter().all(|address| (2..=9000).contains(&address.port())));
    }

    fn is_item(text: &str) -> bool {
        // The standard library accepts a numeric zone and port 0.
        let with_port = |socket: SocketAddr| socket.port() > 0 && !text.contains('%');
        text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok_and(with_port)
    }

    /// Whether it is unspecified: surrounding spaces, leading zeros, brackets without a port.
    fn is_unspecified(text: &str) -> bool {
        let text = text.trim();
        let parts: Vec<_> =
            text.split_inclusive(['.', ':']).map(|part| part.trim_start_matches('0')).collect();
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        is_item(text) || is_item(&parts.concat()) || bare.is_some_and(|bare| bare.parse::<Ipv6Addr>().is_ok())
    }

    #[test]
    fn valid_spellings_parse_and_malformed_ones_do_not() {
        for seed in 0..50 {
            for spelling in ip_endpoints(seed, &PORTS).into_iter().chain(ip_ports(seed, &PORTS)) {
                let Spelling { text, is_valid, reason, .. } = &spelling;
                assert_eq!(is_item(text), *is_valid, "{text:?}: {reason}");
                assert!(*is_valid || !is_unspecified(text), "{text:?} is unspecified: {reason}");
            }
        }
    }

    #[test]
    fn there_are_hundreds_and_a_seed_gives_the_same_ones() {
        assert!(ip_endpoints(0, &PORTS).len() > 200, "{}", ip_endpoints(0, &PORTS).len());
        assert_eq!(ip_endpoints(7, &PORTS), ip_endpoints(7, &PORTS));
        assert_ne!(ip_endpoints(7, &PORTS), ip_endpoints(8, &PORTS));
    }

    #[test]
    fn addresses_belong_to_nobody() {
        for spelling in ip_endpoints(3, &PORTS).iter().filter(|spelling| spelling.is_valid) {
            let address = spelling.text.parse::<Ipv4Addr>();
            let known = ["255.255.255.255", "1.2.3.4", "0.0.0.0"].contains(&spelling.text.as_str());
            let is_reserved = |address: Ipv4Addr| {
                let is_local = address.is_private() || address.is_loopback() || address.is_link_local();
                address.is_documentation() || is_local
            };
            assert!(known || address.is_err() || address.is_ok_and(is_reserved));
        }
    }
}
