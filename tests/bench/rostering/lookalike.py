"""Instances made here, in the formats of the published ones: small, and the same for the same seed."""

import random


def shifts(seed, staff, weeks):
    """A shift scheduling instance with an early and a late shift."""
    chance = random.Random(seed)
    days = weeks * 7
    names = [f"P{number}" for number in range(staff)]
    lines = ["SECTION_HORIZON", str(days), "SECTION_SHIFTS", "E,480,", "L,480,E", "SECTION_STAFF"]
    # Nine or ten shifts a fortnight, as in a full-time contract.
    most = 4800 * weeks // 2
    lines += [f"{name},E={days}|L={days},{most},{most - 960},5,2,2,{max(1, weeks // 2)}" for name in names]
    lines += ["SECTION_DAYS_OFF"] + [f"{name},{chance.randrange(days)}" for name in names]
    for section in ("SHIFT_ON_REQUESTS", "SHIFT_OFF_REQUESTS"):
        lines.append(f"SECTION_{section}")
        for name in names:
            for index in chance.sample(range(days), 3):
                lines.append(f"{name},{index},{chance.choice('EL')},{chance.randint(1, 3)}")
    lines.append("SECTION_COVER")
    for index in range(days):
        for shift in "EL":
            lines.append(f"{index},{shift},{max(1, staff * 10 // 28 + chance.randint(-1, 1))},100,1")
    return "\n".join(lines)


def nsplib(seed, nurses):
    """An instance of a week with three shifts and a day off, whose cover some roster meets; and a case."""
    chance = random.Random(seed)
    days, shifts, worked = 7, 4, 5
    need = [[0] * shifts for _ in range(days)]
    for _ in range(nurses):
        for day in chance.sample(range(days), worked):
            need[day][chance.randrange(shifts - 1)] += 1
    lines = [f"{nurses} {days} {shifts}"]
    lines += [" ".join(str(max(0, count - 1)) for count in row) for row in need]
    for _ in range(nurses):
        lines.append(" ".join(str(chance.randint(1, 4)) for _ in range(days * shifts)))
    case = ["7 4", "5 5", "1 7"] + ["1 7 0 7"] * 4
    return "\n".join(lines), "\n".join(case)


def plain(people, slots):
    """A spec without preferences whose people are of two kinds, and nearly all of them are needed."""
    days = slots // 40
    return {
        "version": 1,
        "resources": [
            {"id": f"r{number}", "attributes": {"role": "rn" if number % 2 else "md"}} for number in range(people)
        ],
        "slots": [
            {
                "id": f"s{number}",
                "day": f"2026-{11 + (number % days) // 30:02}-{1 + (number % days) % 30:02}",
                "requirements": [
                    {"count": 2, "where": [{"key": "role", "equals": "rn"}]},
                    {"count": 1, "where": [{"key": "role", "equals": "md"}]},
                ],
            }
            for number in range(slots)
        ],
        "constraints": [
            {"type": "max_per_day", "limit": 1},
            {"type": "rolling", "window_days": 7, "max": 6},
        ],
        "preferences": [],
        "options": {"time_limit_seconds": 10},
    }
