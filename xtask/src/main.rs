//! Makes code from the document, and proves that what is there follows from it.
#![allow(dead_code, reason = "until the driver below uses every room; removed with the first full driver")]

mod artifact;
mod document;
mod emit;
mod model;
mod problem;

fn main() {}
