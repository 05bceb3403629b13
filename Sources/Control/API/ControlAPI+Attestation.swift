import Device
import Encoding
import Engine
import HTTP
import JOSE

/// Evidence of a device without a flow, and the roots it goes back to.
extension ControlAPI {
    func attest(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(
            of: request,
            allowing: [
                "format", "challenge", "kind", "client_id", "code_challenge", "kid", "defect", "settings",
                "stale_challenge",
            ])
        let name = try fields.string("format", "one of \(Self.formats)")
        guard let format = EvidenceFormat(rawValue: name) else {
            throw .invalid("format", "one of \(Self.formats)", got: .string(name))
        }
        let order = EvidenceOrder(
            format: format, challenge: try fields.string("challenge", "the server's challenge"),
            kind: try kind(fields), settings: try settings(fields),
            staleChallenge: try fields.optionalString("stale_challenge"))
        let made = try await controlling { () throws(EngineError) in try await engine.attest(order, device: device) }
        return .json(made.json(device: device, settings: order.settings))
    }

    func showRoots() throws(ControlProblem) -> HTTPResponse {
        let roots = try controllingNow { () throws(EngineError) in try engine.attestationRoots() }.published
        return .json([
            "apple_root": .string(roots.appleRoot), "apple_fingerprint": .string(roots.appleFingerprint),
            "receipt_root": .string(roots.receiptRoot), "android_root": .string(roots.androidRoot),
            "android_fingerprint": .string(roots.androidFingerprint),
            "play_decryption_key": .string(roots.playDecryptionKey),
            "play_verification_key": .string(roots.playVerificationKey), "attesters": roots.attesters.json,
        ])
    }

    private static let formats = EvidenceFormat.allCases.map(\.rawValue).joined(separator: ", ")

    private func kind(_ fields: BodyFields) throws(ControlProblem) -> EvidenceOrder.Kind {
        switch try fields.optionalString("kind") ?? "raw" {
        case "raw": return .challengeOnly
        case "start":
            return .start(
                clientID: try fields.string("client_id", "the client of the sign-in"),
                codeChallenge: try fields.string("code_challenge", "the PKCE challenge of the sign-in"))
        case "enrolment": return .enrolment(kid: try fields.optionalString("kid"))
        case let other: throw .invalid("kind", "raw, start or enrolment", got: .string(other))
        }
    }

    private func settings(_ fields: BodyFields) throws(ControlProblem) -> AttestationSettings {
        var settings = AttestationSettings()
        do throws(AttestationSettingFault) {
            if let changes = fields.json("settings") { try settings.apply(changes) }
            if let defect = fields.json("defect") { try settings.apply(.object([("defect", defect)])) }
        } catch {
            throw ControlProblem(error, of: error.name)
        }
        return settings
    }

    /// Settings as the member `attestation` changes them.
    func attestation(
        _ fields: BodyFields, of settings: AttestationSettings
    ) throws(ControlProblem) -> AttestationSettings {
        var settings = settings
        do throws(AttestationSettingFault) {
            if let changes = fields.json("attestation") { try settings.apply(changes) }
        } catch {
            throw ControlProblem(error, of: error.name == "attestation" ? error.name : "attestation.\(error.name)")
        }
        return settings
    }

    /// What is wrong on purpose with the evidence of one flow or enrolment; nil where nothing is said.
    func attestationDefect(_ fields: BodyFields) throws(ControlProblem) -> AttestationDefect? {
        guard let name = fields.json("attestation_defect") else { return nil }
        var settings = AttestationSettings()
        do throws(AttestationSettingFault) {
            try settings.apply(.object([("defect", name)]))
        } catch {
            throw ControlProblem(error, of: "attestation_defect")
        }
        return settings.defect
    }
}

extension ControlProblem {
    fileprivate init(_ fault: AttestationSettingFault, of field: String) {
        self.init(
            status: 422, code: "invalid_field", detail: "\(field): \(fault.rule), not \(fault.found)", field: field,
            rule: fault.rule)
    }
}

extension MadeEvidence {
    fileprivate func json(device: DeviceID, settings: AttestationSettings) -> JSON {
        var members: [(String, JSON)] = [
            ("device", .string(device.rawValue)), ("format", .string(evidence.format.rawValue)),
            ("defect", .string(settings.defect.rawValue)), ("evidence", evidence.json),
        ]
        if let keyID = evidence.json["key_id"] { members.append(("key_id", keyID)) }
        if let counter { members.append(("counter", .int(Int64(counter)))) }
        let isApple = evidence.format.isAppAttest
        members.append(isApple ? ("app_id", .string(settings.app.appID)) : ("package", .string(settings.app.package)))
        if let rootFingerprint { members.append(("root_fingerprint", .string(rootFingerprint))) }
        return .object(members)
    }
}
