//! Connections over TLS that trust one certificate.

use std::{io, net::TcpStream, sync::Arc};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName},
};

/// An encrypted connection.
pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A client that offers these protocols.
pub(crate) fn client(trusted: CertificateDer<'static>, protocols: &[&str]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// The connection to a server by this name, if the handshake succeeds.
pub(crate) fn handshake(mut socket: TcpStream, name: &str, client: &Arc<ClientConfig>) -> io::Result<Stream> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = ClientConnection::new(Arc::clone(client), name).unwrap();
    connection.complete_io(&mut socket)?;
    Ok(StreamOwned::new(connection, socket))
}
