//! What the rows of variations do.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::lab::Call;
use crate::lab::call::Change;
use crate::lab::exchange::Reply;
use crate::target::Fact;

// The closures that words are.

macro_rules! closures {
    ($($(#[$doc:meta])* $name:ident: Fn($($argument:ty),+) $(-> $result:ty)?;)+) => {$(
        $(#[$doc])*
        pub(crate) trait $name: Fn($($argument),+) $(-> $result)? + Send + Sync {}
        impl<F: Fn($($argument),+) $(-> $result)? + Send + Sync> $name for F {}
    )+};
}

closures! {
    /// A change of the request.
    OnRequest: Fn(&mut Call<'_>);
    /// A change of a response.
    OnReply: Fn(&Call<'_>, &mut Reply);
    /// A change of the JSON body of a response.
    OnBody: Fn(&Call<'_>, &mut Value);
}

/// What a fault must know of the service, since it changes nothing without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The token of the main account.
    Token,
    /// A fact.
    Fact(Fact),
}

/// What a row does.
pub(crate) struct Act {
    pub(crate) change: Change,
}

impl Act {
    pub(crate) fn new<Kind>(act: impl IntoAct<Kind>) -> Self {
        act.into_act()
    }
}

/// What stands behind `=>` in a row. `Kind` only tells the implementations apart.
pub(crate) trait IntoAct<Kind> {
    fn into_act(self) -> Act;
}

impl IntoAct<()> for Act {
    fn into_act(self) -> Act {
        self
    }
}

impl IntoAct<Change> for Change {
    fn into_act(self) -> Act {
        Act { change: self }
    }
}

/// A change of the request, before it is forwarded.
impl<F: Fn(&mut Call<'_>) + Send + Sync + 'static> IntoAct<fn(&mut Call<'_>)> for F {
    fn into_act(self) -> Act {
        Change::Request(Box::new(self)).into_act()
    }
}

/// A change of every response.
impl<F: Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static> IntoAct<fn(&mut Reply)> for F {
    fn into_act(self) -> Act {
        Change::Reply(Box::new(self)).into_act()
    }
}

/// A change of the JSON body of the successes.
impl<F: Fn(&Call<'_>, &mut Value) + Send + Sync + 'static> IntoAct<fn(&mut Value)> for F {
    fn into_act(self) -> Act {
        accepted(move |call, reply| reply.edit(|body| self(call, body)))
    }
}

// Closures in rows, which need one of these to know what they get.

/// Changes the request.
pub(crate) fn request(change: impl Fn(&mut Call<'_>) + Send + Sync + 'static) -> Act {
    Act::new(change)
}

/// Changes every response.
pub(crate) fn reply(change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Act {
    Act::new(change)
}

/// Changes the responses that are successes.
pub(crate) fn accepted(change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Act {
    reply(move |call, reply| {
        if call.accepted(reply) {
            change(call, reply);
        }
    })
}

/// Changes the JSON body of the successes.
pub(crate) fn success<F: Fn(&Call<'_>, &mut Value) + Send + Sync + 'static>(change: F) -> F {
    change
}

/// Responds to the requests of every operation by itself.
pub(crate) fn serve(serve: impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync + 'static) -> Act {
    Act::new(Change::Serve(Box::new(serve)))
}
