"""An audit in the layout of SACRO-ML's attack reports, for tools that read those.

The layout is that of `StructuralAttack` (sacroml 2): ``log_id``, ``log_time``, ``metadata`` with
``global_metrics``, and ``attack_experiment_logger`` with one instance.  What SACRO-ML measures and
this audit did not is null, never a default that could be mistaken for a result.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from glassleak._version import __version__
from glassleak.audit._document import json_ready
from glassleak.audit.analyses._freedom import n_parameters, residual

if TYPE_CHECKING:
    from glassleak.audit._audit import Audit


def sacro_document(audit: Audit) -> dict[str, Any]:
    """The audit as a SACRO-ML style report.

    ``gen_error_risk`` and accuracies need the estimator to be run on data, and
    ``unnecessary_risk`` judges hyper-parameters alone: both are null.
    """
    model = audit.opened.model
    ids = {finding.id for finding in audit.findings}
    structure = next((r for a, r in audit.outcomes if a.id == "structure"), None)
    assessed = structure is not None and any(
        finding.id == "structure.shape" for finding in structure.findings
    )
    left = None if model is None else residual(model)
    policy = audit.policy
    metrics: dict[str, Any] = {
        "test_acc": None,
        "train_acc": None,
        "generalisation_gap": None,
        "gen_error_risk": None,
        "unnecessary_risk": None,
        "dof_risk": None if left is None else left < policy.min_degrees_of_freedom,
        "k_anonymity_risk": "structure.small-groups" in ids if assessed else None,
        "class_disclosure_risk": (
            bool({"structure.pure-groups", "structure.absent-classes"} & ids) if assessed else None
        ),
        "smallgroup_risk": (
            bool({"structure.small-groups", "structure.small-classes"} & ids) if assessed else None
        ),
        "details": _details(audit, left),
    }
    return {
        "log_id": str(uuid.uuid4()),
        "log_time": datetime.now(UTC).strftime("%d/%m/%Y %H:%M:%S"),
        "metadata": {
            "sacroml_version": f"glassleak {__version__}",
            "attack_name": "Structural Attack",
            "attack_params": {
                "report_individual": False,
                "risk_appetite_config": policy.name,
                "safe_threshold": policy.min_people,
                "safe_dof_threshold": policy.min_degrees_of_freedom,
                "zeros_are_disclosive": policy.zeros_are_disclosive,
            },
            "global_metrics": metrics,
            "target_model": None if model is None else model.provenance.estimator,
            "target_model_params": (
                {} if model is None else json_ready(dict(model.provenance.settings))
            ),
            "target_train_params": {},
        },
        "attack_experiment_logger": {"attack_instance_logger": {"instance_0": metrics}},
    }


def _details(audit: Audit, left: int | None) -> dict[str, Any]:
    model = audit.opened.model
    return {
        "verdict": audit.verdict,
        "reasons": [{"text": r.text, "finding": r.finding} for r in audit.reasons],
        "sha256": audit.opened.sha256,
        "samples": None if model is None else model.n_rows,
        "parameters": None if model is None else n_parameters(model),
        "residual_dof": left,
        "findings": [
            {
                "id": finding.id,
                "effect": finding.effect,
                "title": finding.title,
                "evidence": json_ready(dict(finding.evidence)),
            }
            for finding in audit.findings
        ],
        "not_assessed": [
            {"analysis": analysis.id, "reason": result.reason}
            for analysis, result in audit.not_assessed
        ],
    }
