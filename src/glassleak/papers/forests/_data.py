"""The training sets of the paper, row by row, and which profiles it takes for possible."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pandas as pd

from glassleak import datasets
from glassleak.papers.forests._setting import ONE_HOT, SAMPLE_ROWS, Convention, Run
from glassleak.schema import Attribute, Binary, Categorical, Schema


@dataclass(frozen=True)
class Split:
    """A training set and two sets of people it does not hold.

    Attributes
    ----------
    train, train_labels
        The first rows of the sample.
    others, other_labels
        The rest of the sample: the test set of Section 7.
    elsewhere, elsewhere_labels
        The rest of the whole table: the test set of Tables 6 to 8.
    """

    train: pd.DataFrame
    train_labels: pd.Series
    others: pd.DataFrame
    other_labels: pd.Series
    elsewhere: pd.DataFrame
    elsewhere_labels: pd.Series


@functools.cache
def _frame(dataset: str) -> pd.DataFrame:
    return datasets.load(dataset, variant="binary").frame


def split_of(run: Run) -> Split:
    """The paper's sample for the run's seed, its first rows for training."""
    frame = _frame(run.dataset)
    sample = frame.sample(n=SAMPLE_ROWS, random_state=run.seed)
    train, others = sample.iloc[: run.n_rows], sample.iloc[run.n_rows :]
    elsewhere = frame.drop(index=train.index)
    return Split(*_parts(train), *_parts(others), *_parts(elsewhere))


def _parts(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Attributes and class, which is the last column."""
    frame = frame.reset_index(drop=True)
    return frame.iloc[:, :-1], frame.iloc[:, -1]


@functools.cache
def schema_of(dataset: str, convention: Convention) -> Schema:
    """Which profiles count as possible."""
    if convention == "tight":
        return datasets.load(dataset, variant="binary").schema
    columns = [str(c) for c in _frame(dataset).columns[:-1]]
    groups = {first: (name, last) for name, (first, last) in ONE_HOT[dataset].items()}
    attributes: list[Attribute] = []
    at = 0
    while at < len(columns):
        if at in groups:
            name, last = groups[at]
            attributes.append(Categorical(name, columns=columns[at : last + 1]))
            at = last + 1
        else:
            attributes.append(Binary(columns[at]))
            at += 1
    return Schema(attributes)
