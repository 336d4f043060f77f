//! Enums whose variants have names in arguments, configurations and reports.

/// Makes `ALL`, `name` and `named` of an enum from one table of its variants and their names.
macro_rules! names {
    ($type:ident { $($variant:ident => $name:literal,)+ }) => {
        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in arguments, configurations and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The one with that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }
        }
    };
}

pub(crate) use names;
