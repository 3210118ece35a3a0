"""What a folder of results was measured with: written once, and compared whenever it is added to."""

import json

NAME = "options.json"


class Differs(Exception):
    """The folder has results of other settings."""


def text(value):
    return json.dumps(value, sort_keys=True)


def read_settings(folder):
    path = folder / NAME
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def keep_settings(folder, settings):
    """Writes them, or raises Differs: two kinds of runs in one folder would be taken for repetitions of each other."""
    before = read_settings(folder)
    if before is None:
        if any(folder.rglob("runs/*")):
            raise Differs(f"{folder} has runs, but no {NAME} that says what they were measured with; take another --output")
        (folder / NAME).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        return
    different = [k for k in sorted({*before, *settings}) if text(before.get(k)) != text(settings.get(k))]
    if different:
        what = "; ".join(f"{k} was {short(before.get(k))} and is {short(settings.get(k))}" for k in different)
        raise Differs(f"{folder} was measured with other options ({what}); take those or another --output")


def short(value):
    said = text(value)
    return said if len(said) <= 40 else said[:37] + "..."
