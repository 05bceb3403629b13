import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP
import Store

/// The whole world, saved and put back: snapshots by name, and exports.
extension ControlAPI {
    func listSnapshots() throws(ControlProblem) -> HTTPResponse {
        .json([
            "snapshots": .array(
                shelf.list.map { ["name": .string($0.name), "bytes": .int(Int64($0.bytes))] })
        ])
    }

    func takeSnapshot(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(of: request, allowing: ["name"])
        let name = try snapshotName(try fields.string("name", "the snapshot's name"))
        let known = shelf.list
        guard known.count < SnapshotShelf.limit || known.contains(where: { $0.name == name }) else {
            throw ControlProblem(
                status: 409, code: "too_many", detail: "there are \(SnapshotShelf.limit) snapshots; delete one first")
        }
        let document = try await world()
        let bytes = document.json.serialized()
        do throws(PrivateFileError) {
            try shelf.put(bytes, as: name)
        } catch {
            throw ControlProblem(status: 500, code: "storage", detail: error.description)
        }
        engine.note(JournalEvent(kind: "snapshot", [("taken", .string(name))]))
        return .json(
            ["name": .string(name), "bytes": .int(Int64(bytes.count)), "rows": rows(of: document)], status: 201)
    }

    func restoreSnapshot(_ name: String) async throws(ControlProblem) -> HTTPResponse {
        guard let bytes = shelf.get(try snapshotName(name)) else {
            throw .notFound("there is no snapshot '\(name)'")
        }
        let document = try await replace(with: try parsed(bytes))
        engine.note(JournalEvent(kind: "snapshot", [("restored", .string(name))]))
        return .json(["name": .string(name), "rows": rows(of: document), "not_in_it": Self.notSaved])
    }

    func deleteSnapshot(_ name: String) throws(ControlProblem) -> HTTPResponse {
        guard shelf.remove(try snapshotName(name)) else { throw .notFound("there is no snapshot '\(name)'") }
        return HTTPResponse(status: 204)
    }

    func exportWorld() async throws(ControlProblem) -> HTTPResponse { .json(try await world().json) }

    func importWorld(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        guard request.mediaType?.isJSON == true else {
            throw ControlProblem(
                status: 415, code: "unsupported_media_type", detail: "the body must be application/json")
        }
        let document = try await replace(with: try parsed(request.body))
        return .json(["rows": rows(of: document), "not_in_it": Self.notSaved])
    }

    /// What neither snapshots nor exports hold.
    private static let notSaved: JSON = [
        "what servers remember of proofs and rates", "findings", "shared secrets not taken",
        "client assertion providers",
    ]

    /// The world as it is, while nothing is under way.
    private func world() async throws(ControlProblem) -> WorldDocument {
        let (engine, hosts) = (engine, hosts)
        return try await controlling { () throws(EngineError) in
            try await engine.alone {
                var document = WorldDocument(clock: engine.clockView.setting.text, dump: try engine.dump())
                for host in hosts { document = document.with(try host.idp.records(), of: host.name) }
                return document
            }
        }
    }

    /// Puts another world in the place of this one; where it is none, nothing has changed.
    private func replace(with document: WorldDocument) async throws(ControlProblem) -> WorldDocument {
        guard let clock = DeviceClock(document.clock) else {
            throw WorldDocument.wrong("clock must be real, such as +90s, or @SECONDS")
        }
        let (engine, hosts) = (engine, hosts)
        let outcome: Result<Void, ControlProblem> = try await controlling { () throws(EngineError) in
            try await engine.alone(replacing: true) {
                do {
                    let before = try engine.dump()
                    try engine.replaceStore(with: document.dump)
                    do {
                        for host in hosts { try host.restart(from: document.records(of: host.name)) }
                    } catch {
                        try engine.replaceStore(with: before)
                        throw error
                    }
                } catch let error as EngineError {
                    throw error
                } catch {
                    return .failure(WorldDocument.wrong("\(error)"))
                }
                engine.restoreClock(clock)
                return .success(())
            }
        }
        try outcome.get()
        return document
    }

    private func parsed(_ bytes: [UInt8]) throws(ControlProblem) -> WorldDocument {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw ControlProblem(status: 400, code: "malformed_json", detail: error.description, rule: error.code)
        }
        return try WorldDocument(json)
    }

    private func rows(of document: WorldDocument) -> JSON {
        .counts(document.dump.tables.reduce(into: [:]) { $0[$1.name] = $1.rows.count })
    }

    private func snapshotName(_ text: String) throws(ControlProblem) -> String {
        // The same rule as for devices: it is a file's name.
        guard DeviceID(rawValue: text) != nil else {
            throw .invalid(
                "name", "a name is 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit",
                got: .string(text))
        }
        return text
    }
}
