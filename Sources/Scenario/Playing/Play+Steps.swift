import Device
import Encoding
import Engine

/// Doing what steps say.
extension Play {
    /// Does one thing; throws where the set-up is at fault, never because somebody refused.
    func performed(_ step: Scenario.Step) async throws -> Deed {
        let order = people.filled(step.order)
        switch step.verb {
        case "signin": return await signIn(order)
        case "retry", "cancel", "scan", "wait": return try await steer(step.verb, order)
        case "enrol": return try await enrol(order)
        case "signup": return try await signUp(order)
        case "fetch": return await fetch(order)
        case "refresh": return await session("POST", "/session/refresh", order)
        case "signout": return await session("DELETE", "/session", order)
        case "advance": return try await advance(order)
        case "life": return await life(order)
        case "fault": return deed(await call("POST", "/v1/faults", order))
        case "clear_faults": return deed(await call("DELETE", "/v1/faults"))
        case "reset": return deed(await call("POST", "/v1/reset", order))
        case "snapshot": return deed(await call("POST", "/v1/snapshots", order))
        case "restore":
            return deed(await call("POST", "/v1/snapshots/\(PercentCoding.encode(text(order, "name")))/restore"))
        case "manage":
            let (status, document) = try stage.manage(text(order, "method"), text(order, "path"), order["body"])
            return Deed(status: status, document: document)
        case "control": return deed(await call(text(order, "method"), text(order, "path"), order["body"]))
        default: throw SetUpFailure("there is no verb '\(step.verb)'")
        }
    }

    private func deed(_ answer: (status: Int, document: JSON), device: String? = nil) -> Deed {
        Deed(status: answer.status, document: answer.document, device: device)
    }

    private func text(_ order: JSON, _ name: String) -> String { order[name]?.string ?? "" }

    private func path(_ device: String, _ rest: String) -> String {
        "/v1/devices/\(PercentCoding.encode(device))\(rest)"
    }
}

/// Sign-ins.
extension Play {
    private func signIn(_ order: JSON) async -> Deed {
        let device = text(order, "device")
        var body = JSONObject([
            ("issuer", order["issuer"] ?? .string(stage.target.issuer)),
            ("client_id", order["client"] ?? .string(stage.target.client)),
        ])
        body["login_hint"] =
            order["login_hint"] ?? order["user"]?.string.flatMap { people["email:\($0)"] }.map(JSON.string)
        for name in [
            "system", "scopes", "scans", "faults", "pki", "attestation_defect", "client_attestation",
            "client_attestation_defect", "client_assertion_provider", "redirect_uri", "browser",
        ] { body[name] = order[name] }
        if let clientKey, order["client_assertion_provider"] == nil {
            body["client_assertion_provider"] = ["key": clientKey]
        }
        switch order["resource"] {
        case .bool(true)?: body["resource"] = stage.target.resource.map(JSON.string)
        case .string(let audience)?: body["resource"] = .string(audience)
        default: break
        }
        let started = await call("POST", path(device, "/flows"), .object(body))
        guard started.status == 201, let flow = started.document["id"]?.string else {
            return deed(started, device: device)
        }
        lastFlow[device] = flow
        people.fill("flow:\(device)", flow)
        return await rest(flow, device, until: order["until"]?.string)
    }

    /// Waits until a flow is in a state, or at rest: ended, parked, or before a camera that shows nothing.
    private func rest(_ flow: String, _ device: String, until state: String?) async -> Deed {
        var last = await call("GET", "/v1/flows/\(flow)")
        // A dozen waits that bring nothing new are a minute.
        var idle = 0
        while idle < 12, !isAtRest(last.document, until: state) {
            let known = steps(last.document)
            _ = await call("GET", "/v1/flows/\(flow)?after=\(known)&wait=5")
            last = await call("GET", "/v1/flows/\(flow)")
            idle = steps(last.document) == known ? idle + 1 : 0
        }
        return Deed(status: last.status, document: last.document, device: device, flow: flow)
    }

    private func isAtRest(_ flow: JSON, until state: String?) -> Bool {
        let isWaiting = ["ended", "parked", "waiting_for_scan"].contains { flow[$0]?.bool == true }
        return isWaiting || flow["state"] == nil || (state != nil && flow["state"]?.string == state)
    }

    private func steps(_ flow: JSON) -> Int64 { (flow["steps"]?.array ?? []).last?["n"]?.int ?? 0 }

    private func steer(_ verb: String, _ order: JSON) async throws -> Deed {
        let device = text(order, "device")
        guard let flow = lastFlow[device] else { throw SetUpFailure("'\(device)' has no sign-in to \(verb)") }
        if verb != "wait" {
            let body: JSON? = verb == "scan" ? ["scan": order["outcome"] ?? .null] : nil
            let answer = await call("POST", "/v1/flows/\(flow)/\(verb)", body)
            guard answer.status < 300 else { return deed(answer, device: device) }
        }
        return await rest(flow, device, until: order["until"]?.string)
    }
}

/// Enrolments, sessions, lives.
extension Play {
    private func enrol(_ order: JSON) async throws -> Deed {
        let device = text(order, "device")
        let ticket = try await ticket(order["ticket"]?.string, for: text(order, "user"))
        var body = JSONObject([
            ("issuer", order["issuer"] ?? .string(stage.target.issuer)), ("ticket", .string(ticket)),
        ])
        body["attestation_defect"] = order["attestation_defect"]
        return enrolled(device, await call("POST", path(device, "/enrolments"), .object(body)))
    }

    private func signUp(_ order: JSON) async throws -> Deed {
        let device = text(order, "device")
        let (issuer, email) = (JSON.string(stage.target.issuer), order["email"] ?? .null)
        let asked = await call("POST", path(device, "/enrolments"), ["issuer": issuer, "email": email])
        guard asked.status == 202 else { return deed(asked, device: device) }
        let code = try order["code"] ?? mailedCode(to: email)
        return enrolled(
            device,
            await call("POST", path(device, "/enrolments"), ["issuer": issuer, "email": email, "code": code]))
    }

    private func mailedCode(to email: JSON) throws(SetUpFailure) -> JSON {
        let mails = try stage.arrange("GET", "/tenants/\(scenario.tenant)/inbox")["mails"]?.array ?? []
        guard let code = mails.last(where: { $0["address"] == email })?["code"], code != .null else {
            throw SetUpFailure("no code was mailed to \(email.text)")
        }
        return code
    }

    private func enrolled(_ device: String, _ answer: (status: Int, document: JSON)) -> Deed {
        if let kid = answer.document["kid"]?.string { people.fill("kid:\(device)", kid) }
        return deed(answer, device: device)
    }

    private func fetch(_ order: JSON) async -> Deed {
        let device = text(order, "device")
        var body = JSONObject([("url", order["url"] ?? .string((stage.target.resource ?? "") + "/accounts"))])
        for name in ["method", "headers", "body", "one_shot", "faults"] { body[name] = order[name] }
        return deed(await call("POST", path(device, "/fetch"), .object(body)), device: device)
    }

    private func session(_ method: String, _ rest: String, _ order: JSON) async -> Deed {
        let device = text(order, "device")
        let body: JSON? = order["faults"].map { ["faults": $0] }
        return deed(await call(method, path(device, rest), body), device: device)
    }

    private func life(_ order: JSON) async -> Deed {
        let device = text(order, "device")
        var body = JSONObject([("event", order["event"] ?? .null)])
        body["as"] = order["as"]
        return deed(await call("POST", path(device, "/life"), .object(body)), device: device)
    }

    /// What a phone holds now.
    func stored(_ device: String) async -> Evidence.Stored {
        let document = await call("GET", path(device, "")).document
        let kids = (document["enrolments"]?.array ?? []).compactMap { $0["kid"]?.string }
        // A JSON null is a value, and no nil.
        let session = document["session"]?.object.map(JSON.object)
        return Evidence.Stored(
            session: session, enrolments: kids.count,
            generation: kids.last.flatMap(generation))
    }

    private func generation(of kid: String) -> Int64? {
        guard stage.idp != nil else { return nil }
        let users = (try? stage.arrange("GET", "/tenants/\(scenario.tenant)/users"))?["users"]?.array ?? []
        let devices = users.flatMap { $0["devices"]?.array ?? [] }
        return devices.first { $0["kid"]?.string == kid }?["generation"]?.int
    }
}

/// Clocks.
extension Play {
    private func advance(_ order: JSON) async throws -> Deed {
        let span = text(order, "by")
        // The same text form as that of a clock's offset.
        guard case .offset(let seconds)? = DeviceClock(span.hasPrefix("-") || span.hasPrefix("+") ? span : "+" + span)
        else { throw SetUpFailure("'\(span)' is no span of time") }
        switch text(order, "who") {
        case "world": return Deed(status: 200, document: ["woken": .int(Int64(stage.clock.advance(seconds: seconds)))])
        case "idp": return try advanceIdP(seconds)
        case let device: return try await advance(device, seconds)
        }
    }

    private func advanceIdP(_ seconds: Int64) throws -> Deed {
        let shown = try stage.arrange("GET", "/clock")
        let moved: JSON =
            switch shown["mode"]?.string {
            case "frozen": ["mode": "frozen", "at": .int((shown["at"]?.int ?? 0) + seconds)]
            default: ["mode": "offset", "seconds": .int((shown["seconds"]?.int ?? 0) + seconds)]
            }
        let (status, document) = try stage.manage("PUT", "/clock", moved)
        return Deed(status: status, document: document)
    }

    private func advance(_ device: String, _ seconds: Int64) async throws -> Deed {
        let shown = await call("GET", path(device, "")).document
        guard let clock = shown["clock"]?.string.flatMap({ DeviceClock($0) }) else {
            throw SetUpFailure("there is no phone '\(device)' whose clock could be moved")
        }
        let moved = try clock.advanced(bySeconds: seconds)
        return deed(await call("PATCH", path(device, ""), ["clock": .string(moved.text)]), device: device)
    }
}
