"""Schemas as files: written and read back, or refused with the place that is wrong."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import schemas

from glassleak.errors import SchemaError
from glassleak.schema import Binary, Bins, Categorical, Guess, Numeric, Ordinal, Schema

HEAD = "glassleak_schema = 1\n"


@settings(max_examples=200)
@given(schemas())
def test_text_comes_back_equal(schema):
    back = Schema.from_toml(schema.to_toml())
    assert back == schema
    assert [type(v) for a in back for v in vars(a).values()] == [
        type(v) for a in schema for v in vars(a).values()
    ]


@given(schemas())
def test_files_come_back_equal(schema):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.toml"
        text = schema.to_toml(path)
        assert Schema.from_toml(path) == Schema.from_toml(str(path)) == schema
        assert path.read_bytes().decode() == text


def test_one_of_each_as_written_by_hand():
    found = Schema.from_toml(
        HEAD
        + """
        [[attribute]]
        name = "sex"
        kind = "binary"
        [[attribute]]
        name = "race"
        kind = "categorical"
        columns = ["race:a", "race:b"]
        absent = true
        [[attribute]]
        name = "job"
        kind = "categorical"
        levels = ["baker", "smith"]
        missing = true
        [[attribute]]
        name = "grade"
        kind = "ordinal"
        low = 0
        high = 7
        [[attribute]]
        name = "income"
        kind = "numeric"
        low = 0
        high = 1e6
        resolution = 1
        column = "inc"
        [[attribute]]
        name = "age"
        kind = "bins"
        low = 18
        high = 90
        [attribute.intervals]
        "age<=25" = [-inf, 25]
        "age=24-30" = [24, 30]
        [[guess]]
        attribute = "age"
        what = "18 to 90"
        reason = "so I was told"
        source = "data"
        """
    )
    assert found == Schema(
        [
            Binary("sex"),
            Categorical("race", ["race:a", "race:b"], absent=True),
            Categorical("job", levels=["baker", "smith"], missing=True),
            Ordinal("grade", 0, 7),
            Numeric("income", 0, 1e6, 1, "inc"),
            Bins("age", ("age<=25", "age=24-30"), ((1, 0), (1, 1), (0, 1), (0, 0))),
        ],
        [Guess("age", "18 to 90", "so I was told", "data")],
    )
    assert found.n_profiles == 2 * 3 * 3 * 8 * 1_000_001 * 4


def second(body):
    return f'{HEAD}[[attribute]]\nname = "ok"\nkind = "binary"\n[[attribute]]\n{body}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not toml\n", "not valid TOML.*line 1"),
        (HEAD + "[[attribute]\n", "not valid TOML.*line 2"),
        ("[[attribute]]\nname = 'a'\n", "glassleak_schema = 1 at the top"),
        ("glassleak_schema = 2\n", "got 2"),
        ("glassleak_schema = true\n", "got True"),
        (HEAD, r"no \[\[attribute\]\] tables"),
        (HEAD + "attribute = 3\n", r"no \[\[attribute\]\] tables"),
        (HEAD + "attribute = []\n", "at least one attribute"),
        (HEAD + "attribute = [3]\n", "attribute 1 is not a table"),
        (second('name = "a"'), "attribute 2: kind must be one of"),
        (second('name = "a"\nkind = "colour"'), "attribute 2: kind .* got 'colour'"),
        (second('name = "a"\nkind = ["binary"]'), "attribute 2: kind"),
        (second('kind = "binary"'), "attribute 2 .*name"),
        (second('name = 3\nkind = "binary"'), "attribute 2: .*non-empty name, got 3"),
        (second('name = "a"\nkind = "binary"\nlow = 3'), "attribute 2 .*'a'.*low"),
        (second('name = "ok"\nkind = "binary"'), "attribute 'ok' twice"),
        (second('name = "a"\nkind = "binary"\ncolumn = "ok"'), "column 'ok' twice"),
        (second('name = "a"\nkind = "binary"\ncolumn = 3'), "attribute 2: .*name is text"),
        (second('name = "a"\nkind = "ordinal"\nlow = 0'), "attribute 2 .*high"),
        (second('name = "a"\nkind = "ordinal"\nlow = 0\nhigh = "x"'), "attribute 2: 'a': high"),
        (second(f'name = "a"\nkind = "ordinal"\nlow = 0\nhigh = 1{"0" * 400}'), "attribute 2:"),
        (second('name = "a"\nkind = "numeric"\nlow = 0\nhigh = nan'), "attribute 2: 'a': high"),
        (second(f'name = "a"\nkind = "numeric"\nlow = 0\nhigh = 1{"0" * 400}'), "attribute 2:"),
        (second('name = "a"\nkind = "categorical"'), "attribute 2: .*needs one-hot"),
        (second('name = "a"\nkind = "categorical"\ncolumns = "abc"'), "attribute 2: .*list"),
        (second('name = "a"\nkind = "categorical"\nlevels = [[1]]'), "attribute 2: .*level"),
        (second('name = "a"\nkind = "categorical"\nlevels = [2020-01-01]'), "attribute 2:"),
        (second('name = "a"\nkind = "categorical"\nlevels = [nan]'), "attribute 2: .*level"),
        (second('name = "a"\nkind = "bins"\ncolumns = ["b"]\npatterns = [[2]]'), "attribute 2:"),
        (second('name = "a"\nkind = "bins"\ncolumns = ["b"]\npatterns = 3'), "attribute 2: .*list"),
        (second('name = "a"\nkind = "bins"\nlow = 0\nhigh = 1\nintervals = 3'), "attribute 2:"),
        (
            second('name = "a"\nkind = "bins"\nlow = 0\nhigh = 1\nintervals = {b = [1]}'),
            r"attribute 2: .*from, to",
        ),
        (second('name = "a"\nkind = "binary"\n[[guess]]\nwhat = "x"'), "guess 1: .*attribute"),
        ("guess = 3\n" + second('name = "a"\nkind = "binary"'), "guess must be a list"),
        ("guess = [3]\n" + second('name = "a"\nkind = "binary"'), "guess 1 is not a table"),
        (
            second('name = "a"\nkind = "binary"\n[[guess]]\nattribute = 3\nwhat = "x"\n'
                   'reason = "x"\nsource = "data"'),
            "guess 1: every entry must be text",
        ),
        (HEAD + "x = " + "[" * 10_000 + "]" * 10_000 + "\n", "not valid TOML"),
    ],
)  # fmt: skip
def test_malformed_files_are_refused_with_the_place(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(SchemaError, match="no schema file"):
        Schema.from_toml(tmp_path / "none.toml")
    with pytest.raises(SchemaError, match="no schema file"):
        Schema.from_toml(tmp_path)
    with pytest.raises(SchemaError, match="no schema file"):
        Schema.from_toml("a\0b")
    with pytest.raises(SchemaError, match=r"cannot open|no schema file"):
        Schema.from_toml("glassleak_schema = 1  # " + "x" * 5000)
    (tmp_path / "latin").write_bytes(b"name = '\xff'")
    with pytest.raises(SchemaError, match="not text"):
        Schema.from_toml(tmp_path / "latin")
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(2**25)
    with pytest.raises(SchemaError, match="larger than a schema"):
        Schema.from_toml(large)


def test_names_that_no_file_can_hold(tmp_path):
    schema = Schema([Binary("half a pair \ud800")])
    path = tmp_path / "schema.toml"
    with pytest.raises(SchemaError, match="cannot be written"):
        schema.to_toml(path)
    assert not path.exists()


junk = st.recursive(
    st.one_of(
        st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.dates(),
        st.sampled_from([10**400, 2**70, "ordinal", "bins"]),
    ),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@settings(max_examples=300)
@given(schemas(), st.data())
def test_a_changed_file_is_read_or_refused_but_nothing_else(schema, data):
    import tomllib

    import tomli_w

    document = tomllib.loads(schema.to_toml())
    table = data.draw(st.sampled_from(document["attribute"]))
    keys = [*table, "low", "high", "resolution", "levels", "patterns", "intervals", "missing"]
    table[data.draw(st.sampled_from(keys))] = data.draw(junk)
    try:
        back = Schema.from_toml(tomli_w.dumps(document))
    except SchemaError:
        return
    assert Schema.from_toml(back.to_toml()) == back
