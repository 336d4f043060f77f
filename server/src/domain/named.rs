//! Enums whose values have names.

/// Names the values of an enum, as storage, imports and the command line write them.
#[macro_export]
#[doc(hidden)]
macro_rules! named {
    ($kind:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $kind {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name of every value.
            pub const NAMES: [&'static str; Self::ALL.len()] = [$($name),+];

            /// The value's name in storage, in imports and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name),+ }
            }

            /// The value with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
