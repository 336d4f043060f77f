use serde::Serialize;

use super::source::{ContractError, Node, Source};
use super::{Clause, Unspecified};

/// The clauses and the unspecified behaviour of the document.
#[derive(Debug)]
pub struct Catalogue {
    clauses: Vec<ClauseEntry>,
    unspecified: Vec<UnspecifiedEntry>,
}

/// A clause of the document.
#[derive(Debug, Clone, Serialize)]
pub struct ClauseEntry {
    /// The id that checks and reports cite.
    pub id: Clause,
    /// Section of the prose contract.
    pub section: String,
    /// The rule in one sentence.
    pub text: String,
    /// Whether a response over HTTP can show that a server keeps it.
    pub observable: bool,
    /// Why not, if it cannot.
    pub reason: Option<String>,
    /// The sentences that presuppose it, where the contract does not state it.
    pub inferred: Option<String>,
    /// The same for what it says of null alone.
    pub inferred_null: Option<String>,
    /// Line in `openapi/openapi.yaml`, from 1.
    pub line: u64,
}

/// An unspecified behaviour of the document.
#[derive(Debug, Clone, Serialize)]
pub struct UnspecifiedEntry {
    /// The id that observations cite.
    pub id: Unspecified,
    /// What is open.
    pub text: String,
}

impl ClauseEntry {
    /// What a finding on it is inferred from, when the contract does not state it. `of_null` is set when what was found is
    /// null.
    #[must_use]
    pub fn inferred_from(&self, of_null: bool) -> Option<&str> {
        self.inferred.as_deref().or_else(|| self.inferred_null.as_deref().filter(|_| of_null))
    }
}

impl Catalogue {
    pub(super) fn read(source: &Source) -> Result<Self, ContractError> {
        let root = source.root();
        let clauses = root.get("clauses")?.items()?.iter().map(clause).collect::<Result<Vec<_>, _>>()?;
        let unspecified =
            root.get("unspecified")?.items()?.iter().map(unspecified).collect::<Result<Vec<_>, _>>()?;
        let complete = clauses.iter().map(|entry| entry.id).eq(Clause::ALL.iter().copied())
            && unspecified.iter().map(|entry| entry.id).eq(Unspecified::ALL.iter().copied());
        if !complete {
            return Err(root.wrong("expected the ids of `generated/clause.rs`, sorted, each of them once"));
        }
        Ok(Self { clauses, unspecified })
    }

    /// Every clause, sorted by id.
    #[must_use]
    pub fn clauses(&self) -> &[ClauseEntry] {
        &self.clauses
    }

    /// A clause of the document.
    #[must_use]
    pub fn clause(&self, clause: Clause) -> &ClauseEntry {
        // `read` has shown that there is one entry for each variant, in their order.
        &self.clauses[clause as usize]
    }

    /// The entry of an unspecified behaviour.
    #[must_use]
    pub fn unspecified(&self, unspecified: Unspecified) -> &UnspecifiedEntry {
        &self.unspecified[unspecified as usize]
    }
}

fn clause(node: &Node<'_>) -> Result<ClauseEntry, ContractError> {
    let id = node.get("id")?;
    let text = |key| node.find(key).map(|text| text.string().map(str::to_owned)).transpose();
    Ok(ClauseEntry {
        id: Clause::from_id(id.string()?).ok_or_else(|| id.wrong("unknown clause"))?,
        section: node.get("section")?.string()?.to_owned(),
        text: node.get("text")?.string()?.to_owned(),
        observable: node.get("observable")?.boolean()?,
        reason: text("reason")?,
        inferred: text("inferred")?,
        inferred_null: text("inferred-null")?,
        line: u64::try_from(node.get("line")?.integer()?)
            .map_err(|_| node.wrong("expected a line from 1"))?,
    })
}

fn unspecified(node: &Node<'_>) -> Result<UnspecifiedEntry, ContractError> {
    let id = node.get("id")?;
    Ok(UnspecifiedEntry {
        id: Unspecified::from_id(id.string()?).ok_or_else(|| id.wrong("unknown unspecified behaviour"))?,
        text: node.get("text")?.string()?.to_owned(),
    })
}
