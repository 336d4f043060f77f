//! Typed addresses and ports of gateways and instances, whose fields hold what the service sent.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use crate::{Endpoint, Instance, Protocol};

impl Endpoint {
    /// The port, from 1 to 65535; `None` when the service sent another number.
    pub fn port_u16(&self) -> Option<u16> {
        port(self.port)
    }

    /// Address and port to connect to; `None` when the host is a name or the port is not one.
    ///
    /// ```
    /// let endpoint: sallyport_client::Endpoint = serde_json::from_str(r#"{"ip": "203.0.113.7", "port": 8080}"#)?;
    /// assert_eq!(endpoint.socket_addr(), Some("203.0.113.7:8080".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(ip_addr(&self.ip)?, self.port_u16()?))
    }

    /// URL for the proxy settings of an HTTP client, such as `http://203.0.113.7:8080` or `socks5://[2001:db8::1]:1080`.
    ///
    /// Pass the protocol that the extraction requested ([`Protocol::Http`] without one); the response does not repeat it.
    ///
    /// ```no_run
    /// # async fn run(client: sallyport_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use sallyport_client::{Protocol, reqwest};
    ///
    /// let endpoint = client.extract(1).await?.endpoints.remove(0);
    /// let proxy = reqwest::Proxy::all(endpoint.proxy_url(Protocol::Http))?;
    /// let http = reqwest::Client::builder().proxy(proxy).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn proxy_url(&self, protocol: Protocol) -> String {
        format!("{protocol}://{self}")
    }
}

/// `host:port`, with brackets around an IPv6 address.
impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ip.contains(':') && !self.ip.starts_with('[') {
            write!(out, "[{}]:{}", self.ip, self.port)
        } else {
            write!(out, "{}:{}", self.ip, self.port)
        }
    }
}

impl Instance {
    /// The IP address; `None` when the service sent something else.
    pub fn ip_addr(&self) -> Option<IpAddr> {
        ip_addr(&self.ip)
    }

    /// The port for direct connections, from 1 to 65535; `None` when the service sent 0 or another number.
    pub fn port_u16(&self) -> Option<u16> {
        port(self.port)
    }

    /// Whether [`protocols`](Self::protocols) names this one, in any letter case. The contract leaves its values open, so it holds
    /// others, too.
    pub fn supports(&self, protocol: Protocol) -> bool {
        self.protocols.iter().any(|name| name.eq_ignore_ascii_case(&protocol.to_string()))
    }

    /// Address and port to connect to; `None` when either is missing.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.ip_addr()?, self.port_u16()?))
    }
}

/// An address, possibly in brackets.
fn ip_addr(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|ip| ip.strip_suffix(']'));
    bracketed.unwrap_or(text).parse().ok()
}

fn port(number: i64) -> Option<u16> {
    u16::try_from(number).ok().filter(|port| *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(ip: &str, port: i64) -> Endpoint {
        Endpoint { ip: ip.to_owned(), port }
    }

    #[test]
    fn hosts_are_addresses_or_names() {
        for (text, shown, is_ip) in [
            ("203.0.113.7", "203.0.113.7:80", true),
            ("2001:db8::1", "[2001:db8::1]:80", true),
            ("[2001:db8::1]", "[2001:db8::1]:80", true),
            ("gw.invalid", "gw.invalid:80", false),
            ("203.0.113", "203.0.113:80", false),
        ] {
            let endpoint = endpoint(text, 80);
            assert_eq!(endpoint.to_string(), shown);
            assert_eq!(endpoint.socket_addr().map(|address| address.to_string()).is_some(), is_ip);
            assert_eq!(endpoint.proxy_url(Protocol::Socks5), format!("socks5://{shown}"));
        }
    }

    #[test]
    fn ports_are_within_their_range() {
        for (number, expected) in
            [(0, None), (1, Some(1)), (65_535, Some(65_535)), (65_536, None), (-1, None), (i64::MAX, None)]
        {
            assert_eq!(endpoint("203.0.113.7", number).port_u16(), expected);
            assert_eq!(endpoint("203.0.113.7", number).socket_addr().is_some(), expected.is_some());
        }
    }
}
