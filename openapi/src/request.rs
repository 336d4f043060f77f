//! The values of one request, beside the operation that it is for.

use serde::de::{DeserializeOwned, value::MapDeserializer};
use serde_json::{Error, Value};

use crate::table::{Location, Operation, Part, Substitute};

/// The value of each parameter, and the body last; the token is no part of it.
///
/// Values stand in the order of the operation's parts, because a map would hash every name several times for each request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'o> {
    operation: &'o Operation,
    values: Vec<Option<Value>>,
}

impl<'o> Request<'o> {
    /// A request without values.
    #[must_use]
    pub fn new(operation: &'o Operation) -> Self {
        Self {
            operation,
            values: vec![None; operation.parameters.len() + usize::from(operation.body.is_some())],
        }
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> &'o Operation {
        self.operation
    }

    /// The parts with their values.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'o Part, Option<&Value>)> {
        self.operation.parts().zip(self.values.iter().map(Option::as_ref))
    }

    /// The value of a part.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values[self.find(|part| is(&part.name, name))?].as_ref()
    }

    /// The part that is sent under a name, and the place of its value; `None` where the operation has no such part.
    pub fn sent(&mut self, location: Location, name: &str) -> Option<(&'o Part, &mut Option<Value>)> {
        let place = self.find(|part| part.location == location && is(&part.name, name))?;
        let part = self.operation.parameters.get(place).or(self.operation.body.as_ref())?;
        Some((part, &mut self.values[place]))
    }

    /// The place of such a part.
    fn find(&self, is_it: impl Fn(&Part) -> bool) -> Option<usize> {
        let Operation { parameters, body, .. } = self.operation;
        let is_body = || body.as_ref().filter(|body| is_it(body)).map(|_| parameters.len());
        parameters.iter().position(&is_it).or_else(is_body)
    }

    /// Adds what absent parts stand for: another name or a header, and defaults inside of parts. The request must have passed
    /// [`check`](Self::check).
    pub fn complete(&mut self) {
        for Substitute { parameter, by } in &self.operation.substitutes {
            let Some(substitute) = self.place(by).and_then(Option::take) else { continue };
            if let Some(place @ None) = self.place(parameter) {
                *place = Some(substitute);
            }
        }
        for (part, value) in self.operation.parts().zip(&mut self.values) {
            if let Some(value) = value {
                part.schema.add_defaults(value);
            }
        }
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<Value>> {
        let place = self.find(|part| is(&part.name, name))?;
        Some(&mut self.values[place])
    }

    /// The request as a type that has a field for each part. An absent part is its default.
    ///
    /// # Errors
    /// The type differs from what the document says.
    pub fn deserialize<T: DeserializeOwned>(self) -> Result<T, Error> {
        let given = |(part, value): (&'o Part, _)| {
            Some((part.name.as_str(), Option::or(value, part.schema.default.as_ref())?))
        };
        let given = self.operation.parts().zip(self.values.iter().map(Option::as_ref)).filter_map(given);
        T::deserialize(MapDeserializer::<_, Error>::new(given))
    }
}

/// Compares bytes, because `==` calls a function, and most names differ in the first byte.
fn is(known: &str, name: &str) -> bool {
    known.len() == name.len() && known.bytes().eq(name.bytes())
}
