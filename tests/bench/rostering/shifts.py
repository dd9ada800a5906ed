"""The shift scheduling instances of schedulingbenchmarks.org (Curtois and Qu) as specs.

Every rule of the format is one of the vocabulary, and the objective of the spec is the published one.
"""

from datetime import date, timedelta

# Instances start on a Monday (the format says so); which one does not matter.
FIRST_DAY = date(2026, 11, 2)


def sections(text):
    """The lines of each section, split at commas; comments and empty lines left out."""
    found, name = {}, None
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("SECTION_"):
            name = line.removeprefix("SECTION_")
            found[name] = []
        else:
            found[name].append(line.split(","))
    return found


def spec(text, time_limit_seconds):
    """The spec of an instance."""
    parts = sections(text)
    days = int(parts["HORIZON"][0][0])
    return {
        "version": 1,
        "resources": [{"id": row[0]} for row in parts["STAFF"]],
        "slots": slots(parts, days),
        "constraints": [*followers(parts), *staff(parts), *days_off(parts), {"type": "max_per_day", "limit": 1}],
        "preferences": [*requests(parts), *cover(parts)],
        "options": {"time_limit_seconds": time_limit_seconds},
    }


def day(index):
    return (FIRST_DAY + timedelta(days=int(index))).isoformat()


def slot(index, shift):
    return f"{int(index)}-{shift}"


def kind(shift):
    return [{"key": "shift", "equals": shift}]


def slots(parts, days):
    need = {(int(row[0]), row[1]): int(row[2]) for row in parts["COVER"]}
    made = []
    for index in range(days):
        for shift, minutes, *_ in parts["SHIFTS"]:
            end = int(minutes) % (24 * 60)
            made.append(
                {
                    "id": slot(index, shift),
                    "day": day(index),
                    # Only lengths matter: whoever works one shift of a day works no other.
                    "start": "00:00",
                    "end": f"{end // 60:02}:{end % 60:02}",
                    "attributes": {"shift": shift},
                    "requirements": [{"count": need.get((index, shift), 0), "where": []}],
                }
            )
    return made


def followers(parts):
    """Shifts that cannot follow another one on the next day."""
    for shift, _, *cannot in parts["SHIFTS"]:
        for other in (cannot[0] if cannot else "").split("|"):
            if other:
                yield {"type": "forbidden_sequence", "pattern": [kind(shift), kind(other)]}


def staff(parts):
    for person, shifts, longest, shortest, most_on, least_on, least_off, weekends in parts["STAFF"]:
        one = {"resource_ids": [person]}
        for allowed in shifts.split("|"):
            shift, most = allowed.split("=")
            yield {"type": "count", **one, "slot_where": kind(shift), "max": int(most)}
        yield {"type": "minutes", **one, "min": int(shortest), "max": int(longest)}
        yield {"type": "consecutive_days", **one, "min": int(least_on), "max": int(most_on)}
        yield {"type": "consecutive_days_off", **one, "min": int(least_off)}
        yield {"type": "max_weekends", **one, "limit": int(weekends)}


def days_off(parts):
    for person, *days in parts["DAYS_OFF"]:
        yield {"type": "unavailable", "resource_ids": [person], "days": [day(index) for index in days]}


def requests(parts):
    """Requests of one person with one weight are one wish."""
    for section, wish in [("SHIFT_ON_REQUESTS", "prefer"), ("SHIFT_OFF_REQUESTS", "avoid")]:
        together = {}
        for person, index, shift, weight in parts[section]:
            together.setdefault((person, int(weight)), []).append(slot(index, shift))
        for (person, weight), ids in together.items():
            yield {"type": wish, "resource_ids": [person], "slot_ids": ids, "weight": weight}


def cover(parts):
    together = {}
    for index, shift, _, under, over in parts["COVER"]:
        together.setdefault((int(under), int(over)), []).append(slot(index, shift))
    for (under, over), ids in together.items():
        yield {
            "type": "soft_coverage",
            "slot_ids": ids,
            "under_weight": under,
            "over_weight": over,
        }
