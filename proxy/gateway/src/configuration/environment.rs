//! Providers that the environment configures: an address and a key under a provider's name.

use std::collections::{BTreeMap, BTreeSet};

use super::{Provider, Secret};

/// Providers that may be configured whatever file and models name: those of the shipped models.
pub(crate) const KNOWN_PROVIDERS: [&str; 2] = ["alpha", "beta"];

/// Takes `NAME_BASE_URL` and `NAME_API_KEY` for every provider that is configured already, that is in `catalogue`, or
/// that is known anyway. Gives back what cannot be used.
pub(super) fn providers(
    configured: &mut BTreeMap<String, Provider>,
    catalogue: &BTreeSet<String>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let known = KNOWN_PROVIDERS.map(str::to_owned).into_iter();
    let named = configured.keys().chain(catalogue).cloned();
    let names: BTreeSet<String> = known.chain(named).collect();
    let mut unusable = Vec::new();
    for name in names {
        let upper = spelled(&name);
        let (url, key) = (
            variable(&format!("{upper}_BASE_URL")),
            variable(&format!("{upper}_API_KEY")),
        );
        if url.is_none() && key.is_none() {
            continue;
        }
        let provider = configured.entry(name).or_default();
        provider.base_url = url.or(provider.base_url.take());
        provider.api_key = key.map(Secret);
        if provider.base_url.is_none() {
            unusable.push(format!(
                "{upper}_API_KEY is set but the provider has no address; set {upper}_BASE_URL"
            ));
        }
    }
    unusable
}

/// How the environment spells a provider's name: `alpha-west` as `ALPHA_WEST`.
fn spelled(provider: &str) -> String {
    let spelled = |sign: char| match sign.is_ascii_alphanumeric() {
        true => sign.to_ascii_uppercase(),
        false => '_',
    };
    provider.chars().map(spelled).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::super::Configuration;

    #[test]
    fn the_environment_configures_every_provider_that_file_or_models_name() {
        let text = "[providers.gamma]\nbase_url = 'http://127.0.0.1:3'\n[providers.alpha-west]\n";
        let mut configuration: Configuration = toml::from_str(text).unwrap();
        let environment = |name: &str| {
            let set = [
                "GAMMA_API_KEY",
                "ALPHA_WEST_BASE_URL",
                "DELTA_BASE_URL",
                "OTHER_BASE_URL",
            ];
            set.contains(&name)
                .then(|| format!("http://{}", name.to_lowercase()))
        };
        let catalogue = ["alpha", "delta"].map(str::to_owned).into();
        configuration.apply_environment(&catalogue, environment);
        configuration.readable().unwrap();
        let address = |name: &str| configuration.providers[name].base_url.clone().unwrap();
        assert!(configuration.providers["gamma"].api_key.is_some());
        assert_eq!(address("gamma"), "http://127.0.0.1:3");
        assert_eq!(address("alpha-west"), "http://alpha_west_base_url");
        assert_eq!(address("delta"), "http://delta_base_url");
        assert!(
            configuration
                .known()
                .providers
                .contains(&"delta".to_owned())
        );
        assert!(
            !configuration.providers.contains_key("other"),
            "nothing names it"
        );
    }
}
