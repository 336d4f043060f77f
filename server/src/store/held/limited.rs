//! A map with a bound.

use std::{collections::HashMap, hash::Hash};

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

    /// Holds a value that takes so many entries, in place of an earlier one.
    pub(in crate::store) fn insert(&mut self, key: K, value: V, weight: usize) {
        if self.weight + weight > MOST {
            self.values.clear();
            self.weight = 0;
        }
        self.weight += weight;
        if let Some((_, weight)) = self.values.insert(key, (value, weight)) {
            self.weight -= weight;
        }
    }
}

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
        for _ in 0..10 {
            held.insert("a", 1, MOST / 2);
        }
        held.insert("b", 2, MOST / 2);
        assert_eq!((held.get(&"a"), held.get(&"b")), (Some(&1), Some(&2)));
        held.insert("c", 3, 1);
        assert_eq!((held.get(&"a"), held.get(&"b"), held.get(&"c")), (None, None, Some(&3)));
        held.insert("d", 4, MOST - 1);
        assert_eq!((held.get(&"c"), held.get(&"d")), (Some(&3), Some(&4)));
    }
}
