use serde::Deserialize;
use serde_json::Value;

/// The embedded contract lacks something, or contains something unknown to the suite.
#[derive(Debug, thiserror::Error)]
#[error("contract.json at `{pointer}`: {message}")]
pub struct ContractError {
    pointer: String,
    message: String,
}

impl ContractError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// A value of the generated file, whose references were [inlined](inline), with its JSON pointer, which errors name.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) pointer: String,
    pub(super) value: &'a Value,
}

impl<'a> Node<'a> {
    /// The value at a pointer from here.
    pub(super) fn get(&self, pointer: &str) -> Result<Node<'a>, ContractError> {
        self.find(pointer).ok_or_else(|| self.wrong(&format!("expected `{}`, found none", &pointer[1..])))
    }

    /// The same, if it exists.
    pub(super) fn find(&self, pointer: &str) -> Option<Node<'a>> {
        let value = self.value.pointer(pointer)?;
        Some(Node { pointer: format!("{}{pointer}", self.pointer), value })
    }

    /// The value at a pointer from here, as a type that has a field for each member that is needed.
    pub(super) fn read<T: Deserialize<'a>>(&self, pointer: &str) -> Result<T, ContractError> {
        let node = self.get(pointer)?;
        T::deserialize(node.value).map_err(|error| node.wrong(&error.to_string()))
    }

    /// The same, or its default if it does not exist.
    pub(super) fn optional<T: Deserialize<'a> + Default>(&self, pointer: &str) -> Result<T, ContractError> {
        self.find(pointer).map_or_else(|| Ok(T::default()), |node| node.read(""))
    }

    /// The elements of an array or the members of an object by their names, in the order of the document.
    pub(super) fn members(&self) -> Result<Vec<(String, Node<'a>)>, ContractError> {
        let names: Vec<String> = match self.value {
            Value::Object(members) => members.keys().cloned().collect(),
            Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
            _ => return Err(self.wrong("expected an array or an object")),
        };
        let member = |name: String| {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            Ok((name, self.get(&pointer)?))
        };
        names.into_iter().map(member).collect()
    }

    pub(super) fn wrong(&self, message: &str) -> ContractError {
        ContractError::new(&self.pointer, message)
    }
}

/// Puts what a reference points to beside it. A dangling one, which xtask rejects, fails at the next access.
pub(super) fn inline(value: &mut Value, document: &Value) {
    let target = value.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    if let Some(Value::Object(target)) = target.and_then(|target| document.pointer(target)).cloned()
        && let Value::Object(members) = value
    {
        members.extend(target);
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| inline(member, document)),
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, document)),
        _ => {}
    }
}
