//! What a model takes of sampling, and what becomes of the rest (wire.md 3, last row but one).

use serde::Deserialize;
use svc_core::chat::Sampling;

/// A model's line of the catalogue about sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingRule {
    takes: Takes,
    otherwise: Otherwise,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Takes {
    /// Temperatures from one number to another.
    Range(f64, f64),
    /// Its default alone, of temperature, `top_p` and `top_k`.
    Default,
}

/// What becomes of a value that the model does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Otherwise {
    /// The request is refused, and the parameter named.
    Refuse,
    /// The nearest value that the model takes.
    Clamp,
    /// The model's default.
    Drop,
}

/// The value that asks for nothing, of temperature and `top_p`.
const DEFAULT: f64 = 1.0;

impl SamplingRule {
    /// Reads `"none"` or a range such as `"0..1"`. A range clamps and `"none"` refuses where nothing is said.
    pub fn parse(temperature: &str, otherwise: Option<Otherwise>) -> Option<Self> {
        if temperature == "none" {
            return Some(Self::default_alone(otherwise));
        }
        let (low, high) = temperature.split_once("..")?;
        let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
        (0.0 <= low && low <= high && high.is_finite()).then_some(Self {
            takes: Takes::Range(low, high),
            otherwise: otherwise.unwrap_or(Otherwise::Clamp),
        })
    }

    /// The strictest: a model that takes its default and nothing else.
    pub fn default_alone(otherwise: Option<Otherwise>) -> Self {
        Self {
            takes: Takes::Default,
            otherwise: otherwise.unwrap_or(Otherwise::Refuse),
        }
    }

    /// Leaves what the model takes.
    ///
    /// # Errors
    /// The parameter that it does not take.
    pub fn apply(&self, sampling: &mut Sampling) -> Result<(), &'static str> {
        match self.takes {
            Takes::Range(low, high) => {
                let outside = sampling
                    .temperature
                    .filter(|asked| !(low..=high).contains(asked));
                match (outside, self.otherwise) {
                    (None, _) => {}
                    (Some(_), Otherwise::Refuse) => return Err("temperature"),
                    (Some(asked), Otherwise::Clamp) => {
                        sampling.temperature = Some(asked.clamp(low, high));
                    }
                    (Some(_), Otherwise::Drop) => sampling.temperature = None,
                }
            }
            Takes::Default => {
                if let (Some(param), Otherwise::Refuse) = (foreign(sampling), self.otherwise) {
                    return Err(param);
                }
                *sampling = Sampling::default();
            }
        }
        Ok(())
    }
}

/// The first parameter that asks for something, in the order of the wire formats.
fn foreign(sampling: &Sampling) -> Option<&'static str> {
    let Sampling {
        temperature,
        top_p,
        top_k,
    } = *sampling;
    let asks = |value: Option<f64>| value.is_some_and(|one| (one - DEFAULT).abs() > f64::EPSILON);
    [
        (asks(temperature), "temperature"),
        (asks(top_p), "top_p"),
        (top_k.is_some(), "top_k"),
    ]
    .into_iter()
    .find_map(|(asked, name)| asked.then_some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(temperature: f64) -> Sampling {
        Sampling {
            temperature: Some(temperature),
            ..Sampling::default()
        }
    }

    fn applied(
        takes: &str,
        otherwise: Option<Otherwise>,
        mut sampling: Sampling,
    ) -> Result<Sampling, &'static str> {
        let rule = SamplingRule::parse(takes, otherwise).ok_or("no rule")?;
        rule.apply(&mut sampling).map(|()| sampling)
    }

    #[test]
    fn a_range_takes_its_own_and_does_as_told_with_the_rest() {
        let inside = at(0.5);
        for otherwise in [None, Some(Otherwise::Refuse), Some(Otherwise::Drop)] {
            assert_eq!(applied("0..1", otherwise, inside), Ok(inside));
        }
        assert_eq!(applied("0..1", None, at(1.7)), Ok(at(1.0)));
        assert_eq!(
            applied("0..1", Some(Otherwise::Drop), at(1.7)),
            Ok(Sampling::default())
        );
        assert_eq!(
            applied("0..1", Some(Otherwise::Refuse), at(1.7)),
            Err("temperature")
        );
    }

    #[test]
    fn a_default_alone_passes_and_is_not_sent() {
        let none = Sampling::default();
        assert_eq!(applied("none", None, at(1.0)), Ok(none));
        assert_eq!(applied("none", None, at(0.1)), Err("temperature"));
        let with_top_k = Sampling {
            top_k: Some(5),
            ..at(1.0)
        };
        assert_eq!(applied("none", None, with_top_k), Err("top_k"));
        for otherwise in [Otherwise::Drop, Otherwise::Clamp] {
            assert_eq!(applied("none", Some(otherwise), at(0.1)), Ok(none));
        }
    }

    #[test]
    fn what_is_no_range_is_no_rule() {
        for text in ["", "0", "1..0", "a..b", "-1..1", "0..inf", "NaN..1"] {
            assert_eq!(SamplingRule::parse(text, None), None, "{text}");
        }
    }
}
