"""Audit a fitted estimator before it is saved.

Run:  python examples/audit_in_memory.py
"""

from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets

adult = datasets.load("adult", variant="binary")
tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(adult.data, adult.target)

report = gl.audit(tree, schema=adult.schema)

print(f"decision: {report.verdict}")
for finding in report.findings:
    print(f"\n[{finding.effect}] {finding.title}\n    {finding.detail}")
    if finding.remedy:
        print(f"    do: {finding.remedy}")

print("\nnot assessed:")
for analysis, result in report.not_assessed:
    print(f"  {analysis.question} ({result.reason})")
