"""Standard names for tables and columns."""

from newsportal.store.schema import Renames, rename

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    rename(Renames(
        {
            "alert_marks": "alert_state", "attempts": "sign_in_attempts", "caught_up": "read_until", "followed": "log_positions",
            "searches": "saved_searches", "trail": "audit_log",
        },
        {
            "alert_messages": {"thing": "subject"},
            "alert_state": {"until": "leased_until"},
            "alerts": {"after": "after_seq"},
            "audit_log": {"way": "method", "thing": "subject"},
            "log_positions": {"position": "seq"},
            "people": {"named": "normalised_name"},
            "preferences": {"chosen": "settings"},
            "read_until": {"at": "until", "before": "previous"},
            "saved_searches": {"asked": "query"},
            "sessions": {"begun": "created", "seen": "last_seen", "agent": "user_agent"},
            "sign_in_attempts": {"failed": "failures", "last": "last_attempt", "trusted": "last_success", "until": "expires"},
            "tokens": {"used": "last_used"},
        },
    ))  # fmt: skip
