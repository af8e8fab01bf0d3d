"""Infer which profiles are possible, correct a guess, use the result.

Run:  python examples/edit_schema.py
"""

from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak import datasets

adult = datasets.load("adult", variant="binary")
guessed = gl.Schema.infer(adult.data)
for guess in guessed.guesses:
    print(f"{guess.attribute}: {guess.what}\n    {guess.source}: {guess.reason}")

# Nobody in this table has both a capital gain and a capital loss, so inference takes the two
# columns for one attribute.  In the population people with both exist: they are two attributes.
attributes = []
for attribute in guessed:
    if attribute.name == "capital":
        attributes += [gl.Binary(column) for column in attribute.columns]
    else:
        attributes.append(attribute)
schema = gl.Schema(attributes)
print(f"\nprofiles: {guessed.n_profiles:,} as guessed, {schema.n_profiles:,} as corrected")
print(f"rows that no profile matches: {schema.invalid_rows(adult.data).sum()}")

# The same by hand: edit the file, then pass its path.
schema.to_toml("schema.toml")
X, y = adult.data.head(300), adult.target.head(300)
forest = RandomForestClassifier(50, bootstrap=False, random_state=0).fit(X, y)
report = gl.audit(forest, schema="schema.toml")
print(f"\n{report.verdict}: {report.findings[-1].title}")
