//! Makes the model of `phi-context` from labeled texts. A tool of whoever changes the model; no plugin, and never part
//! of a gateway. The same texts give the same model.
//!
//! `context-trainer train own TEXTS… FILE` reads all `*.txt` of the folders TEXTS and writes the model for English and
//! Spanish to FILE, `train other` that for other languages. `context-trainer measure TEXTS…` prints what the built models
//! find in them, `show` each miss and false alarm too. With `--held-out` every fifth text is left out by the one, and all
//! others by the others; with `--together` the detectors that have rules are asked too.

mod chain;
mod example;
mod judge;
mod random;
mod table;
mod text;
mod vary;

use std::error::Error;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use phi_context::model::{Model, Other, Own};
use phi_lexicon::language::Language;
use random::Random;

/// How often each text is varied, and how often one that is code: most of it is new in each.
const VARIED: usize = 4;
const VARIED_CODE: usize = 1;
/// How often one is that is in no language of the model.
const VARIED_BESIDE: usize = 2;
/// Trainings, each from nothing; the model is their mean.
const TRAININGS: u64 = 24;
/// Rounds of a training over all examples: before it is part of the mean, and behind each of which it is.
const ROUNDS: usize = 3;
const LAST_ROUNDS: usize = 3;
/// Of the slots of a table, those that are filled: some stay free, or there is no way to give each its own.
const KEPT: (usize, usize) = (15, 16);
/// Of the texts that are held out, one in so many.
const HELD_OUT: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.len();
    arguments.retain(|argument| argument != "--held-out");
    let holds_out = arguments.len() < count;
    let count = arguments.len();
    arguments.retain(|argument| argument != "--together");
    let is_together = arguments.len() < count;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let texts = |is_wanted: fn(usize) -> bool,
                 folders: &[&str]|
     -> Result<Vec<text::Text>, Box<dyn Error>> {
        let mut texts = Vec::new();
        for folder in folders {
            texts.extend(text::read(Path::new(folder))?);
        }
        let texts = texts.into_iter().enumerate();
        let wanted = texts.filter(|(at, _)| !holds_out || is_wanted(*at));
        Ok(wanted.map(|(_, text)| text).collect())
    };
    match arguments.as_slice() {
        ["train", language, folders @ .., file] => {
            let language = match *language {
                "own" => Language::Own,
                "other" => Language::Other,
                _ => return Err("the language is own or other".into()),
            };
            let mut texts = texts(|at| at % HELD_OUT != 0, folders)?;
            match language {
                // The words of other languages are names in English.
                Language::Own => texts.retain(|text| text.language() == language),
                Language::Other => texts = plain(texts),
            }
            train(&texts, language, Path::new(file))
        }
        [does @ ("measure" | "show"), folders @ ..] => {
            judge::print(
                &plain(texts(|at| at % HELD_OUT == 0, folders)?),
                *does == "show",
                is_together,
            );
            Ok(())
        }
        _ => Err("context-trainer train own|other TEXTS… FILE, or measure|show TEXTS…".into()),
    }
}

/// The mean of the trainings, of which as many go on at once as there are cores. What the order of the examples does to the
/// weights cancels out over some rounds and trainings.
fn mean(examples: &[example::Example], features: usize) -> chain::Weights {
    let next = AtomicU64::new(0);
    let mean = Mutex::new(chain::Sums::new(features));
    let work = || {
        loop {
            let training = next.fetch_add(1, Ordering::Relaxed);
            if training >= TRAININGS {
                break;
            }
            let mut weights = chain::Weights::new(features);
            let mut random = Random::new(training + 1);
            let mut order = order(examples);
            for round in 0..ROUNDS + LAST_ROUNDS {
                random.shuffle(&mut order);
                let loss = weights.learn(examples, &order, &mut random);
                eprintln!("training {training}, round {round}: {loss:.4}");
                if round >= ROUNDS {
                    let mut mean = mean.lock().unwrap_or_else(PoisonError::into_inner);
                    mean.add(&weights);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
    let mean = mean.into_inner().unwrap_or_else(PoisonError::into_inner);
    mean.mean()
}

fn order(examples: &[example::Example]) -> Vec<usize> {
    (0..examples.len()).collect()
}

fn plain(texts: Vec<text::Text>) -> Vec<text::Text> {
    let texts = texts.into_iter();
    texts.map(text::Text::with_plain_digits).collect()
}

fn train(texts: &[text::Text], language: Language, file: &Path) -> Result<(), Box<dyn Error>> {
    let slots = match language {
        Language::Own => Own::SLOTS,
        Language::Other => Other::SLOTS,
    };
    let mut random = Random::new(1);
    let pools = vary::Pools::of(texts);
    let mut drafts = Vec::new();
    for (source, text) in texts.iter().enumerate() {
        let times = if vary::is_code(text) {
            VARIED_CODE
        } else if text.language() == language {
            VARIED
        } else {
            VARIED_BESIDE
        };
        for _ in 0..times {
            for (variant, unsure) in vary::variants(text, &pools, &mut random) {
                drafts.push(example::Draft::of(
                    &variant,
                    language,
                    source,
                    unsure,
                    &mut random,
                ));
            }
        }
    }
    let (alphabet, mut examples) = example::count(drafts);
    eprintln!(
        "{} texts, {} examples, {} features",
        texts.len(),
        examples.len(),
        alphabet.len()
    );
    let features = alphabet.len();
    let mut first = chain::Weights::new(features);
    let mut random = Random::new(0);
    let mut order = order(&examples);
    for round in 0..ROUNDS {
        random.shuffle(&mut order);
        let loss = first.learn(&examples, &order, &mut random);
        eprintln!("which features, round {round}: {loss:.4}");
    }
    let kept = first.largest(slots / KEPT.1 * KEPT.0);
    drop(first);
    examples.iter_mut().for_each(|example| example.keep(&kept));
    let mean = mean(&examples, features);
    eprintln!("{} features", kept.iter().filter(|kept| **kept).count());
    let table = match language {
        Language::Own => table::write::<Own>(language, &mean, &alphabet, &kept)?,
        Language::Other => table::write::<Other>(language, &mean, &alphabet, &kept)?,
    };
    std::fs::write(file, table)?;
    Ok(())
}
