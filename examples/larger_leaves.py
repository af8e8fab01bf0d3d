"""A forest before and after ``min_samples_leaf``: what it gives away, and what that costs.

Run:  python examples/larger_leaves.py
"""

from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak import datasets

adult = datasets.load("adult", variant="binary")
X, y = adult.data.head(1000), adult.target.head(1000)
X_new, y_new = adult.data.tail(5000), adult.target.tail(5000)

print("min_samples_leaf  accuracy  small leaves  pure leaves  certain rows  decision")
for size in (1, 20):
    # Without bagging, so that this version can say which rows follow from the counts.
    forest = RandomForestClassifier(10, min_samples_leaf=size, bootstrap=False, random_state=0)
    forest.fit(X, y)
    report = gl.audit(forest, schema=adult.schema, budget_seconds=4)
    figures = {finding.id: finding.evidence for finding in report.findings}
    small = figures.get("structure.small-groups", {}).get("groups", 0)
    pure = figures.get("structure.pure-groups", {}).get("groups", 0)
    rows = figures.get("reconstruction.rows", {}).get("certain_rows", "not answered")
    accuracy = forest.score(X_new, y_new)
    print(f"{size:>16}  {accuracy:>8.3f}  {small:>12}  {pure:>11}  {rows:>12}  {report.verdict}")
