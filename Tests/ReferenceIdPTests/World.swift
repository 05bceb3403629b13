import Crypto
import Encoding
import HTTP
import Profiles
import Synchronization
import Testing

@testable import ReferenceIdP

/// A reference IdP in this process, under a clock that moves when told to.
///
/// One constructor with defaults: a test that sets nothing gets the seed of the wire, at one fixed time.
final class World: Sendable {
    static let start = Instant(seconds: 1_800_000_000)

    let origin = "http://127.0.0.1:7421"
    let api = "http://127.0.0.1:7422"
    let server: ReferenceIdPServer
    let stored: StoredRecords
    private let time: SharedInstant

    init(
        seed: UInt8 = 1, profile: SenseCryptProfile = .builtIn, records: [RecordChange] = [],
        stored: StoredRecords = StoredRecords(), at now: Instant = World.start,
        trust: AttestationTrust = AttestationTrust()
    ) throws {
        let time = SharedInstant(now)
        self.time = time
        self.stored = stored
        var configuration = ReferenceIdPServer.Configuration(
            origin: origin, apiOrigin: api, profile: profile, entropy: Entropy(seed: [seed]),
            wallClock: { time.value }, records: records, store: { try stored.store($0) })
        configuration.attestationTrust = trust
        server = try ReferenceIdPServer(configuration)
    }

    var now: Instant { time.value }
    func advance(seconds: Int64) { time.move(seconds: seconds) }

    /// The state, to look at.
    var idp: SenseCryptIdP { server.state.withLock { $0.idp } }
    func realm(_ tenant: String = "acme") throws -> Realm { try #require(idp.realms[tenant]) }

    func send(
        _ method: String, _ path: String, fields: [(String, String)] = [], body: [UInt8] = [],
        surface: IdPSurface = .identityProvider
    ) -> HTTPResponse {
        let response = server.handle(
            HTTPRequest(method: method, target: path, fields: HTTPFields(fields), body: body), surface: surface,
            peerIsLoopback: true, hostIsLoopback: true)
        #expect(response.status < 500, "\(method) \(path)")
        return response
    }

    func post(
        _ path: String, form: [(String, String)], proofs: [String] = [], more: [(String, String)] = []
    ) -> HTTPResponse {
        let fields = [("Content-Type", "application/x-www-form-urlencoded")] + proofs.map { ("DPoP", $0) } + more
        return send("POST", path, fields: fields, body: FormFields(form).encoded())
    }

    func post(_ path: String, json: JSON) -> HTTPResponse {
        send("POST", path, fields: [("Content-Type", "application/json")], body: json.serialized())
    }

    @discardableResult
    func manage(_ method: String, _ path: String, _ body: JSON? = nil) -> HTTPResponse {
        send(
            method, "/manage/" + path, fields: body == nil ? [] : [("Content-Type", "application/json")],
            body: body?.serialized() ?? [])
    }

    /// The rules that were broken so far, oldest first.
    var brokenRules: [String] { idp.findings.newest(limit: 1000).map(\.finding.rule) }

    /// Changes an application behind the management API's back, which would refuse some changes.
    func tamper(_ tenant: String = "acme", _ change: (inout Realm) -> Void) {
        server.state.withLock { _ = $0.idp.realms.update(tenant, change) }
    }

    /// A new user with an enrolment ticket.
    func newUser(_ email: String, tenant: String = "acme") throws -> (id: String, ticket: String) {
        let created = manage("POST", "tenants/\(tenant)/users", ["email": .string(email), "ticket": true])
        let body = try created.json
        return (try #require(body["id"]?.string), try #require(body["ticket"]?.string))
    }
}

final class SharedInstant: Sendable {
    private let instant: Mutex<Instant>
    init(_ instant: Instant) { self.instant = Mutex(instant) }
    var value: Instant { instant.withLock { $0 } }
    func move(seconds: Int64) { instant.withLock { $0 = $0.adding(seconds: seconds) } }
}

/// What the store hook was given, as a store would keep it.
final class StoredRecords: Sendable {
    struct Full: Error {}
    private let records = Mutex<[String: RecordChange]>([:])
    private let failures = Mutex(0)
    private let written = Mutex<[[RecordChange]]>([])

    func store(_ changes: [RecordChange]) throws {
        let fails = failures.withLock { left in
            left -= 1
            return left >= 0
        }
        if fails { throw Full() }
        written.withLock { $0.append(changes) }
        records.withLock { records in
            for change in changes {
                records["\(change.kind.rawValue) \(change.key)"] = change.value == nil ? nil : change
            }
        }
    }

    func failNext(_ count: Int) { failures.withLock { $0 = count } }
    /// Every transaction since the last ``forgetBatches()``.
    var batches: [[RecordChange]] { written.withLock { $0 } }
    func forgetBatches() { written.withLock { $0 = [] } }
    var all: [RecordChange] { records.withLock { Array($0.values) } }
}

extension HTTPResponse {
    var json: JSON { get throws { try JSON(parsing: body) } }
    /// The OAuth error, or nil where there is none.
    var error: String? { (try? JSON(parsing: body))?["error"]?.string }
    var nonce: String? { fields["DPoP-Nonce"] }
    /// Status and error in one, to compare with.
    var summary: String { "\(status) \(error ?? "-")" }
    func text(_ member: String) throws -> String { try #require(try json[member]?.string) }
}

extension [(String, String)] {
    mutating func set(_ name: String, _ value: String) {
        if let index = firstIndex(where: { $0.0 == name }) { self[index].1 = value } else { append((name, value)) }
    }
    mutating func drop(_ name: String) { removeAll { $0.0 == name } }
}

extension SenseCryptProfile {
    /// The built-in profile with other limits, by their names in the document.
    static func builtIn(limits changed: [String: Int]) throws -> SenseCryptProfile {
        var document = String(decoding: SenseCryptProfile.builtInDocument, as: UTF8.self)
        for (name, value) in changed {
            let line = try #require(document.firstMatch(of: try Regex("\\b\(name): [0-9]+,")))
            document.replaceSubrange(line.range, with: "\(name): \(value),")
        }
        return try SenseCryptProfile(json5: Array(document.utf8))
    }
}
