//! The process's own sockets. Dropshot does not give access to the connections that it accepts, so they are found among the
//! process's descriptors by their local port.

#[cfg(unix)]
pub(super) use self::unix::{Sockets, close};

#[cfg(unix)]
mod unix {
    use std::{io, net::SocketAddr, os::fd::RawFd};

    use nix::{
        dir::Dir,
        fcntl::OFlag,
        sys::{
            socket::{Shutdown, SockaddrStorage, getpeername, getsockname, shutdown},
            stat::Mode,
        },
    };

    /// The folder in which the system lists the descriptors of the current process.
    const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

    /// The list of the process's descriptors. It stays open, because opening it takes a descriptor, and connections may have
    /// taken all of them.
    pub(crate) struct Sockets(Dir);

    impl Sockets {
        /// Opens the list.
        ///
        /// # Errors
        /// The system has none.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self(Dir::open(DESCRIPTORS, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?))
        }

        /// The open connections to one of `ports`, each with its descriptor and the address of its peer.
        ///
        /// # Errors
        /// The list cannot be read.
        pub(crate) fn open(&mut self, ports: &[u16]) -> io::Result<Vec<(RawFd, SocketAddr)>> {
            let mut connections = Vec::new();
            for entry in self.0.iter() {
                let entry = entry?;
                let Some(number) = entry.file_name().to_str().ok().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                let local =
                    getsockname::<SockaddrStorage>(number).ok().and_then(|address| std_address(&address));
                if local.is_some_and(|address| ports.contains(&address.port())) {
                    connections.extend(peer(number).map(|peer| (number, peer)));
                }
            }
            Ok(connections)
        }
    }

    /// Shuts down the connection with this descriptor, if it is still the one to `address`; the task that serves it then ends.
    /// If the descriptor is closed and reused for a new connection between the two system calls, that connection is shut down
    /// instead; its caller sees the same as at a restart.
    pub(crate) fn close(number: RawFd, address: SocketAddr) {
        if peer(number) == Some(address) {
            // The connection may have ended in the meantime.
            let _ = shutdown(number, Shutdown::Both);
        }
    }

    fn peer(number: RawFd) -> Option<SocketAddr> {
        std_address(&getpeername::<SockaddrStorage>(number).ok()?)
    }

    fn std_address(address: &SockaddrStorage) -> Option<SocketAddr> {
        let v4 = address.as_sockaddr_in().map(|address| SocketAddr::V4((*address).into()));
        v4.or_else(|| address.as_sockaddr_in6().map(|address| SocketAddr::V6((*address).into())))
    }

    #[cfg(test)]
    mod tests {
        use std::{
            io::Read as _,
            net::{TcpListener, TcpStream},
        };

        use super::*;

        #[test]
        fn a_connection_is_closed_only_with_the_address_of_its_peer() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let mut clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
            let _accepted = [(); 2].map(|()| listener.accept().unwrap());
            let mut sockets = Sockets::new().unwrap();
            for _ in 0..2 {
                let found = sockets.open(&[address.port()]).unwrap();
                assert_eq!(found.len(), 2, "neither the listener nor the clients' own ends");
            }
            let found = sockets.open(&[address.port()]).unwrap();
            let peers = clients.each_ref().map(|client| client.local_addr().unwrap());
            let first = found.iter().find(|(_, peer)| *peer == peers[0]).unwrap().0;

            close(first, peers[1]);
            clients[0].set_nonblocking(true).unwrap();
            assert_eq!(clients[0].read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
            clients[0].set_nonblocking(false).unwrap();
            close(first, peers[0]);
            assert_eq!(clients[0].read(&mut [0]).unwrap(), 0, "the end");
            clients[1].set_nonblocking(true).unwrap();
            assert_eq!(clients[1].read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
            close(-1, peers[0]);
            assert!(sockets.open(&[]).unwrap().is_empty());
        }
    }
}

/// Other systems do not list descriptors, so connections are not closed there.
#[cfg(not(unix))]
pub(super) enum Sockets {}

#[cfg(not(unix))]
impl Sockets {
    pub(super) fn new() -> std::io::Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(super) fn open(&mut self, _: &[u16]) -> std::io::Result<Vec<(i32, std::net::SocketAddr)>> {
        match *self {}
    }
}

#[cfg(not(unix))]
pub(super) fn close(_: i32, _: std::net::SocketAddr) {}
