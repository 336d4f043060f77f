//! The process's own sockets. Dropshot does not give access to the connections that it accepts, so they are found among the
//! process's descriptors by their local port.

use std::{
    fs::{self, File},
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::SocketAddr,
    os::{
        fd::{AsRawFd as _, OwnedFd, RawFd},
        unix::{fs::MetadataExt as _, net::UnixStream},
    },
};

use nix::{
    dir::Dir,
    fcntl::OFlag,
    sys::{
        socket::{ControlMessage, MsgFlags, SockaddrStorage, getpeername, getsockname, sendmsg},
        stat::Mode,
    },
};
use rustix::{
    io::dup2,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, Shutdown, recvmsg, shutdown,
        sockopt::set_socket_recv_buffer_size,
    },
};

/// The folder in which the system lists the descriptors of the current process.
const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

/// Size of the receive buffer of a connection that is not encrypted, in bytes. The system doubles it, to what connections begin
/// with on Linux.
const RECEIVE_BUFFER: usize = 64 << 10;

/// Descriptors that are kept to duplicate others when connections have taken all that the process may have. One is given up for
/// a moment each time. Another thread may take it then, but an acceptor that found none waits before it tries again.
const SPARES: usize = 8;

/// The process's sockets. What is needed to close one is open from the start, because connections may take all descriptors.
#[derive(Debug)]
pub(super) struct Sockets {
    descriptors: Dir,
    /// Duplicates of descriptors go through this pair.
    pair: (UnixStream, UnixStream),
    null: File,
    spares: Vec<OwnedFd>,
}

/// A connection: which socket it is, and the address of its peer. No other socket has both while this one is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) peer: SocketAddr,
    inode: u64,
}

impl Sockets {
    /// Opens the list.
    pub(super) fn new() -> io::Result<Self> {
        let descriptors = Dir::open(DESCRIPTORS, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        let (pair, null) = (UnixStream::pair()?, File::open("/dev/null")?);
        let mut sockets = Self { descriptors, pair, null, spares: Vec::new() };
        sockets.refill();
        Ok(sockets)
    }

    /// Takes new spares for those that others have taken.
    fn refill(&mut self) {
        while self.spares.len() < SPARES
            && let Ok(spare) = self.null.try_clone()
        {
            self.spares.push(spare.into());
        }
    }

    /// The open connections to one of `ports`, each with its descriptor.
    pub(super) fn open(&mut self, ports: &[u16]) -> io::Result<Vec<(RawFd, Identity)>> {
        self.refill();
        let connection = |number| {
            let inode = fs::metadata(format!("{DESCRIPTORS}/{number}")).ok()?.ino();
            Some((number, Identity { peer: peer(number)?, inode }))
        };
        Ok(self.at(ports)?.into_iter().filter_map(connection).collect())
    }

    /// The descriptors of sockets at one of `ports`.
    fn at(&mut self, ports: &[u16]) -> io::Result<Vec<RawFd>> {
        let mut numbers = Vec::new();
        for entry in self.descriptors.iter() {
            let entry = entry?;
            let Some(number) = entry.file_name().to_str().ok().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let local = getsockname::<SockaddrStorage>(number).ok().and_then(|address| std_address(&address));
            if local.is_some_and(|address| ports.contains(&address.port())) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    /// Shuts down the connection with this descriptor, if it is still this one; the task that serves it then ends. Returns
    /// whether it was.
    ///
    /// The connection may end at any time, and another socket then gets the number. So the descriptor is duplicated first: what
    /// the duplicate leads to cannot change between the comparison and the shutdown.
    ///
    /// # Errors
    /// The number is no descriptor any more, or none was left for the duplicate.
    pub(super) fn close(&mut self, number: RawFd, identity: Identity) -> io::Result<bool> {
        drop(self.spares.pop());
        let socket = File::from(self.duplicate(number)?);
        let is_same =
            peer(socket.as_raw_fd()) == Some(identity.peer) && socket.metadata()?.ino() == identity.inode;
        if is_same {
            // The peer may have ended the connection in the meantime.
            let _ = shutdown(&socket, Shutdown::Both);
        }
        // The duplicate becomes the next spare, without a moment in which another thread can take its number.
        let mut spare = OwnedFd::from(socket);
        dup2(&self.null, &mut spare)?;
        self.spares.push(spare);
        Ok(is_same)
    }

    /// Another descriptor of the same socket. It is sent through a pair of sockets, since the owner of this one is elsewhere.
    fn duplicate(&self, number: RawFd) -> io::Result<OwnedFd> {
        let (sender, receiver) = &self.pair;
        let rights = [number];
        let message = [ControlMessage::ScmRights(&rights)];
        sendmsg::<()>(sender.as_raw_fd(), &[IoSlice::new(&[0])], &message, MsgFlags::empty(), None)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        recvmsg(receiver, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let received = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        received.ok_or_else(|| io::ErrorKind::QuotaExceeded.into())
    }
}

/// Limits what the system buffers of each connection that is accepted at one of `ports` from now on. hyper reads as much in one turn
/// as the system has buffered, up to some 50 MiB, and for the framing of a chunked body it takes about a second for that, in which
/// no other task of its thread runs.
pub(crate) fn limit_receive_buffers(ports: &[u16]) -> io::Result<()> {
    let mut sockets = Sockets::new()?;
    for number in sockets.at(ports)?.into_iter().filter(|number| peer(*number).is_none()) {
        // Options are set only by owners of a descriptor.
        set_socket_recv_buffer_size(sockets.duplicate(number)?, RECEIVE_BUFFER)?;
    }
    Ok(())
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
    fn a_number_that_leads_to_another_connection_by_now_closes_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        let [first, second] = [(); 2].map(|()| listener.accept().unwrap().0);
        let mut sockets = Sockets::new().unwrap();
        let found = sockets.open(&[address.port()]).unwrap();
        assert_eq!(found.len(), 2, "neither the listener nor the clients' own ends");
        let number = first.as_raw_fd();
        let (_, identity) = *found.iter().find(|(found, _)| *found == number).unwrap();

        // The number is that of the second connection before the first one is closed.
        let mut reused = OwnedFd::from(first);
        dup2(&second, &mut reused).unwrap();
        assert!(!sockets.close(number, identity).unwrap());
        clients[1].set_nonblocking(true).unwrap();
        assert_eq!(clients[1].read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        clients[1].set_nonblocking(false).unwrap();
        // The same peer, but another socket.
        let peer = clients[1].local_addr().unwrap();
        assert!(!sockets.close(number, Identity { peer, ..identity }).unwrap());
        let found = sockets.open(&[address.port()]).unwrap();
        let (number, identity) = *found.iter().find(|(_, identity)| identity.peer == peer).unwrap();
        assert!(sockets.close(number, identity).unwrap());
        assert_eq!(clients[1].read(&mut [0]).unwrap(), 0, "the end");
        drop(reused);
        assert!(sockets.close(-1, identity).is_err());
        assert!(sockets.open(&[]).unwrap().is_empty());
    }
}
