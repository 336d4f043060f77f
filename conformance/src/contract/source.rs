use serde_json::Value;

/// The generated file as JSON, with access that names the pointer when something is not there.
#[derive(Debug)]
pub(super) struct Source {
    root: Value,
}

/// The embedded contract lacks something, or holds something that the suite does not know.
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

/// A value of the file together with the pointer that leads to it. `$ref` is followed on every step.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    root: &'a Value,
    pub(super) pointer: String,
    pub(super) value: &'a Value,
}

impl Source {
    pub(super) fn parse(text: &str) -> Result<Self, ContractError> {
        let root = serde_json::from_str(text)
            .map_err(|error| ContractError::new("", format!("expected JSON: {error}")))?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> Node<'_> {
        Node { root: &self.root, pointer: String::new(), value: &self.root }
    }

    /// The lowered component schemas, ready to become `$defs`.
    pub(super) fn schemas(&self) -> Result<&Value, ContractError> {
        Ok(self.root().get("schemas")?.value)
    }
}

impl<'a> Node<'a> {
    /// The member `key`.
    pub(super) fn get(&self, key: &str) -> Result<Node<'a>, ContractError> {
        self.find(key).ok_or_else(|| self.wrong(&format!("expected a member `{key}`, found none")))
    }

    /// The member `key`, if there is one.
    pub(super) fn find(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.get(key)?;
        Some(self.at(key, value).resolved())
    }

    /// The elements of an array, or of the optional member `key` when there is one.
    pub(super) fn items(&self) -> Result<Vec<Node<'a>>, ContractError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("expected an array"))?;
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| self.at(&index.to_string(), value).resolved())
            .collect())
    }

    /// The members of an object, in the order of the document.
    pub(super) fn members(&self) -> Result<Vec<(&'a str, Node<'a>)>, ContractError> {
        let members = self.value.as_object().ok_or_else(|| self.wrong("expected an object"))?;
        Ok(members.iter().map(|(key, value)| (key.as_str(), self.at(key, value).resolved())).collect())
    }

    pub(super) fn string(&self) -> Result<&'a str, ContractError> {
        self.value.as_str().ok_or_else(|| self.wrong("expected a string"))
    }

    pub(super) fn integer(&self) -> Result<i64, ContractError> {
        self.value.as_i64().ok_or_else(|| self.wrong("expected an integer"))
    }

    pub(super) fn boolean(&self) -> Result<bool, ContractError> {
        self.value.as_bool().ok_or_else(|| self.wrong("expected true or false"))
    }

    pub(super) fn wrong(&self, message: &str) -> ContractError {
        ContractError::new(&self.pointer, message)
    }

    fn at(&self, key: &str, value: &'a Value) -> Node<'a> {
        let key = key.replace('~', "~0").replace('/', "~1");
        Node { root: self.root, pointer: format!("{}/{key}", self.pointer), value }
    }

    /// References point into the document, which is one member of the file. A dangling one stays as it is and fails
    /// at the first query; xtask has rejected it long before.
    fn resolved(self) -> Node<'a> {
        let target =
            self.value.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        let Some(target) = target else { return self };
        let pointer = format!("/document{target}");
        match self.root.pointer(&pointer) {
            Some(value) => Node { root: self.root, pointer, value },
            None => self,
        }
    }
}
