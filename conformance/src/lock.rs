use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose value is consistent even when a thread panicked while it held the lock, because every change of the
/// value is a single step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
