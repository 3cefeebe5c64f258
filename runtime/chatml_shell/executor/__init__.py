"""The executor: from a request to a result, in the one order that there is (shell.md section 13).

    request ─▶ each pipeline whose condition holds ─▶ each stage prepared (P1 … P14) ─▶ all stages run ─▶ result

Every stage of a pipeline is prepared before any is started, so a refusal starts nothing; pipelines that are not
selected are neither prepared nor reviewed. `prepare` is the order of review, one step below the other; `pipeline` runs
what it made; `run` joins pipelines. Whatever goes wrong is a `Refusal` with one of the codes of section 12.6.
"""
