import Device
import Encoding
import Engine
import HTTP
import SignIn

extension DeviceView {
    /// The device as the control API shows it.
    var json: JSON {
        guard case .object(var object) = device.json else { preconditionFailure("a device is an object") }
        object["install_jkt"] = .string(installThumbprint)
        object["now"] = .int(now.seconds)
        object["enrolments"] = .array(enrolments.map(\.json))
        object["session"] = session.map { $0.json(at: now, showingTokens: false) } ?? .null
        object["client_assertion_provider"] =
            clientAssertions.map {
                ["kind": .string($0.kind), "client_id": $0.clientID.map(JSON.string) ?? .null]
            } ?? .null
        object["attestation"] = device.attestation.json
        return .object(object)
    }
}

extension VirtualDevice {
    /// What a list shows of a device.
    var json: JSON {
        [
            "id": .string(id.rawValue), "platform": .string(platform.rawValue), "clock": .string(clock.text),
            "default_scan": .string(camera.fallback.text),
            "scans": .array(camera.queue.map { .string($0.text) }), "created_at": .int(createdAt.seconds),
        ]
    }
}

extension Enrolment {
    var json: JSON {
        [
            "issuer": .string(issuer), "email": .string(email), "subject": .string(subject), "kid": .string(kid),
            "created_at": .int(createdAt.seconds),
        ]
    }
}

extension TokenSession {
    /// The session's summary; token values only where a person asked for them.
    func json(at now: Instant, showingTokens: Bool) -> JSON {
        var members: [(String, JSON)] = [
            ("issuer", .string(issuer)), ("client_id", .string(clientID)),
            ("subject", subject.map { .string($0) } ?? .null), ("scope", .array(scope.map { .string($0) })),
        ]
        if let resource { members.append(("resource", .string(resource))) }
        members += [
            ("expires_at", .int(expiresAt.seconds)), ("expired", .bool(isExpired(at: now))),
            ("has_refresh_token", .bool(refreshToken != nil)),
            ("claims", claims.flatMap { try? JSON(parsing: $0) } ?? .null),
        ]
        if showingTokens {
            members.append(("access_token", .string(accessToken)))
            if let refreshToken { members.append(("refresh_token", .string(refreshToken))) }
        }
        return .object(members)
    }
}

extension FlowView {
    /// The flow as the control API shows it, with the steps behind number `count`.
    func json(after count: Int, at now: Instant, showingTokens: Bool) -> JSON {
        var members: [(String, JSON)] = [
            ("id", .string(id.rawValue)), ("device", .string(device.rawValue)), ("system", .string(system)),
            ("issuer", .string(config.issuer)), ("client_id", .string(config.clientID)),
        ]
        members += state.documentMembers
        members += [
            ("parked", .bool(state.isParked)), ("ended", .bool(state.isTerminal)),
            ("waiting_for_scan", .bool(waitsForScan)), ("driven", .bool(isDriven)),
        ]
        if let secret { members.append(("shared_secret", .string(secret.rawValue))) }
        if let result { members.append(("result", .string(result))) }
        members.append(("steps", .array(stepDocuments(after: count))))
        if let session { members.append(("session", session.json(at: now, showingTokens: showingTokens))) }
        return .object(members)
    }

    private var result: String? {
        switch state {
        case .signedIn: "signed_in"
        case .failed: "failed"
        case .postingResultFailed: "parked"
        case .idle, .starting, .fetchingFaceToken, .awaitingFace, .checkingFace, .authorizing, .redeeming,
            .runningPki, .postingResult:
            nil
        }
    }
}

extension Fetched {
    /// What came of an API call, as the control API shows it; `binary` leaves the body's text form out.
    func json(binary: Bool) -> JSON {
        var members: [(String, JSON)] = [
            ("url", .string(url.text)), ("method", .string(method)), ("status", .int(Int64(response.status))),
            ("reason", response.reason.map { .string($0) } ?? .null),
            ("headers", .array(response.fields.map { [.string($0.name), .string($0.value)] })),
        ]
        if !binary {
            members.append(
                ("body", String(validating: response.body, as: UTF8.self).map { .string($0) } ?? .null))
        }
        members += [
            ("body_base64url", .string(Base64URL.encode(response.body))), ("authorized", .bool(isAuthorized)),
            ("attempts", .array(attempts.map(\.json))), ("refreshes", .array(refreshes.map(\.json))),
        ]
        return .object(members)
    }
}

extension Fetched.Refresh {
    fileprivate var json: JSON {
        var members: [(String, JSON)] = [("result", .string(name))]
        if case .failed(let error) = self { members.append(("message", .string(error.message))) }
        return .object(members)
    }
}

extension Fetched.Attempt {
    fileprivate var json: JSON {
        var members: [(String, JSON)] = [("status", .int(Int64(status)))]
        if let repeated { members.append(("repeated", .string(repeated))) }
        if let proof { members.append(("proof", proof)) }
        return .object(members)
    }
}
