//! The suite, its program and its lab over real sockets. All in one program, so that tests which wait do so side by side, and the
//! suite is linked once. What has a list of tests of its own stands apart: `proof`, `client` and `each_check`.

mod https;
mod lab;
mod readmes;
mod suite;
mod support;
mod tool;
