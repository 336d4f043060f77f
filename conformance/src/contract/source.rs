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

/// A value of the generated file with its JSON pointer, which errors name. `$ref` is followed on every step.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    root: &'a Value,
    pub(super) pointer: String,
    pub(super) value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, pointer: String::new(), value: root }
    }

    /// The whole file.
    pub(super) fn root(&self) -> Self {
        Self::new(self.root)
    }

    /// The OpenAPI document, which is a member of the file.
    pub(super) fn document(&self) -> Result<Self, ContractError> {
        self.root().get("document")
    }

    /// The member `key`.
    pub(super) fn get(&self, key: &str) -> Result<Node<'a>, ContractError> {
        self.find(key).ok_or_else(|| self.wrong(&format!("expected a member `{key}`, found none")))
    }

    /// The member `key`, if it exists.
    pub(super) fn find(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.get(key)?;
        Some(self.at(key, value).resolved())
    }

    /// The value as a type that has a field for each member that is needed.
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Result<T, ContractError> {
        T::deserialize(self.value).map_err(|error| self.wrong(&error.to_string()))
    }

    /// The member `key`, if it exists.
    pub(super) fn optional<T: Deserialize<'a>>(&self, key: &str) -> Result<Option<T>, ContractError> {
        self.find(key).map(|node| node.read()).transpose()
    }

    /// The elements of an array.
    pub(super) fn items(&self) -> Result<Vec<Node<'a>>, ContractError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("expected an array"))?;
        let item = |(index, value): (usize, &'a Value)| self.at(&index.to_string(), value).resolved();
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The members of an object, in the order of the document.
    pub(super) fn members(&self) -> Result<Vec<(&'a str, Node<'a>)>, ContractError> {
        let members = self.value.as_object().ok_or_else(|| self.wrong("expected an object"))?;
        Ok(members.iter().map(|(key, value)| (key.as_str(), self.at(key, value).resolved())).collect())
    }

    pub(super) fn wrong(&self, message: &str) -> ContractError {
        ContractError::new(&self.pointer, message)
    }

    fn at(&self, key: &str, value: &'a Value) -> Node<'a> {
        let key = key.replace('~', "~0").replace('/', "~1");
        Node { root: self.root, pointer: format!("{}/{key}", self.pointer), value }
    }

    /// References point into the document. A dangling one, which xtask rejects, stays as it is and fails at the next access.
    fn resolved(self) -> Node<'a> {
        let target = self.value.get("$ref").and_then(Value::as_str);
        let Some(target) = target.and_then(|target| target.strip_prefix('#')) else { return self };
        let pointer = format!("/document{target}");
        match self.root.pointer(&pointer) {
            Some(value) => Node { root: self.root, pointer, value },
            None => self,
        }
    }
}
