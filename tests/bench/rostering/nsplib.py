"""Instances of NSPLib (Vanhoucke and Maenhout) with one of its case files as specs.

Understood are cases in which everybody works a fixed number of days. Then the number of people above the least cover
is a constant, and so is what is added to make every cost of a shift positive: `constant` of the result is taken off the
objective of the spec to get that of the instance.
"""

from datetime import date, timedelta

FIRST_DAY = date(2026, 11, 2)
# Costs are 1 to 4; a shift that is dearer off than on must not become cheaper than nothing.
LIFT = 4


def numbers(text):
    return [[int(word) for word in line.split()] for line in text.splitlines() if line.split()]


def spec(instance, case, time_limit_seconds):
    """The spec of an instance and a case, and the constant that its objective has too much."""
    (nurses, days, shifts), *rows = numbers(instance)
    need, costs = rows[:days], rows[days : days + nurses]
    (_, _), (least, most), (least_on, most_on), *kinds = numbers(case)
    if least != most:
        raise ValueError("a case in which people work as many days as they like")
    working = shifts - 1
    made = {
        "version": 1,
        "resources": [{"id": f"n{nurse}"} for nurse in range(nurses)],
        "slots": [
            {
                "id": f"{day}-{shift}",
                "day": (FIRST_DAY + timedelta(days=day)).isoformat(),
                "attributes": {"shift": shift},
                "requirements": [{"count": need[day][shift], "where": []}],
            }
            for day in range(days)
            for shift in range(working)
        ],
        "constraints": [
            {"type": "max_per_day", "limit": 1},
            {"type": "count", "min": least, "max": most},
            {"type": "consecutive_days", "min": least_on, "max": most_on},
            *limits(kinds[:working]),
        ],
        "preferences": [
            {"type": "soft_coverage", "over_weight": 1},
            *wishes(costs, days, shifts, working),
        ],
        "options": {"time_limit_seconds": time_limit_seconds},
    }
    above = nurses * most - sum(sum(row[:working]) for row in need)
    off = sum(costs[nurse][day * shifts + working] for nurse in range(nurses) for day in range(days))
    return made, above + nurses * most * LIFT - off


def limits(kinds):
    for shift, (least_on, most_on, least, most) in enumerate(kinds):
        which = {"slot_where": [{"key": "shift", "equals": shift}]}
        yield {"type": "count", **which, "min": least, "max": most}
        yield {"type": "consecutive_slots", **which, "min": least_on, "max": most_on}


def wishes(costs, days, shifts, working):
    """What a shift costs more than a day off, one wish for each weight of a nurse."""
    for nurse, row in enumerate(costs):
        together = {}
        for day in range(days):
            off = row[day * shifts + working]
            for shift in range(working):
                weight = row[day * shifts + shift] - off + LIFT
                together.setdefault(weight, []).append(f"{day}-{shift}")
        for weight, ids in together.items():
            yield {"type": "avoid", "resource_ids": [f"n{nurse}"], "slot_ids": ids, "weight": weight}
