//! Room for bodies that arrive: memory that strangers fill, since a body is read before anything is known of its caller.

use tokio::sync::{Semaphore, SemaphorePermit};

use super::body::MAX_BYTES;

/// So many bytes of bodies may be held at once, by all callers together.
#[derive(Debug)]
pub struct Room(Semaphore);

/// There is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The room that one body takes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    room: &'a Room,
    permit: Option<SemaphorePermit<'a>>,
}

impl Room {
    /// Room for that many of the largest bodies.
    pub(crate) fn for_bodies(number: usize) -> Self {
        Self(Semaphore::new(number.saturating_mul(MAX_BYTES).min(Semaphore::MAX_PERMITS)))
    }

    /// A body of which nothing has arrived.
    pub(crate) const fn empty(&self) -> Taken<'_> {
        Taken { room: self, permit: None }
    }
}

impl Taken<'_> {
    /// So many more bytes have arrived.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        let more = u32::try_from(bytes).map_err(|_| Full)?;
        let more = self.room.0.try_acquire_many(more).map_err(|_| Full)?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_share_their_room_and_give_it_back() {
        let room = Room::for_bodies(2);
        let (mut one, mut other) = (room.empty(), room.empty());
        assert_eq!((one.grow(MAX_BYTES), one.grow(10), other.grow(MAX_BYTES - 10)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(other.grow(1), Err(Full));
        drop(one);
        assert_eq!(other.grow(MAX_BYTES + 10), Ok(()));
        assert_eq!(other.grow(1), Err(Full));
    }
}
