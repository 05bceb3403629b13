"""The management calls of the Python identity provider: users, tickets, switches, clock, faults and log."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import idp_attestation
from idp_faults import Fault, Faults
from idp_proofs import Malformed, decode
from idp_records import Application, Tenant, User
from idp_rules import Body, Refusal


class Managed(Protocol):
    """What the management calls act upon."""

    tenants: dict[str, Tenant]
    faults: Faults
    log: list[dict[str, Any]]
    transcript: list[dict[str, Any]]
    clock_offset: int

    def now(self) -> int: ...

    def reset(self) -> None: ...


def manage(idp: Managed, method: str, path: list[str], query: dict[str, str], body: Body) -> tuple[int, Any]:
    """Answers one management call; `path` is what follows `/manage`."""
    match (method, path):
        case ("POST", ["faults"]):
            return 201, _add_fault(idp, body)
        case ("GET", ["faults"]):
            return 200, [dataclasses.asdict(fault) for fault in idp.faults.waiting]
        case ("DELETE", ["faults"]):
            idp.faults.waiting.clear()
            return 204, None
        case ("GET", ["log"]):
            return 200, idp.log
        case ("GET", ["transcript"]):
            return 200, idp.transcript
        case ("DELETE", ["log"]):
            idp.log.clear()
            return 204, None
        case ("PUT", ["clock"]):
            idp.clock_offset = int(body.get("seconds", 0))
            return 200, {"now": idp.now()}
        case ("POST", ["reset"]):
            idp.reset()
            return 204, None
        case (_, ["tenants", name, *rest]) if name in idp.tenants:
            return _of_tenant(idp, idp.tenants[name], method, rest, query, body)
    raise Refusal(404, "not_found")


def _add_fault(idp: Managed, body: Body) -> Any:
    try:
        fault = Fault(**body)
    except (TypeError, ValueError) as error:
        raise Refusal(422, "invalid_fault", str(error)) from error
    idp.faults.waiting.append(fault)
    return dataclasses.asdict(fault)


def _of_tenant(idp: Managed, tenant: Tenant, method: str, path: list[str], query: dict[str, str],
               body: Body) -> tuple[int, Any]:
    match (method, path):
        case ("PATCH", []):
            return 200, _patch(tenant, body, ("runs_own_app", "self_signup"))
        case ("PATCH", ["policy"]):
            return 200, _patch(tenant.policy, body, tuple(vars(tenant.policy)))
        case ("PUT" | "GET", ["attestation"]):
            return 200, idp_attestation.configure(tenant, body)
        case ("DELETE", ["attestation", "keys"]):
            idp_attestation.of(tenant).keys.clear()
            return 204, None
        case ("GET", ["policy"]):
            return 200, dataclasses.asdict(tenant.policy)
        case ("PATCH", ["applications", client_id]) if client_id in tenant.applications:
            client = tenant.applications[client_id]
            return 200, _patch(client, body, tuple(vars(client)))
        case ("POST", ["applications"]):
            return 201, _add_application(tenant, body)
        case ("GET", ["inbox"]):
            return 200, [mail for mail in tenant.inbox if query.get("address") in (None, mail["to"])]
        case ("GET", ["users"]):
            return 200, [_shown(user) for user in tenant.users.values()]
        case ("POST", ["users"]):
            return 201, _create_user(idp, tenant, body)
        case (_, ["users", user_id, *rest]) if user_id in tenant.users:
            return _of_user(idp, tenant, tenant.users[user_id], method, rest, body)
    raise Refusal(404, "not_found")


def _add_application(tenant: Tenant, body: Body) -> Any:
    try:
        client = Application(**{"name": "", "resources": []} | body)
    except TypeError as error:
        raise Refusal(422, "unknown_field", str(error)) from error
    tenant.applications[client.client_id] = client
    return dataclasses.asdict(client)


def _of_user(idp: Managed, tenant: Tenant, user: User, method: str, path: list[str], body: Body) -> tuple[int, Any]:
    match (method, path):
        case ("GET", []):
            return 200, _shown(user)
        case ("PATCH", []):
            _patch(user, body, ("enabled",))
            return 200, _shown(user)
        case ("POST", ["tickets"]):
            return 201, {"ticket": tenant.ticket_for(user, idp.now())}
        case ("POST", ["import"]):
            _import(user, body)
            return 200, _shown(user)
        case ("DELETE", ["devices", kid]) if kid in user.devices:
            tenant.remove_device(user, kid)
            return 204, None
        case ("POST", ["revoke"]):
            tenant.end_grants(user)
            return 204, None
    raise Refusal(404, "not_found")


def _create_user(idp: Managed, tenant: Tenant, body: Body) -> Body:
    email = str(body.get("email", "")).lower()
    if "@" not in email or tenant.user_with_email(email):
        raise Refusal(422, "email", "missing, malformed or taken")
    user = tenant.add_user(email)
    return _shown(user) | ({"ticket": tenant.ticket_for(user, idp.now())} if body.get("ticket") else {})


def _import(user: User, body: Body) -> None:
    try:
        token = decode(str(body["face_token"]))
    except (Malformed, KeyError) as error:
        raise Refusal(422, "face_token") from error
    for device in user.devices.values():
        device.face_token, device.password_protected = token, bool(body.get("password_protected"))


def _shown(user: User) -> Body:
    return {"id": user.id, "email": user.email, "enabled": user.enabled,
            "devices": [{"kid": kid, "platform": device.platform, "generation": device.generation}
                        for kid, device in user.devices.items()]}


def _patch(record: object, changes: Body, allowed: tuple[str, ...]) -> Body:
    unknown = changes.keys() - set(allowed)
    if unknown:
        raise Refusal(422, "unknown_field", ", ".join(sorted(unknown)))
    for name, value in changes.items():
        setattr(record, name, value)
    return {name: getattr(record, name) for name in allowed}
