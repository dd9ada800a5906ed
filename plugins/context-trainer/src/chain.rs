//! The chain that is learnt: weights of features and of pairs of tags, by gradients of the likelihood (AdaGrad).

use phi_context::tag::{TAGS, may_follow};

use crate::example::Example;
use crate::random::Random;

/// Length of the first steps.
const RATE: f32 = 0.08;
/// Pull towards zero.
const DECAY: f32 = 2e-4;

type Row = [f32; TAGS];

pub struct Weights {
    pub features: Vec<Row>,
    sums: Vec<Row>,
    pub pairs: [Row; TAGS],
    pair_sums: [Row; TAGS],
}

impl Weights {
    pub fn new(features: usize) -> Self {
        Self {
            features: vec![[0.0; TAGS]; features],
            sums: vec![[1e-3; TAGS]; features],
            pairs: [[0.0; TAGS]; TAGS],
            pair_sums: [[1e-3; TAGS]; TAGS],
        }
    }

    /// One round; gives the mean loss of a token.
    pub fn learn(&mut self, examples: &[Example], order: &[usize], random: &mut Random) -> f64 {
        let (mut loss, mut tokens) = (0.0, 0);
        for example in order.iter().filter_map(|at| examples.get(*at)) {
            loss += self.step(&example.thinned(random));
            tokens += example.tags.len();
        }
        loss / f64::from(u32::try_from(tokens).unwrap_or(u32::MAX))
    }

    /// The scores of a token by itself.
    pub fn scores(&self, features: &[u32]) -> Row {
        let mut scores = [0.0; TAGS];
        for feature in features {
            if let Some(row) = self.features.get(*feature as usize) {
                for (score, weight) in scores.iter_mut().zip(row) {
                    *score += weight;
                }
            }
        }
        scores
    }

    fn step(&mut self, example: &Example) -> f64 {
        let mut alone = Vec::with_capacity(example.tags.len());
        let mut from = 0;
        let mut gold_score = 0.0_f64;
        let mut before = 0_usize;
        let mut log_scale = 0.0_f64;
        for (end, tag) in example.ends.iter().zip(&example.tags) {
            let scores = self.scores(example.features.get(from..*end).unwrap_or_default());
            let most = scores.iter().copied().fold(f32::MIN, f32::max);
            gold_score +=
                f64::from(scores[usize::from(*tag)] + self.pairs[before][usize::from(*tag)]);
            log_scale += f64::from(most);
            before = usize::from(*tag);
            alone.push(scores.map(|score| (score - most).exp()));
            from = *end;
        }
        let mut factors = [[0.0_f32; TAGS]; TAGS];
        for (before, row) in factors.iter_mut().enumerate() {
            for (tag, factor) in row.iter_mut().enumerate() {
                if may_follow(before, tag) {
                    *factor = self.pairs[before][tag].exp();
                }
            }
        }
        // Forward.
        let mut forward: Vec<Row> = Vec::with_capacity(alone.len());
        let mut log_all = log_scale;
        for row in &alone {
            let mut here = [0.0; TAGS];
            match forward.last() {
                None => here = factors[0],
                Some(last) => {
                    for (factors, share) in factors.iter().zip(last) {
                        for (here, factor) in here.iter_mut().zip(factors) {
                            *here += factor * share;
                        }
                    }
                }
            }
            for (here, alone) in here.iter_mut().zip(row) {
                *here *= alone;
            }
            let sum: f32 = here.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            log_all += f64::from(sum.ln());
            forward.push(here.map(|value| value / sum));
        }
        // Back, with the gradients on the way.
        let mut behind: Row = [1.0; TAGS];
        let mut pair_gradients = [[0.0_f32; TAGS]; TAGS];
        for at in (0..alone.len()).rev() {
            let (Some(forward_here), Some(alone_here)) = (forward.get(at), alone.get(at)) else {
                break;
            };
            let tag = usize::from(example.tags.get(at).copied().unwrap_or_default());
            let mut likely = [0.0; TAGS];
            for ((likely, forward), behind) in likely.iter_mut().zip(forward_here).zip(behind) {
                *likely = forward * behind;
            }
            normalize(&mut likely);
            let start = if at == 0 {
                0
            } else {
                example.ends.get(at - 1).copied().unwrap_or_default()
            };
            let end = example.ends.get(at).copied().unwrap_or_default();
            let mut gradient = likely.map(|likely| -likely);
            gradient[tag] += 1.0;
            self.move_features(
                example.features.get(start..end).unwrap_or_default(),
                &gradient,
            );
            let weighed: Row = std::array::from_fn(|tag| alone_here[tag] * behind[tag]);
            // The pair that ends here.
            let (shares, last) = if at == 0 {
                let mut shares = [0.0; TAGS];
                shares[0] = 1.0;
                (shares, 0)
            } else {
                let last = example.tags.get(at - 1).copied().unwrap_or_default();
                (
                    forward.get(at - 1).copied().unwrap_or([0.0; TAGS]),
                    usize::from(last),
                )
            };
            let mut expected = [[0.0_f32; TAGS]; TAGS];
            let mut sum = 0.0_f32;
            for ((expected, factors), share) in expected.iter_mut().zip(&factors).zip(shares) {
                for ((expected, factor), weighed) in expected.iter_mut().zip(factors).zip(weighed) {
                    *expected = share * factor * weighed;
                    sum += *expected;
                }
            }
            let sum = sum.max(f32::MIN_POSITIVE);
            for (gradients, expected) in pair_gradients.iter_mut().zip(expected) {
                for (gradient, expected) in gradients.iter_mut().zip(expected) {
                    *gradient -= expected / sum;
                }
            }
            pair_gradients[last][tag] += 1.0;
            let mut back = [0.0; TAGS];
            for (back, factors) in back.iter_mut().zip(&factors) {
                for (factor, weighed) in factors.iter().zip(weighed) {
                    *back += factor * weighed;
                }
            }
            normalize(&mut back);
            behind = back;
        }
        for (before, gradients) in pair_gradients.iter().enumerate() {
            for (tag, gradient) in gradients.iter().enumerate() {
                let sum = &mut self.pair_sums[before][tag];
                *sum += gradient * gradient;
                self.pairs[before][tag] += RATE * gradient / sum.sqrt();
            }
        }
        log_all - gold_score
    }

    fn move_features(&mut self, features: &[u32], gradient: &Row) {
        if gradient.iter().all(|part| part.abs() < 1e-4) {
            return;
        }
        for feature in features {
            let at = *feature as usize;
            let (Some(row), Some(sums)) = (self.features.get_mut(at), self.sums.get_mut(at)) else {
                continue;
            };
            for ((weight, sum), gradient) in row.iter_mut().zip(sums).zip(gradient) {
                *sum += gradient * gradient;
                *weight += RATE * (gradient - DECAY * *weight) / sum.sqrt();
            }
        }
    }

    /// Which features weigh most.
    pub fn largest(&self, most: usize) -> Vec<bool> {
        let size = |row: &Row| {
            row.iter()
                .fold(0.0_f32, |most, weight| most.max(weight.abs()))
        };
        let mut sizes: Vec<f32> = self.features.iter().map(size).collect();
        let all = sizes.clone();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes.get(most).copied().unwrap_or(0.0);
        all.iter().map(|size| *size > least).collect()
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.features.iter().chain(&self.pairs)
    }
}

/// What several chains weigh together. In whole numbers, so that it is the same in whatever order they come.
pub struct Sums {
    rows: Vec<[i64; TAGS]>,
    chains: u16,
}

impl Sums {
    const ONE: f32 = 1_048_576.0;

    pub fn new(features: usize) -> Self {
        Self {
            rows: vec![[0; TAGS]; features + TAGS],
            chains: 0,
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "weights are small")]
    pub fn add(&mut self, weights: &Weights) {
        self.chains += 1;
        for (sums, row) in self.rows.iter_mut().zip(weights.rows()) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += (weight * Self::ONE).round() as i64;
            }
        }
    }

    /// The mean of the chains.
    #[allow(clippy::cast_precision_loss, reason = "weights are small")]
    pub fn mean(&self) -> Weights {
        let features = self.rows.len() - TAGS;
        let mut mean = Weights::new(features);
        let one = Self::ONE * f32::from(self.chains.max(1));
        let rows = mean.features.iter_mut().chain(&mut mean.pairs);
        for (row, sums) in rows.zip(&self.rows) {
            *row = sums.map(|sum| sum as f32 / one);
        }
        mean
    }
}

fn normalize(row: &mut Row) {
    let sum: f32 = row.iter().sum();
    for value in row {
        *value /= sum.max(f32::MIN_POSITIVE);
    }
}
