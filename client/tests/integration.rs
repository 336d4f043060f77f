//! The client against servers that behave and that do not. All in one program, so that tests which wait do so side by side.

mod calls;
mod cancellation;
#[cfg(feature = "cli")]
mod cli;
mod faulty;
mod middleware;
mod misbehaving;
mod public_api;
mod reference;
mod secrets;
mod sessions;
mod types;
