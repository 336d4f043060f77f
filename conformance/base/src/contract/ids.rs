/// Defines an enum with a variant for each id of the document, sorted by id. It is displayed and serialized as its id.
macro_rules! ids {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $id:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $id)] $variant,)* }

        impl $name {
            /// All of them, sorted by id.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The id as the document writes it.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// The variant with that id; none for an unknown id.
            pub fn from_id(id: &str) -> Option<Self> {
                let index = Self::ALL.binary_search_by(|known| known.id().cmp(id)).ok()?;
                Self::ALL.get(index).copied()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.id())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let id: std::borrow::Cow<'de, str> = serde::Deserialize::deserialize(deserializer)?;
                Self::from_id(&id).ok_or_else(|| serde::de::Error::custom(format_args!("unknown id `{id}`")))
            }
        }

        impl schemars::JsonSchema for $name {
            fn is_referenceable() -> bool {
                false
            }

            fn schema_name() -> String {
                stringify!($name).to_owned()
            }

            fn json_schema(generator: &mut schemars::r#gen::SchemaGenerator) -> schemars::schema::Schema {
                String::json_schema(generator)
            }
        }
    };
}

pub(super) use ids;
