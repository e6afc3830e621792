"""From tables to a page: clusterings of two sites, joined by patient, combined and reported."""

import tempfile
from pathlib import Path

import consilience as co

folder = Path(tempfile.mkdtemp())
(folder / "north.csv").write_text("patient,ward,doctor\nann,1,x\nbob,1,x\ncat,2,y\ndan,2,y\n")
(folder / "south.csv").write_text("patient,nurse\ndan,B\ncat,B\nbob,A\neve,A\n")

members = co.read([folder / "north.csv", folder / "south.csv"], id="patient")
result = co.consensus(members, n_clusters=2)
for name, label in zip(result.ids_ or [], result.labels_, strict=True):
    print(f"{name}: cluster {label}")
for sentence in result.verdict_:
    print(sentence)
result.report(folder / "report.html", title="Patients of two sites")
print(f"{(folder / 'report.html').stat().st_size / 1000:.0f} kB of report")
