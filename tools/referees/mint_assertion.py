"""A command for `--assertion-command`: reads the request on stdin and prints an assertion signed with a JWK file.

    python tools/referees/mint_assertion.py key.jwk
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from joserfc import jwk

from confidential import Client


def main() -> int:
    members = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    key = (jwk.ECKey if members["kty"] == "EC" else jwk.RSAKey).import_key(members)
    request = json.load(sys.stdin)
    assert request.keys() == {"client_id", "audience", "dpop_jkt"}, sorted(request)
    print(Client(request["audience"], key, members["kid"], request["client_id"]).assertion())
    return 0


if __name__ == "__main__":
    sys.exit(main())
