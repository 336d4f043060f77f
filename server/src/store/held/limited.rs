//! A map with a bound.

use std::{collections::HashMap, hash::Hash, mem};

/// Most of what one map holds, in entries: whitelist entries and tokens together, or gateways.
const MOST: usize = 1 << 18;

/// A map that takes no more memory than so much, whatever callers ask for.
#[derive(Debug)]
pub(in crate::store) struct Limited<K, V> {
    /// Values with their weights.
    values: HashMap<K, (V, usize)>,
    weight: usize,
}

impl<K: Eq + Hash, V> Limited<K, V> {
    pub(in crate::store) fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key).map(|(value, _)| value)
    }

    pub(in crate::store) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(key).map(|(value, _)| value)
    }

    /// Holds a value that takes so many entries, in place of an earlier one, and gives what has to go for it. One that
    /// takes too many is not held.
    #[must_use = "to let go of much takes its time, and is better done when no lock is held"]
    pub(in crate::store) fn insert(&mut self, key: K, value: V, weight: usize) -> Gone<K, V> {
        let mut gone = Gone::new();
        if let Some((key, (value, weight))) = self.values.remove_entry(&key) {
            self.weight -= weight;
            gone.insert(key, (value, weight));
        }
        if weight > MOST {
            gone.insert(key, (value, weight));
            return gone;
        }
        if self.weight + weight > MOST {
            gone.extend(mem::take(&mut self.values));
            self.weight = 0;
        }
        self.weight += weight;
        self.values.insert(key, (value, weight));
        gone
    }
}

/// Values that were held, with their weights.
pub(in crate::store) type Gone<K, V> = HashMap<K, (V, usize)>;

impl<K, V> Default for Limited<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), weight: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_goes_and_what_is_replaced_does_not_count() {
        let mut held = Limited::default();
        for round in 0..10 {
            let gone = held.insert("a", round, MOST / 2);
            assert_eq!(gone.len(), usize::from(round > 0));
        }
        assert!(held.insert("b", 2, MOST / 2).is_empty());
        // It is full now, and stays so.
        assert_eq!(held.insert("a", 1, MOST / 2).len(), 1);
        assert_eq!((held.get(&"a"), held.get(&"b")), (Some(&1), Some(&2)));
        assert_eq!(held.insert("c", 3, 1).len(), 2);
        assert_eq!((held.get(&"a"), held.get(&"b"), held.get(&"c")), (None, None, Some(&3)));
        assert!(held.insert("d", 4, MOST - 1).is_empty());
        assert_eq!((held.get(&"c"), held.get(&"d")), (Some(&3), Some(&4)));
        assert_eq!(held.insert("c", 5, MOST + 1).len(), 1, "the old value; the new one has the same key");
        assert_eq!((held.get(&"c"), held.get(&"d")), (None, Some(&4)));
    }
}
