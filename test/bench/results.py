# SPDX-License-Identifier: MIT
"""What was measured, as lines of JSON, added as it comes: an interrupted run goes on where it was, and tables can be made of
parts. Kinds: "machine", "cost" (a run of a round), "counts" (what a profile has), "print", "absent"."""
import json
import os


class Results:
    def __init__(self, path, build_id, work_id):
        self.path = path
        self.build_id = build_id
        self.work_id = work_id
        self.rows = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.rows = [json.loads(line) for line in file if line.endswith("\n")]
        # Runs of another varve, and of anybody on other work, say nothing of this one, and who failed may try again.
        self.rows = [
            row for row in self.rows if row.get("build", build_id) == build_id and row.get("work") == work_id and "failed" not in row
        ]
        self.rewrite()

    def rewrite(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            for row in self.rows:
                file.write(json.dumps(row) + "\n")
        os.replace(self.path + ".new", self.path)

    def add(self, kind, of_varve=False, **fields):
        row = {"kind": kind, **fields, "work": self.work_id, **({"build": self.build_id} if of_varve else {})}
        self.rows.append(row)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def replace(self, kind, keys, **fields):
        """The one row of its kind with these keys."""
        self.rows = [row for row in self.rows if row["kind"] != kind or any(row.get(key) != value for key, value in keys.items())]
        self.rewrite()
        self.add(kind, **keys, **fields)

    def of(self, kind, **keys):
        return [row for row in self.rows if row["kind"] == kind and all(row.get(key) == value for key, value in keys.items())]
