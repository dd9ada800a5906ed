//! What a reply costs: sonnet-equivalent tokens, credits and dollars, all exact (contract 12.1).

use crate::chat::Usage;
use crate::money::{MICRO, Micro};

/// One model's line of the price list. All numbers are millionths, so no binary float takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Cost relative to the default model (1.7x is 1 700 000).
    pub relative_cost: Micro,
    /// Weight of a cache-read and a cache-write token in sonnet equivalents.
    pub weight_read: Micro,
    pub weight_write: Micro,
    /// Dollars per million tokens, that is millionths of a dollar per token.
    pub usd_input: Micro,
    pub usd_output: Micro,
    pub usd_cache_read: Micro,
    /// Of an entry that lives for five minutes.
    pub usd_cache_write: Micro,
    /// Of an entry that lives for an hour.
    pub usd_cache_write_1h: Micro,
}

/// The price of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    pub sonnet_equivalent_tokens: u64,
    /// Sonnet-equivalent tokens / 1000, exact.
    pub credits: Micro,
    /// Dollars, rounded half up once.
    pub cost_usd: Micro,
}

/// Tokens per credit.
const TOKENS_PER_CREDIT: i128 = 1_000;

impl Price {
    /// The prices of a run that may write entries which live for an hour. Providers count all writes of a run together,
    /// so all of them are priced as the dearest may be.
    pub fn with_hour_long_writes(self) -> Self {
        Self {
            usd_cache_write: self.usd_cache_write.max(self.usd_cache_write_1h),
            ..self
        }
    }

    /// Prices a run from its token counts.
    pub fn charge(&self, usage: Usage) -> Charge {
        let micro = i128::from(MICRO);
        let tokens = |count: u64| i128::from(count);
        let plain = tokens(usage.input_tokens) + tokens(usage.output_tokens);
        let weighted_micro = plain * micro
            + tokens(usage.cache_read_input_tokens) * i128::from(self.weight_read.0)
            + tokens(usage.cache_creation_input_tokens) * i128::from(self.weight_write.0);
        let equivalent = round_half_up(
            weighted_micro * i128::from(self.relative_cost.0),
            micro * micro,
        );
        // `usd_*` is dollars per million tokens in millionths: picodollars per token.
        let pico_usd = tokens(usage.input_tokens) * i128::from(self.usd_input.0)
            + tokens(usage.output_tokens) * i128::from(self.usd_output.0)
            + tokens(usage.cache_read_input_tokens) * i128::from(self.usd_cache_read.0)
            + tokens(usage.cache_creation_input_tokens) * i128::from(self.usd_cache_write.0);
        Charge {
            sonnet_equivalent_tokens: u64::try_from(equivalent).unwrap_or(u64::MAX),
            credits: Micro(clamp(equivalent * micro / TOKENS_PER_CREDIT)),
            cost_usd: Micro(clamp(round_half_up(pico_usd, micro))),
        }
    }

    /// The most a run can cost: every input token uncached or written to the cache, every output token used.
    pub fn worst_case(&self, input_tokens: u64, max_tokens: u64) -> Charge {
        let usage = Usage {
            input_tokens,
            output_tokens: max_tokens,
            ..Usage::default()
        };
        let written = Usage {
            input_tokens: 0,
            cache_creation_input_tokens: input_tokens,
            ..usage
        };
        let (plain, cached) = (self.charge(usage), self.charge(written));
        Charge {
            sonnet_equivalent_tokens: plain
                .sonnet_equivalent_tokens
                .max(cached.sonnet_equivalent_tokens),
            credits: plain.credits.max(cached.credits),
            cost_usd: plain.cost_usd.max(cached.cost_usd),
        }
    }
}

fn round_half_up(numerator: i128, denominator: i128) -> i128 {
    (numerator * 2 + denominator).div_euclid(denominator * 2)
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPUS: Price = Price {
        relative_cost: Micro(1_700_000),
        weight_read: Micro(0),
        weight_write: Micro(0),
        usd_input: Micro(5_000_000),
        usd_output: Micro(25_000_000),
        usd_cache_read: Micro(500_000),
        usd_cache_write: Micro(6_250_000),
        usd_cache_write_1h: Micro(10_000_000),
    };

    #[test]
    fn tokens_are_rounded_half_up_once() {
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 5,
            ..Usage::default()
        };
        let charge = OPUS.charge(usage);
        assert_eq!(charge.sonnet_equivalent_tokens, 26); // 25.5
        assert_eq!(charge.credits, Micro(26_000));
        assert_eq!(charge.cost_usd, Micro(175)); // 10 × 5 + 5 × 25 millionths
    }

    #[test]
    fn cache_tokens_are_priced_once_each_at_their_rate() {
        let usage = Usage {
            cache_read_input_tokens: 3,
            cache_creation_input_tokens: 4,
            ..Usage::default()
        };
        let charge = OPUS.charge(usage);
        assert_eq!(
            (charge.sonnet_equivalent_tokens, charge.cost_usd),
            (0, Micro(27))
        ); // 1.5 + 25 = 26.5
    }

    #[test]
    fn hour_long_writes_cost_more_and_are_held_for() {
        let usage = Usage {
            cache_creation_input_tokens: 4,
            ..Usage::default()
        };
        let price = OPUS.with_hour_long_writes();
        assert_eq!(price.charge(usage).cost_usd, Micro(40));
        assert_eq!(price.worst_case(4, 0).cost_usd, Micro(40));
        assert_eq!(OPUS.worst_case(4, 0).cost_usd, Micro(25));
    }
}
