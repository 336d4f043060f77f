use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose value is consistent even after a panic under the lock, because every change of it is a single step.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
