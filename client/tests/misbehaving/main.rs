//! Servers that misbehave: the right error, no hang, no second extraction.

mod arguments;
#[path = "../faulty/mod.rs"]
mod faulty;
mod responses;
mod retries;

/// So many addresses to search for, all of them different.
fn addresses(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("10.0.{}.{}", n / 256, n % 256)).collect()
}
