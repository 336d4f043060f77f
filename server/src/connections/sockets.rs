//! The process's own sockets. Dropshot does not give access to the connections that it accepts, so they are found among the
//! process's descriptors by their local port.

#[cfg(unix)]
pub(crate) use self::unix::limit_receive_buffers;
#[cfg(unix)]
pub(super) use self::unix::{Sockets, close};

#[cfg(unix)]
mod unix {
    use std::{
        io::{self, IoSlice, IoSliceMut},
        mem::MaybeUninit,
        net::SocketAddr,
        os::{
            fd::{AsRawFd as _, OwnedFd, RawFd},
            unix::net::UnixStream,
        },
    };

    use nix::{
        dir::Dir,
        fcntl::OFlag,
        sys::{
            socket::{
                ControlMessage, MsgFlags, Shutdown, SockaddrStorage, getpeername, getsockname, sendmsg,
                shutdown,
            },
            stat::Mode,
        },
    };
    use rustix::net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt::set_socket_recv_buffer_size,
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
            let numbers = self.at(ports)?;
            Ok(numbers.into_iter().filter_map(|number| Some((number, peer(number)?))).collect())
        }

        /// The descriptors of sockets at one of `ports`.
        fn at(&mut self, ports: &[u16]) -> io::Result<Vec<RawFd>> {
            let mut numbers = Vec::new();
            for entry in self.0.iter() {
                let entry = entry?;
                let Some(number) = entry.file_name().to_str().ok().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                let local =
                    getsockname::<SockaddrStorage>(number).ok().and_then(|address| std_address(&address));
                if local.is_some_and(|address| ports.contains(&address.port())) {
                    numbers.push(number);
                }
            }
            Ok(numbers)
        }
    }

    /// Size of the receive buffer of a connection that is not encrypted, in bytes. The system doubles it, to what connections
    /// begin with on Linux.
    const RECEIVE_BUFFER: usize = 64 << 10;

    /// Limits what the system buffers of each connection that is accepted at one of `ports` from now on. hyper reads as much in
    /// one turn as the system has buffered, up to some 50 MiB, and for the framing of a chunked body it takes about a second for
    /// that, in which no other task of its thread runs.
    ///
    /// # Errors
    /// The process cannot list its sockets, or the system rejects the limit.
    pub(crate) fn limit_receive_buffers(ports: &[u16]) -> io::Result<()> {
        let listeners = Sockets::new()?.at(ports)?.into_iter().filter(|number| peer(*number).is_none());
        for number in listeners {
            set_socket_recv_buffer_size(duplicate(number)?, RECEIVE_BUFFER)?;
        }
        Ok(())
    }

    /// Another descriptor of the same socket: options are set only by owners of a descriptor. It is sent through a pair of
    /// sockets, since the owner of this one is elsewhere.
    fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
        let (sender, receiver) = UnixStream::pair()?;
        let rights = [number];
        let message = [ControlMessage::ScmRights(&rights)];
        sendmsg::<()>(sender.as_raw_fd(), &[IoSlice::new(&[0])], &message, MsgFlags::empty(), None)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        recvmsg(&receiver, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::empty())?;
        let received = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        received.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
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
        fn connections_inherit_the_limit_of_their_listener() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            limit_receive_buffers(&[address.port()]).unwrap();
            let _client = TcpStream::connect(address).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            let size = rustix::net::sockopt::socket_recv_buffer_size(&accepted).unwrap();
            assert!((RECEIVE_BUFFER..=2 * RECEIVE_BUFFER).contains(&size), "{size}");
        }

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
pub(crate) fn limit_receive_buffers(_: &[u16]) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
pub(super) fn close(_: i32, _: std::net::SocketAddr) {}
