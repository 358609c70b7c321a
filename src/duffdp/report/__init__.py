"""Reports about releases for readers who did not make them: contents, people protected, privacy,
error.
"""

from duffdp.report.hazards import sign_off
from duffdp.report.page import write
from duffdp.report.profile_page import write_profile
from duffdp.report.registry import registry_entry

__all__ = ["registry_entry", "sign_off", "write", "write_profile"]
