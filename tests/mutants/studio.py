"""Mutations of duffdp._studio."""

from __future__ import annotations

from tests.mutants.mutant import WORDS, Mutant

STUDIO_DOOR = "tests/studio/studio_door_test.py"
STUDIO_RELEASE = "tests/studio/studio_release_test.py"

MUTANTS = (
    Mutant(
        "studio: any host",
        "_studio/guard.py",
        'if headers.get("host") not in self.hosts:',
        'if "host" not in headers:',
        (f"{STUDIO_DOOR}::test_a_foreign_host_is_refused_with_the_right_cookie",),
        WORDS,
    ),
    Mutant(
        "studio: any token",
        "_studio/guard.py",
        "if not _tokens_match(token, self.token):",
        "if not token:",
        (f"{STUDIO_DOOR}::test_a_wrong_token_is_refused_and_the_right_one_leaves_the_address",),
        WORDS,
    ),
    Mutant(
        "studio: no secret in a form",
        "_studio/guard.py",
        "if not _tokens_match(csrf, self.csrf):",
        "if False:",
        (f"{STUDIO_DOOR}::test_changes_of_state_need_the_secret_of_the_page",),
        WORDS,
    ),
    Mutant(
        "studio: all addresses of the machine",
        "_studio/server.py",
        '_LOCAL_HOST = "127.0.0.1"',
        '_LOCAL_HOST = "0.0.0.0"',
        (f"{STUDIO_DOOR}::test_a_process_listens_on_this_machine_alone",),
        WORDS,
    ),
    Mutant(
        "studio: paths out of the folder",
        "_studio/folder.py",
        "if path == self.root or not path.is_relative_to(self.root):",
        "if path == self.root:",
        (f"{STUDIO_DOOR}::test_no_path_leads_out_of_the_folder",),
        WORDS,
    ),
    Mutant(
        "studio: a second click pays again",
        "_studio/jobs.py",
        'if job.state not in ("unconfirmed", "failed") or attempt != str(job.attempts):',
        "if False:",
        (f"{STUDIO_RELEASE}::test_asking_again_and_again_pays_once",),
        WORDS,
    ),
    Mutant(
        "studio: a release charges nothing",
        "_studio/plan_text.py",
        '"epsilon": words.pop("epsilon"), **ledger, **words}',
        '"epsilon": words.pop("epsilon"), **words}',
        (f"{STUDIO_RELEASE}::test_from_a_plan_to_a_page",),
        WORDS,
    ),
)
