//! The messages of CP-SAT that we use, as its library reads and writes them: the subset of `cp_model.proto` and
//! `sat_parameters.proto` of OR-tools 9.15. Tags are the engine's; a field that is not here is not sent, and one
//! that arrives is skipped. No names: an abort of the engine prints its model, which must hold nobody's data.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IntegerVariable {
    /// Pairs of inclusive bounds.
    #[prost(int64, repeated, tag = "2")]
    pub(crate) domain: Vec<i64>,
}

/// A literal is a variable's index `i`, or `-i - 1` for its negation.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Literals {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) literals: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Linear {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) coeffs: Vec<i64>,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) domain: Vec<i64>,
}

/// One of its kinds is set.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Constraint {
    #[prost(message, optional, tag = "3")]
    pub(crate) bool_or: Option<Literals>,
    #[prost(message, optional, tag = "26")]
    pub(crate) at_most_one: Option<Literals>,
    #[prost(message, optional, tag = "12")]
    pub(crate) linear: Option<Linear>,
}

/// Minimised.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Objective {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    pub(crate) coeffs: Vec<i64>,
    #[prost(double, tag = "2")]
    pub(crate) offset: f64,
    /// Pairs of inclusive bounds of the sum without its offset; empty where there are none.
    #[prost(int64, repeated, tag = "5")]
    pub(crate) domain: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Hint {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) values: Vec<i64>,
}

impl Hint {
    /// A value for every variable.
    pub(crate) fn all(values: &[i64]) -> Self {
        let count = i32::try_from(values.len()).unwrap_or(i32::MAX);
        Self {
            vars: (0..count).collect(),
            values: values.to_vec(),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CpModel {
    #[prost(message, repeated, tag = "2")]
    pub(crate) variables: Vec<IntegerVariable>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) constraints: Vec<Constraint>,
    #[prost(message, optional, tag = "4")]
    pub(crate) objective: Option<Objective>,
    #[prost(message, optional, tag = "6")]
    pub(crate) hint: Option<Hint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Status {
    Unknown = 0,
    ModelInvalid = 1,
    Feasible = 2,
    Infeasible = 3,
    Optimal = 4,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CpResponse {
    #[prost(enumeration = "Status", tag = "1")]
    pub(crate) status: i32,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) solution: Vec<i64>,
    /// Means something for `Feasible` and `Optimal` only.
    #[prost(double, tag = "3")]
    pub(crate) objective_value: f64,
    /// As the objective.
    #[prost(double, tag = "4")]
    pub(crate) best_objective_bound: f64,
    #[prost(double, tag = "17")]
    pub(crate) deterministic_time: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Parameters {
    #[prost(int32, optional, tag = "31")]
    pub(crate) random_seed: Option<i32>,
    #[prost(bool, optional, tag = "41")]
    pub(crate) log_search_progress: Option<bool>,
    #[prost(double, optional, tag = "67")]
    pub(crate) max_deterministic_time: Option<f64>,
    #[prost(int32, optional, tag = "90")]
    pub(crate) linearization_level: Option<i32>,
    #[prost(int32, optional, tag = "134")]
    pub(crate) interleave_batch_size: Option<i32>,
    #[prost(bool, optional, tag = "135")]
    pub(crate) catch_sigint_signal: Option<bool>,
    #[prost(bool, optional, tag = "136")]
    pub(crate) interleave_search: Option<bool>,
    #[prost(int32, optional, tag = "183")]
    pub(crate) symmetry_level: Option<i32>,
    #[prost(int32, optional, tag = "206")]
    pub(crate) num_workers: Option<i32>,
    #[prost(string, repeated, tag = "207")]
    pub(crate) subsolvers: Vec<String>,
}
