use serde::Serialize;

use super::source::{ContractError, Node, Source};

/// All clauses and all silences, sorted by id.
#[derive(Debug)]
pub struct Catalogue {
    clauses: Vec<Clause>,
    silences: Vec<Silence>,
}

/// One rule of the contract.
#[derive(Debug, Clone, Serialize)]
pub struct Clause {
    /// The id that checks and reports cite.
    pub id: String,
    /// Section of the prose contract.
    pub section: String,
    /// The rule in one sentence.
    pub text: String,
    /// Whether an answer over HTTP can show that a server keeps it.
    pub observable: bool,
    /// Why not, where it can't.
    pub reason: Option<String>,
    /// Line in `openapi/openapi.yaml`, from 1.
    pub line: u64,
}

/// Something that the contract leaves open. No check may fail on it.
#[derive(Debug, Clone, Serialize)]
pub struct Silence {
    /// The id that observations cite, `open.…`.
    pub id: String,
    /// What is open.
    pub text: String,
}

impl Catalogue {
    pub(super) fn read(source: &Source) -> Result<Self, ContractError> {
        let root = source.root();
        let clauses = root.get("clauses")?.items()?.iter().map(clause).collect::<Result<Vec<_>, _>>()?;
        let silences =
            root.get("unspecified")?.items()?.iter().map(silence).collect::<Result<Vec<_>, _>>()?;
        if !clauses.is_sorted_by(|a, b| a.id < b.id) || !silences.is_sorted_by(|a, b| a.id < b.id) {
            return Err(root.wrong("expected clauses and silences sorted by id, each id once"));
        }
        Ok(Self { clauses, silences })
    }

    /// Every clause, sorted by id.
    #[must_use]
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Every silence, sorted by id.
    #[must_use]
    pub fn silences(&self) -> &[Silence] {
        &self.silences
    }

    /// The clause with that id.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.clauses
            .binary_search_by(|clause| clause.id.as_str().cmp(id))
            .ok()
            .map(|index| &self.clauses[index])
    }

    /// The silence with that id.
    #[must_use]
    pub fn silence(&self, id: &str) -> Option<&Silence> {
        let index = self.silences.binary_search_by(|silence| silence.id.as_str().cmp(id)).ok()?;
        Some(&self.silences[index])
    }
}

fn clause(node: &Node<'_>) -> Result<Clause, ContractError> {
    Ok(Clause {
        id: node.get("id")?.string()?.to_owned(),
        section: node.get("section")?.string()?.to_owned(),
        text: node.get("text")?.string()?.to_owned(),
        observable: node.get("observable")?.boolean()?,
        reason: node.find("reason").map(|reason| reason.string().map(str::to_owned)).transpose()?,
        line: u64::try_from(node.get("line")?.integer()?)
            .map_err(|_| node.wrong("expected a line from 1"))?,
    })
}

fn silence(node: &Node<'_>) -> Result<Silence, ContractError> {
    Ok(Silence { id: node.get("id")?.string()?.to_owned(), text: node.get("text")?.string()?.to_owned() })
}
