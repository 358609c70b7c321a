"""Mutations of duffdp._studio."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STUDIO_DOOR = "tests/studio/studio_door_test.py"
STUDIO_PLAN = "tests/studio/studio_plan_test.py"
STUDIO_RELEASE = "tests/studio/studio_release_test.py"

MUTANTS = (
    Mutant(
        "studio: the second of two clicks pays after the first failed",
        "_studio/jobs.py",
        " or attempt != str(job.attempts):",
        ":",
        ("tests/studio/studio_release_test.py::test_a_second_try_does_not_pay_for_what_was_drawn",),
    ),
    Mutant(
        "studio: any host",
        "_studio/guard.py",
        'if headers.get("host") not in self.hosts:',
        'if "host" not in headers:',
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: any origin",
        "_studio/guard.py",
        'if headers.get("origin", origins[0]) not in origins or',
        "if",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: a form without an origin",
        "_studio/guard.py",
        'if "origin" not in headers:',
        "if False:",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: any token",
        "_studio/guard.py",
        "if not _tokens_match(token, self.token):",
        "if not token:",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: no cookie",
        "_studio/guard.py",
        'if not _tokens_match(_cookie(headers.get("cookie", ""), self._cookie), self._session):',
        "if False:",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: scripts read the cookie",
        "_studio/guard.py",
        "; HttpOnly; SameSite=Strict",
        "; SameSite=Strict",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: other sites send the cookie",
        "_studio/guard.py",
        "; HttpOnly; SameSite=Strict",
        "; HttpOnly",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: no secret in a form",
        "_studio/guard.py",
        "if not _tokens_match(csrf, self.csrf):",
        "if False:",
        (f"{STUDIO_DOOR}::test_changes_of_state_need_the_secret_of_the_page",),
    ),
    Mutant(
        "studio: one secret for all starts",
        "_studio/guard.py",
        "return secrets.token_hex(32)",
        'return "0" * 64',
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: scripts in the page",
        "_studio/guard.py",
        "script-src 'self';",
        "script-src 'self' 'unsafe-inline';",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: all addresses of the machine",
        "_studio/server.py",
        '_LOCAL_HOST = "127.0.0.1"',
        '_LOCAL_HOST = "0.0.0.0"',
        (f"{STUDIO_DOOR}::test_a_process_listens_on_this_machine_alone",),
    ),
    Mutant(
        "studio: paths out of the folder",
        "_studio/folder.py",
        "if path == self.root or not path.is_relative_to(self.root):",
        "if path == self.root:",
        (f"{STUDIO_DOOR}::test_no_path_leads_out_of_the_folder",),
    ),
    Mutant(
        "studio: links out of the folder",
        "_studio/folder.py",
        "path = (self.root / name).resolve()",
        "path = self.root / name",
        (f"{STUDIO_DOOR}::test_no_path_leads_out_of_the_folder",),
    ),
    Mutant(
        "studio: a second click pays again",
        "_studio/jobs.py",
        'if job.state not in ("unconfirmed", "failed") or attempt != str(job.attempts):',
        "if False:",
        (f"{STUDIO_RELEASE}::test_asking_again_and_again_pays_once",),
    ),
    Mutant(
        "studio: a retry is a new call",
        "_studio/jobs.py",
        '        call_id = f"studio {number}"',
        "        call_id = None",
        (STUDIO_RELEASE,),
    ),
    Mutant(
        "studio: a ledger is made for a file that has gone",
        "_studio/jobs.py",
        "table_plan(job.form, self._folder).check(self._folder.source(job.form.source))",
        "pass",
        (f"{STUDIO_RELEASE}::test_a_file_that_disappears_costs_nothing_and_can_come_back",),
    ),
    Mutant(
        "studio: a release charges nothing",
        "_studio/plan_text.py",
        '"epsilon": words.pop("epsilon"), **ledger, **words}',
        '"epsilon": words.pop("epsilon"), **words}',
        (STUDIO_RELEASE,),
    ),
    Mutant(
        "studio: failures in their own words",
        "_studio/jobs.py",
        'f"something unexpected went wrong ({type(error).__name__})."',
        "str(error)",
        (f"{STUDIO_RELEASE}::test_a_second_try_does_not_pay_for_what_was_drawn",),
    ),
    Mutant(
        "studio: the epsilon of one number for all",
        "_studio/previews.py",
        "epsilon * float(plan.plan.epsilon / number.request[EPSILON])",
        "epsilon",
        (f"{STUDIO_PLAN}::test_found_epsilon_is_enough_and_little_less_is_not",),
    ),
    Mutant(
        "studio: the epsilon of the whole table for one number",
        "_studio/previews.py",
        "within = forecast.within(epsilon, size",
        "within = forecast.within(Fraction(1), size",
        (f"{STUDIO_PLAN}::test_the_error_is_that_of_the_plans_own_preview",),
    ),
)
