//! The edge from outside: bytes in, bytes out, over real sockets. The application is a few lines per test, the
//! upstreams are raw sockets that write down what they see.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]
// Every task belongs to the runtime of its test and ends with it; a child process is told its part by its
// environment.
#![allow(clippy::disallowed_methods)]

mod body;
mod connections;
mod connector;
mod departure;
mod disconnect;
mod house;
mod http2;
mod peers;
mod streaming;
mod tls;
