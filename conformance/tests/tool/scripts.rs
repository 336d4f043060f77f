//! Sessions with the program. `scripts/README.md` describes their lines.

use crate::support::session::play;

macro_rules! scripts {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            play(stringify!($name));
        }
    )+};
}

scripts! {
    action artefacts commands configurations endings evidence facts judged observed servers usage watch written
    busy discovery environments lab network runs wire
}
