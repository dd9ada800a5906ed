//! File descriptors of this process: a gateway that has none left takes no connection, not even that of a health check.
//! Systems give a process few at first, and many more if it asks.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A caller's connection, and that of the request on it to a provider or an integration. HTTP/2 has room for more requests
/// on one connection; runs of models have at most as many connections as there are instances of plugins, and what
/// integrations are asked has no bound but rate limits.
const OF_A_CONNECTION: u64 = 2;
/// What a gateway without callers has open, twice: database, listeners, threads, plugins that are loaded, the solver.
const OF_A_GATEWAY: u64 = 512;
/// Connections to providers, integrations and webhooks that rest (1,024 of requests, as many of webhooks), and webhooks
/// under way (512 by default).
const OF_RESTING: u64 = 2 * 1_024 + 512;

/// Lets the process have as many as the system lets it ask for.
///
/// # Errors
/// The system refuses.
pub(crate) fn raise() -> std::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    Ok(setrlimit(Resource::Nofile, raised)?)
}

/// What is to be said where so many connections need more than this process can get.
pub(crate) fn doubt(connections: usize) -> Option<String> {
    let most = getrlimit(Resource::Nofile).maximum?;
    too_few(connections, most)
}

fn too_few(connections: usize, most: u64) -> Option<String> {
    let connections = u64::try_from(connections).unwrap_or(u64::MAX);
    let needed = connections
        .saturating_mul(OF_A_CONNECTION)
        .saturating_add(OF_A_GATEWAY + OF_RESTING);
    (most < needed).then(|| {
        format!(
            "limits.connections: {connections} connections need {needed} file descriptors, and the system lets this \
             process have {most}; raise its hard limit (LimitNOFILE=, ulimit -Hn) or lower limits.connections"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_needs_two_and_the_gateway_its_own() {
        assert_eq!(too_few(1_000, 5_072), None);
        let told = too_few(1_000, 5_071);
        assert!(told.is_some_and(|told| told.contains("5072")));
        assert!(too_few(usize::MAX, u64::MAX - 1).is_some());
    }
}
