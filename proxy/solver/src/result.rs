//! A result as clients see it (spec, Solve result).

use serde_json::{Value, json};

use crate::engine::SEED;
use crate::pool::Solved;

/// `data` of a response.
pub fn solve_result(solved: &Solved, wall_time_ms: u64) -> Value {
    let Solved {
        status,
        assignments,
        objective,
        conflicts,
    } = solved;
    let assignments = assignments
        .iter()
        .map(|(slot_id, resource_ids)| json!({"slot_id": slot_id, "resource_ids": resource_ids}));
    let conflicts = conflicts
        .iter()
        .map(|conflict| json!({"id": conflict.id, "description": conflict.description}));
    json!({
        "object": "solve_result",
        "status": status.word(),
        "assignments": assignments.collect::<Vec<_>>(),
        "objective": objective,
        "conflicts": conflicts.collect::<Vec<_>>(),
        "stats": {"wall_time_ms": wall_time_ms, "seed": SEED},
        "engine": "cp-sat",
    })
}
