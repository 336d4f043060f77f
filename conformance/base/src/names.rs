//! Enums whose variants have names in arguments, configurations and reports; and names that are made at run time.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::lock;

/// A text that lives as long as the program. Each is kept once, so only texts of a limited number may be.
pub fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = lock(&KEPT);
    let known = all.get(text).copied();
    known.unwrap_or_else(|| {
        let text: &'static str = text.to_owned().leak();
        all.insert(text);
        text
    })
}

/// Makes `ALL`, `name` and `named`, public or as it says, of an enum from a table of variants and names, which may declare it as well.
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* $visible:vis enum $type:ident { $($(#[$of:meta])* $variant:ident => $name:literal,)+ }) => {
        $(#[$meta])*
        $visible enum $type { $($(#[$of])* $variant,)+ }
        $crate::names! { $visible $type { $($variant => $name,)+ } }
    };
    ($type:ident { $($names:tt)+ }) => { $crate::names! { pub $type { $($names)+ } } };
    ($visible:vis $type:ident { $($variant:ident => $name:literal,)+ }) => {
        impl $type {
            /// All of them.
            $visible const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in arguments, configurations and reports.
            $visible const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The one with that name.
            $visible fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }
        }
    };
}
