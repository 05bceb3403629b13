import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import Profiles
import ReferenceIdP
import Store
import Synchronization
import Transport

/// Where one scenario plays: a phone program and an identity provider of its own, shared with no other scenario.
struct Stage: Sendable {
    /// 2026-11-30T00:00:00Z: when the clocks of a stage stand at the beginning.
    static let beginning = Instant(seconds: 1_795_996_800)

    let api: ControlAPI
    let engine: Engine
    /// Where what the scenario itself makes comes from.
    let entropy: Entropy
    let clock: WorldClock
    let log: ExchangeRecorder
    let target: Target
    /// The reference IdP of this stage; nil where a staging IdP is played against.
    let idp: InProcessIdP?

    /// The identity provider a scenario is played against.
    struct Target: Sendable {
        /// The issuer, without a slash at its end.
        var issuer: String
        var client: String
        /// The resource API's audience, where there is one.
        var resource: String?
        /// Who gives the tickets of its enrolments.
        var tickets = Tickets.given([])
    }

    /// Sets a stage with a reference IdP in this process and clocks that stand until they are moved.
    static func reference(
        seed: String, scenario: Scenario, profile: SenseCryptProfile, version: String
    ) throws -> Stage {
        let whole = Entropy(seed: Array("scenario \(seed) \(scenario.name)".utf8))
        let clock = WorldClock(at: beginning)
        let idp = try InProcessIdP(entropy: whole.derived("idp"), clock: clock, profile: profile)
        let log = ExchangeRecorder(now: { clock.now() })
        var settings = EngineSettings()
        settings.clock = clock
        settings.profile = profile
        settings.entropy = whole.derived("phone")
        settings.observer = { log.record($0, $1) }
        idp.join(&settings.inProcess)
        settings.inProcess.reachesSockets = false
        let engine = Engine(store: try Store.inMemory(), settings: settings)
        // As with `serve`: the IdP trusts the test roots of the phones beside it.
        try idp.restart(trusting: try AttestationTrust(try engine.attestationRoots().published))
        let api = ControlAPI(engine: engine, version: version, mayRunCommands: false, onStop: {})
        api.add(idp)
        let issuer = "\(idp.served.origin)/\(scenario.tenant)"
        let target = Target(
            issuer: issuer, client: scenario.client, resource: "\(idp.served.api)/\(scenario.tenant)")
        return Stage(
            api: api, engine: engine, entropy: whole.derived("scenario"), clock: clock, log: log, target: target,
            idp: idp)
    }

    /// Sets a stage against an identity provider somewhere else: real time, real sockets.
    static func staging(_ target: Target, settings: EngineSettings, version: String) throws -> Stage {
        let clock = WorldClock()
        let log = ExchangeRecorder(now: { clock.now() })
        var settings = settings
        settings.clock = clock
        settings.observer = { log.record($0, $1) }
        let engine = Engine(store: try Store.inMemory(), settings: settings)
        let api = ControlAPI(engine: engine, version: version, mayRunCommands: false, onStop: {})
        return Stage(
            api: api, engine: engine, entropy: settings.entropy.derived("scenario"), clock: clock, log: log,
            target: target, idp: nil)
    }

    /// A call of the reference IdP's management API: the status and the document.
    func manage(_ method: String, _ path: String, _ body: JSON? = nil) throws(SetUpFailure) -> (Int, JSON) {
        guard let idp else { throw SetUpFailure("only a reference IdP has a management API") }
        let response = idp.manage(method, path, body)
        return (response.status, response.body.isEmpty ? .null : (try? JSON(parsing: response.body)) ?? .null)
    }

    /// The same, for the set-up: anything but success is a failure of the set-up.
    @discardableResult
    func arrange(_ method: String, _ path: String, _ body: JSON? = nil) throws(SetUpFailure) -> JSON {
        let (status, document) = try manage(method, path, body)
        guard (200..<300).contains(status) else {
            throw SetUpFailure("\(method) /manage\(path) was answered \(status): \(document.text)")
        }
        return document
    }

    /// How many findings there were so far.
    var findingCount: Int64 { (try? arrange("GET", "/findings?limit=1"))?["total"]?.int ?? 0 }

    /// Findings behind a sequence number; all there are where an IdP that was put back has fewer than that.
    func findings(after sequence: Int64) -> [JSON] {
        guard idp != nil else { return [] }
        let sequence = sequence > findingCount ? 0 : sequence
        return (try? arrange("GET", "/findings?after=\(sequence)"))?["findings"]?.array ?? []
    }

    func end() async {
        await engine.settle(within: 2000)
        engine.close()
    }
}

/// Something that has to be there before a scenario can be judged was not.
struct SetUpFailure: Error, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
