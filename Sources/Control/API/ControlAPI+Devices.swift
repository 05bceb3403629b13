import Device
import Encoding
import Engine
import HTTP
import SignIn

/// Devices, their enrolments and their session.
extension ControlAPI {
    func listDevices(_ request: HTTPRequest) throws(ControlProblem) -> HTTPResponse {
        let query = try QueryFields(of: request, allowing: ["limit", "after"])
        let limit = try query.number("limit", in: 1...1000, or: 100)
        var after: DeviceID?
        if let text = query["after"] { after = try deviceID(text, field: "after") }
        let last = after
        let devices = try controllingNow { () throws(EngineError) in try engine.devices(limit: limit, after: last) }
        let next: JSON = devices.count == limit ? devices.last.map { .string($0.id.rawValue) } ?? .null : .null
        return .json(["devices": .array(devices.map(\.json)), "next": next])
    }

    func createDevice(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(
            of: request, allowing: ["id", "platform", "clock", "scans", "default_scan", "face_of", "attestation"])
        let id = try deviceID(try fields.string("id", "the device's name"), field: "id")
        let platform = try platform(fields)
        let clock = try clock(fields) ?? .real
        var camera = Camera(fallback: try defaultScan(fields) ?? .match)
        try append(scans(fields, "scans"), to: &camera)
        let complete = camera
        var other: DeviceID?
        if let text = try fields.optionalString("face_of") { other = try deviceID(text, field: "face_of") }
        let face = other
        let attestation = try attestation(fields, of: AttestationSettings())
        _ = try controllingNow { () throws(EngineError) in
            try engine.createDevice(
                id, platform: platform, clock: clock, camera: complete, faceOf: face, attestation: attestation)
        }
        return try await answer(id, status: 201)
    }

    func showDevice(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        try await answer(try knownID(id), status: 200)
    }

    func changeDevice(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(of: request, allowing: ["clock", "scans", "default_scan", "attestation"])
        let clock = try clock(fields)
        let fallback = try defaultScan(fields)
        let queue = fields.has("scans") ? try scans(fields, "scans") : nil
        var trial = Camera()
        try append(queue ?? [], to: &trial)
        // What is wrong is said before anything is changed; what is right is applied to the settings as they are then.
        let changes = fields.json("attestation")
        _ = try attestation(fields, of: AttestationSettings())
        let view = try await controlling { () throws(EngineError) in
            try await engine.updateDevice(device) { (device) throws(EngineError) in
                if let changes { try device.changeAttestation(changes) }
                if let clock { device.clock = clock }
                if let fallback { device.camera.fallback = fallback }
                if let queue { try device.camera.replaceQueue(with: queue) }
            }
        }
        return .json(view.json)
    }

    func addScans(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(of: request, allowing: ["scans"])
        let more = try scans(fields, "scans")
        guard !more.isEmpty else { throw .missing("scans", "a list of scan outcomes") }
        let view = try await controlling { () throws(EngineError) in
            try await engine.updateDevice(device) { (device) throws(EngineError) in
                try device.camera.extendQueue(with: more)
            }
        }
        return .json(view.json)
    }

    func deleteDevice(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        try await controlling { () throws(EngineError) in try await engine.deleteDevice(device) }
        return HTTPResponse(status: 204)
    }

    func enrol(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let fields = try BodyFields(of: request, allowing: ["issuer", "ticket", "email", "code", "attestation_defect"])
        let issuer = try fields.string("issuer", "the tenant's issuer")
        let ticket = try fields.optionalString("ticket")
        let email = try fields.optionalString("email", longest: 254)
        let code = try fields.optionalString("code", longest: 64)
        let defect = try attestationDefect(fields)
        let credential: EnrolmentCredential
        switch (ticket, email, code) {
        case (let ticket?, nil, nil): credential = .ticket(ticket)
        case (nil, let email?, let code?): credential = .code(code, email: email)
        case (nil, let email?, nil):
            try await controlling { () throws(EngineError) in
                try await engine.requestSignUp(email, issuer: issuer, device: device)
            }
            return .json(["status": "code_sent", "email": .string(email)], status: 202)
        default:
            throw .missing("ticket", "either 'ticket', or 'email' with or without 'code'")
        }
        let enrolment = try await controlling { () throws(EngineError) in
            try await engine.enrol(credential, issuer: issuer, device: device, attestationDefect: defect)
        }
        return .json(enrolment.json, status: 201)
    }

    func forgetEnrolment(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let query = try QueryFields(of: request, allowing: ["issuer", "email"])
        let issuer = try query.string("issuer", "the tenant's issuer")
        let email = try query.string("email", "the enrolled address")
        try await controlling { () throws(EngineError) in
            try await engine.forgetEnrolment(issuer: issuer, email: email, device: device)
        }
        return HTTPResponse(status: 204)
    }

    func showSession(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let showsTokens = try QueryFields(of: request, allowing: ["show_tokens"]).flag("show_tokens")
        let found = try await controlling { () throws(EngineError) in try await engine.session(of: device) }
        guard let found else { throw .notFound("device '\(id)' holds no session; sign in first") }
        return .json(found.session.json(at: found.now, showingTokens: showsTokens))
    }

    func refreshSession(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        let showsTokens = try QueryFields(of: request, allowing: ["show_tokens"]).flag("show_tokens")
        let fields = try BodyFields(of: request, allowing: ["faults"])
        let planned = try faults(fields, among: [.refresh])
        let renewed = try await controlling { () throws(EngineError) in
            try await engine.refreshSession(of: device, faults: planned)
        }
        return .json(renewed.session.json(at: renewed.now, showingTokens: showsTokens))
    }

    func signOut(_ id: String) async throws(ControlProblem) -> HTTPResponse {
        let device = try knownID(id)
        try await controlling { () throws(EngineError) in try await engine.signOut(device) }
        return HTTPResponse(status: 204)
    }

    private func answer(_ id: DeviceID, status: Int) async throws(ControlProblem) -> HTTPResponse {
        let view = try await controlling { () throws(EngineError) in try await engine.device(id) }
        return .json(view.json, status: status)
    }
}

/// Reading what devices are described with.
extension ControlAPI {
    func deviceID(_ text: String, field: String) throws(ControlProblem) -> DeviceID {
        guard let id = DeviceID(rawValue: text) else {
            throw .invalid(
                field, "a device id is 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit",
                got: .string(text))
        }
        return id
    }

    /// An id in a path: one that cannot be is simply not found.
    func knownID(_ text: String) throws(ControlProblem) -> DeviceID {
        guard let id = DeviceID(rawValue: text) else {
            throw ControlProblem(EngineError.noSuchDevice(String(text.prefix(64))))
        }
        return id
    }

    func scans(_ fields: BodyFields, _ name: String) throws(ControlProblem) -> [ScanOutcome] {
        var outcomes: [ScanOutcome] = []
        for text in try fields.strings(name, most: Camera.longestQueue) { outcomes.append(try scan(text, field: name)) }
        return outcomes
    }

    func scan(_ text: String, field: String) throws(ControlProblem) -> ScanOutcome {
        do throws(DeviceTextError) {
            return try ScanOutcome(text: text)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "\(field): \(error)", field: field, rule: error.code)
        }
    }

    private func append(_ scans: [ScanOutcome], to camera: inout Camera) throws(ControlProblem) {
        do throws(DeviceTextError) {
            try camera.append(scans)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "scans: \(error)", field: "scans", rule: error.code)
        }
    }

    private func defaultScan(_ fields: BodyFields) throws(ControlProblem) -> ScanOutcome? {
        guard let text = try fields.optionalString("default_scan") else { return nil }
        return try scan(text, field: "default_scan")
    }

    private func platform(_ fields: BodyFields) throws(ControlProblem) -> Platform {
        guard let text = try fields.optionalString("platform") else { return .ios }
        guard let platform = Platform(rawValue: text) else {
            let known = Platform.allCases.map(\.rawValue).joined(separator: " or ")
            throw .invalid("platform", known, got: .string(text))
        }
        return platform
    }

    private func clock(_ fields: BodyFields) throws(ControlProblem) -> DeviceClock? {
        guard let text = try fields.optionalString("clock") else { return nil }
        do throws(DeviceTextError) {
            return try DeviceClock(text: text)
        } catch {
            throw ControlProblem(
                status: 422, code: "invalid_field", detail: "clock: \(error)", field: "clock", rule: error.code)
        }
    }
}

extension Camera {
    /// Puts outcomes in place of the queue.
    fileprivate mutating func replaceQueue(with scans: [ScanOutcome]) throws(EngineError) {
        clearQueue()
        try extendQueue(with: scans)
    }

    /// Puts outcomes behind the queue.
    fileprivate mutating func extendQueue(with scans: [ScanOutcome]) throws(EngineError) {
        do throws(DeviceTextError) {
            try append(scans)
        } catch {
            throw .invalid(field: "scans", rule: error.description, value: "\(scans.count) more")
        }
    }
}

extension VirtualDevice {
    /// Applies changes of the attestation settings, and looks whether this platform's evidence can be like that.
    fileprivate mutating func changeAttestation(_ changes: JSON) throws(EngineError) {
        var changed = attestation
        do throws(AttestationSettingFault) {
            try changed.apply(changes)
        } catch {
            throw .invalid(field: "attestation.\(error.name)", rule: error.rule, value: error.found)
        }
        try changed.check(on: platform)
        attestation = changed
    }
}
