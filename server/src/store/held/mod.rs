//! What extractions need, in memory, whatever database it was read from. How long it may be used is for each store to say.

mod account;
mod limited;
mod ring;

pub(super) use self::{
    account::{Account, Entry},
    limited::Limited,
    ring::{Ring, Rings},
};
