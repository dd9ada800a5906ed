//! Runs a test against the shared gateway on each engine.

/// `on_both_engines! { name, … }` makes `name::sqlite` and `name::postgres` of each `async fn name(&World)`.
macro_rules! on_both_engines {
    ($($name:ident),* $(,)?) => { $(mod $name {
        #[tokio::test]
        async fn sqlite() {
            super::$name(&*svc_tests::world::World::sqlite().await).await;
        }

        #[tokio::test]
        async fn postgres() {
            super::$name(&*svc_tests::world::World::postgres().await).await;
        }
    })* };
}

/// The same on SQLite alone, for what no state bears upon.
macro_rules! on_sqlite {
    ($($name:ident),* $(,)?) => { $(mod $name {
        #[tokio::test]
        async fn sqlite() {
            super::$name(&*svc_tests::world::World::sqlite().await).await;
        }
    })* };
}

/// The same against the shared gateway with small limits and short deadlines.
macro_rules! on_impatient {
    ($($name:ident),* $(,)?) => { $(mod $name {
        #[tokio::test]
        async fn sqlite() {
            super::$name(&*svc_tests::world::World::impatient().await).await;
        }
    })* };
}

/// The same on SQLite, each test against a gateway that no other test can disturb.
macro_rules! on_worlds_of_their_own {
    ($($name:ident),* $(,)?) => { $(mod $name {
        #[tokio::test]
        async fn sqlite() {
            super::$name(&svc_tests::world::World::start(None).await).await;
        }
    })* };
}

pub(crate) use {on_both_engines, on_impatient, on_sqlite, on_worlds_of_their_own};
