//! JSON in which duplicate members are noticed. `serde_json::Value` would keep the last of them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, map::Entry};

/// A JSON value, and the first name that an object in it has twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Json {
    /// The value, with the first of duplicate members.
    pub value: Value,
    /// The name.
    pub repeated: Option<String>,
}

impl Json {
    /// Parses exactly one value, which has at most `max_values` with those inside it: a short text of many takes a hundred times its
    /// length in memory. serde_json bounds the depth.
    ///
    /// # Errors
    /// Anything that is not one JSON value in UTF-8, with line and column. An error of the data is one of too many values.
    pub fn parse(bytes: &[u8], max_values: usize) -> Result<Self, serde_json::Error> {
        fn read<'de>(
            mut json: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
            left: usize,
        ) -> Result<Json, serde_json::Error> {
            let mut reader = Reader { repeated: None, left };
            let value = reader.deserialize(&mut json)?;
            json.end()?;
            Ok(Json { value, repeated: reader.repeated })
        }
        // Checking the encoding of the whole text is faster than checking each string, but does not give an error's position.
        match str::from_utf8(bytes) {
            Ok(text) => read(serde_json::Deserializer::from_str(text), max_values),
            Err(_) => read(serde_json::Deserializer::from_slice(bytes), max_values),
        }
    }
}

struct Reader {
    repeated: Option<String>,
    /// How many more values may follow.
    left: usize,
}

impl<'de> DeserializeSeed<'de> for &mut Reader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.left = self.left.checked_sub(1).ok_or_else(|| D::Error::custom("too many values"))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // JSON numbers are always finite.
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(&mut *self)?;
            match object.entry(name) {
                Entry::Vacant(entry) => drop(entry.insert(value)),
                Entry::Occupied(entry) => drop(self.repeated.get_or_insert_with(|| entry.key().clone())),
            }
        }
        Ok(object.into())
    }
}
