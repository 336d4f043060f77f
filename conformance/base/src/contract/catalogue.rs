use serde::{Deserialize, Serialize};

use super::source::{ContractError, Node};
use super::{Clause, Unspecified};

/// The clauses and the unspecified behaviour of the document.
#[derive(Debug)]
pub struct Catalogue {
    /// Every clause, sorted by id.
    pub clauses: Vec<ClauseEntry>,
    unspecified: Vec<UnspecifiedEntry>,
}

/// A clause of the document.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// The sentences that presuppose it, if the contract does not state it.
    pub inferred: Option<String>,
    /// The sentences that presuppose what it says about null, if the contract does not state that.
    #[serde(rename(deserialize = "inferred-null"))]
    pub inferred_null: Option<String>,
    /// Line in `openapi/openapi.yaml`, from 1.
    #[serde(skip_deserializing)]
    pub line: u64,
}

/// An unspecified behaviour of the document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UnspecifiedEntry {
    /// The id that observations cite.
    pub id: Unspecified,
    /// What the contract leaves open.
    pub text: String,
}

impl ClauseEntry {
    /// The sentences from which a finding, perhaps about null, is inferred, if the contract does not state the clause.
    pub fn inferred_from(&self, of_null: bool) -> Option<&str> {
        self.inferred.as_deref().or_else(|| self.inferred_null.as_deref().filter(|_| of_null))
    }
}

impl Catalogue {
    pub(super) fn read(file: &Node<'_>) -> Result<Self, ContractError> {
        let mut clauses: Vec<ClauseEntry> = file.read("/document/x-clauses")?;
        let unspecified: Vec<UnspecifiedEntry> = file.read("/document/x-unspecified")?;
        for entry in &mut clauses {
            entry.line = file.read(&format!("/lines/{}", entry.id))?;
        }
        let is_complete = clauses.iter().map(|entry| entry.id).eq(Clause::ALL.iter().copied())
            && unspecified.iter().map(|entry| entry.id).eq(Unspecified::ALL.iter().copied());
        if !is_complete {
            return Err(file.wrong("expected the ids of `generated/clause.rs`, sorted, each of them once"));
        }
        Ok(Self { clauses, unspecified })
    }

    /// The clauses that responses over HTTP can show.
    pub fn observable(&self) -> impl Iterator<Item = &ClauseEntry> {
        self.clauses.iter().filter(|clause| clause.observable)
    }

    /// A clause of the document.
    pub fn clause(&self, clause: Clause) -> &ClauseEntry {
        // `read` ensures that there is one entry for each variant, in their order.
        &self.clauses[clause as usize]
    }

    /// The entry of an unspecified behaviour.
    pub fn unspecified(&self, unspecified: Unspecified) -> &UnspecifiedEntry {
        &self.unspecified[unspecified as usize]
    }
}
