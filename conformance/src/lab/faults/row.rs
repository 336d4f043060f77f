//! Rows of the tables of faults: when a fault shows, and what it does. What a row needs to know of the service follows from the
//! words that it is made of.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::lab::Call;
use crate::lab::call::{Change, Condition};
use crate::lab::exchange::Reply;
use crate::target::Fact;

/// A table of faults. The ids of a section begin with the same text. A row is read like this:
///
/// ```text
/// "id": "What the server does wrong." of Operation if condition, condition => what it does;
/// ```
///
/// All conditions must hold; `of` and `if` may be left out. `"id" in [context, …]` is the same fault in each of several
/// contexts, in which alone it shows; `"id" + [context, …]` is the fault everywhere, and beside it once for each context. The
/// context ends the id and the sentence, which then has no full stop.
macro_rules! faults {
    ($($prefix:literal {
        $($id:literal $(+ [$($also:ident),+])? $(in [$($context:ident),+])?: $breaks:tt $(of $operation:ident)?
            $(if $($when:expr),+)? => $act:expr;)+
    })+) => {{
        let mut faults = Vec::new();
        $($(
            fault!(faults [$($(+ $also)+)? $($(in $context)+)?] $prefix $id $breaks
                { [$($operation)?] [$($($when),+)?] $act });
        )+)+
        faults
    }};
}

/// A row, as often as its contexts say.
macro_rules! fault {
    ($all:ident [] $prefix:literal $id:literal $breaks:tt $row:tt) => {
        fault!(@row $all concat!($prefix, $id), $breaks, [], $row)
    };
    ($all:ident [$(in $context:ident)+] $prefix:literal $id:literal $breaks:tt $row:tt) => {
        $(context!($context $all [$prefix, $id] $breaks $row);)+
    };
    ($all:ident [$(+ $context:ident)+] $prefix:literal $id:literal $breaks:tt $row:tt) => {
        fault!(@row $all concat!($prefix, $id), concat!($breaks, "."), [], $row);
        $(context!($context $all [$prefix, $id, "-"] $breaks $row);)+
    };
    (@row $all:ident $id:expr, $breaks:expr, [$($context:path)?],
        { [$($operation:ident)?] [$($when:expr),*] $act:expr }) => {
        $all.extend([
            $crate::lab::Fault::row($id, $breaks, $crate::lab::faults::row::Act::new($act))
                $(.only($crate::contract::OperationId::$operation))?
                $(.whenever($crate::lab::faults::row::When::new($when)))*
                $(.whenever($crate::lab::faults::row::When::new($context)))?
        ])
    };
}

/// The contexts: how each ends the id and the sentence of a fault, and its condition.
macro_rules! context {
    (in_text $($row:tt)*) => { context!(@ "in-text", " in plain text.", condition::in_text, $($row)*) };
    (text $($row:tt)*) => { context!(@ "in-text", " in text.", condition::in_text, $($row)*) };
    (by_query $($row:tt)*) => { context!(@ "by-query", " when the token is in the query.", condition::by_query, $($row)*) };
    (by_header $($row:tt)*) => { context!(@ "by-header", " when the token is in X-API-Key.", condition::by_header, $($row)*) };
    (by_bearer $($row:tt)*) => { context!(@ "by-bearer", " when the token is in Authorization.", condition::by_bearer, $($row)*) };
    (other_protocol $($row:tt)*) => {
        context!(@ "other-protocol", " for the other protocol.", condition::with_other_protocol, $($row)*)
    };
    (request_id $($row:tt)*) => {
        context!(@ "with-request-id", " when a request id is sent.", condition::with_request_id, $($row)*)
    };
    (ports $($row:tt)*) => { context!(@ "with-ports", " when all items have ports.", search::all_with_ports, $($row)*) };
    (@ $end:literal, $says:literal, $module:ident::$condition:ident, $all:ident [$($id:literal),+] $breaks:tt $row:tt) => {
        fault!(@row $all concat!($($id,)+ $end), concat!($breaks, $says), [$crate::lab::faults::$module::$condition], $row)
    };
}

// The closures that words are.

macro_rules! closures {
    ($($(#[$doc:meta])* $name:ident: Fn($($argument:ty),+) $(-> $result:ty)?;)+) => {$(
        $(#[$doc])*
        pub(crate) trait $name: Fn($($argument),+) $(-> $result)? + Send + Sync {}
        impl<F: Fn($($argument),+) $(-> $result)? + Send + Sync> $name for F {}
    )+};
}

closures! {
    /// A condition.
    OnCall: Fn(&Call<'_>) -> bool;
    /// A change of the request.
    OnRequest: Fn(&mut Call<'_>);
    /// A change of a response.
    OnReply: Fn(&Call<'_>, &mut Reply);
    /// A change of the JSON body of a response.
    OnBody: Fn(&Call<'_>, &mut Value);
    /// A change of the gateways, groups or instances of a response.
    OnList: Fn(&Call<'_>, &mut Vec<Value>);
}

/// What a fault must know of the service, since it changes nothing without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The token of the main account.
    Token,
    /// A fact.
    Fact(Fact),
}

/// A condition of a row.
pub(crate) struct When {
    pub(crate) holds: Condition,
    pub(crate) needs: Vec<Need>,
}

impl When {
    pub(crate) fn new<Kind>(when: impl IntoWhen<Kind>) -> Self {
        when.into_when()
    }

    /// The same with another need.
    pub(crate) fn needs(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }
}

/// What stands behind `if` in a row. `Kind` only tells the implementations apart.
pub(crate) trait IntoWhen<Kind> {
    fn into_when(self) -> When;
}

impl IntoWhen<()> for When {
    fn into_when(self) -> When {
        self
    }
}

impl<F: Fn(&Call<'_>) -> bool + Send + Sync + 'static> IntoWhen<fn(&Call<'_>)> for F {
    fn into_when(self) -> When {
        When { holds: Box::new(self), needs: Vec::new() }
    }
}

/// A condition of its own.
pub(crate) fn that(holds: impl Fn(&Call<'_>) -> bool + Send + Sync + 'static) -> When {
    When::new(holds)
}

pub(crate) fn known(fact: Fact) -> When {
    that(move |call| call.facts.has(fact)).needs(Need::Fact(fact))
}

/// A condition does not hold, for which nothing need be known.
pub(crate) fn not<Kind>(when: impl IntoWhen<Kind>) -> When {
    let When { holds, needs: _ } = when.into_when();
    that(move |call| !holds(call))
}

/// What a row does.
pub(crate) struct Act {
    pub(crate) change: Change,
    pub(crate) needs: Vec<Need>,
}

impl Act {
    pub(crate) fn new<Kind>(act: impl IntoAct<Kind>) -> Self {
        act.into_act()
    }

    /// The same with another need.
    pub(crate) fn needs(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
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
        Act { change: self, needs: Vec::new() }
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

/// A change of the gateways, groups or instances of the successes.
impl<F: Fn(&Call<'_>, &mut Vec<Value>) + Send + Sync + 'static> IntoAct<fn(&mut Vec<Value>)> for F {
    fn into_act(self) -> Act {
        Act::new(success(move |call, body| {
            if let Some(items) = call.list(body) {
                self(call, items);
            }
        }))
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

/// Changes the gateways, groups or instances of the successes.
pub(crate) fn list(change: impl Fn(&Call<'_>, &mut Vec<Value>) + Send + Sync + 'static) -> Act {
    Act::new(change)
}

/// Changes the JSON body of the successes that list no groups or instances.
pub(crate) fn empty(change: impl Fn(&Call<'_>, &mut Value) + Send + Sync + 'static) -> Act {
    Act::new(success(move |call, body| {
        if body["data"]["items"] == json!([]) {
            change(call, body);
        }
    }))
}

/// Changes the successes that list no groups or instances.
pub(crate) fn when_empty(change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Act {
    accepted(move |call, reply| {
        if reply.json()["data"]["items"] == json!([]) {
            change(call, reply);
        }
    })
}

/// Changes the rejections.
pub(crate) fn rejection(change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Act {
    reply(move |call, reply| {
        if reply.status.as_u16() >= 400 {
            change(call, reply);
        }
    })
}

/// Changes the JSON body of the rejections.
pub(crate) fn error(change: impl Fn(&Call<'_>, &mut Value) + Send + Sync + 'static) -> Act {
    rejection(move |call, reply| reply.edit(|body| change(call, body)))
}

/// Changes the JSON body of the successes by what another request finds; `ask` turns the request into that one.
pub(crate) fn compared(
    ask: impl Fn(&mut Call<'_>) + Send + Sync + 'static,
    change: impl Fn(&Call<'_>, &Value, &mut Value) + Send + Sync + 'static,
) -> Act {
    Act::new(Change::Compared(Box::new(ask), Box::new(change)))
}

/// Responds to the requests of every operation by itself.
pub(crate) fn serve(serve: impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync + 'static) -> Act {
    Act::new(Change::Serve(Box::new(serve)))
}

/// Takes the token out of the request, so that the server rejects it.
pub(crate) fn reject(call: &mut Call<'_>) {
    call.reject();
}

/// Serves the request as one of the main account.
pub(crate) fn as_main() -> Act {
    request(|call| call.as_main()).needs(Need::Token)
}
