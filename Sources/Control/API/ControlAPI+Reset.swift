import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP

/// Putting parts of the world back, or all of it.
extension ControlAPI {
    /// What can be put back.
    enum ResetScope: String, CaseIterable {
        case faults, devices, journal, clock, idp, all
    }

    func reset(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(of: request, allowing: ["scope"])
        let word = try fields.string("scope", "what is put back")
        guard let scope = ResetScope(rawValue: word) else {
            let known = ResetScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("scope", "one of \(known)", got: .string(word))
        }
        let cleared = try await clear(scope)
        // A world that begins anew has no past, and so nothing to say of it.
        if scope != .all { engine.note(JournalEvent(kind: "reset", [("scope", .string(word)), ("cleared", cleared)])) }
        return .json([
            "scope": .string(word), "cleared": cleared, "kept": ["snapshots", "what serve was started with"],
        ])
    }

    private func clear(_ scope: ResetScope) async throws(ControlProblem) -> JSON {
        switch scope {
        case .faults: return ["faults": .int(Int64(await engine.resetFaults()))]
        case .devices:
            let rows = try await controlling { () throws(EngineError) in try await engine.resetDevices() }
            return .counts(rows)
        case .journal:
            let removed = try await controlling { () throws(EngineError) in try await engine.resetJournal() }
            return ["journal": .int(Int64(removed.stored)), "feed": .int(Int64(removed.shown))]
        case .clock:
            let devices = try await controlling { () throws(EngineError) in try await engine.resetClocks() }
            return [
                "clock": .string(engine.clockView.setting.text), "devices": .int(Int64(devices)),
                "idps": .int(Int64(try resetIdPClocks())),
            ]
        case .idp: return ["idps": .array(try resetIdPs())]
        case .all: return try await clearAll()
        }
    }

    private func clearAll() async throws(ControlProblem) -> JSON {
        let faults = await engine.resetFaults()
        let before = engine.clockView.setting.text
        let removed = try await controlling { () throws(EngineError) in try await engine.resetEverything() }
        guard var document = JSON.counts(removed.rows).object else { preconditionFailure("counts are an object") }
        document["feed"] = .int(Int64(removed.shown))
        document["faults"] = .int(Int64(faults))
        document["clock"] = ["from": .string(before), "to": .string(engine.clockView.setting.text)]
        document["idps"] = .array(try resetIdPs())
        return .object(document)
    }

    /// Puts every reference IdP back to its seed, and says what each has lost.
    private func resetIdPs() throws(ControlProblem) -> [JSON] {
        var lost: [JSON] = []
        for host in hosts {
            var kinds: [String: Int] = [:]
            do {
                for record in try host.idp.records() { kinds[record.kind.rawValue, default: 0] += 1 }
                try engine.clearIdPRecords(host.name)
                try host.restart(from: [])
            } catch {
                throw ControlProblem(status: 500, code: "internal", detail: "\(host.name) does not start: \(error)")
            }
            lost.append(["origin": .string(host.served.origin), "records": .counts(kinds)])
        }
        return lost
    }

    private func resetIdPClocks() throws(ControlProblem) -> Int {
        for host in hosts { _ = host.manage("PUT", "/clock", ["mode": "real"]) }
        return hosts.count
    }
}

extension JSON {
    /// Counts by name, in the order of the names.
    static func counts(_ counts: [String: Int]) -> JSON {
        .object(counts.sorted { $0.key < $1.key }.map { ($0.key, .int(Int64($0.value))) })
    }
}
