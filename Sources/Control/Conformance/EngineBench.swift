import Conformance
import Crypto
import Device
import Encoding
import Engine
import HTTP
import Synchronization
import Transport

/// A conformance run's phones and network, which are the engine's.
final class EngineBench: Sendable {
    private let engine: Engine
    private let order: ConformanceOrder
    /// Phones made for the run.
    private let made = Mutex<[DeviceID]>([])

    init(_ engine: Engine, _ order: ConformanceOrder) {
        self.engine = engine
        self.order = order
    }

    /// What the run is made with.
    func setup() async throws(ProbeFault) -> ConformanceSetup {
        let metadata = try await faulted { () async throws(EngineError) in try await engine.metadata(of: order.issuer) }
        let parts: ProbingParts
        switch order.phone {
        case .device(let id): parts = try await probing(id)
        case .ticket(let ticket): parts = try await enrolled(ticket, like: nil)
        }
        let phone = ProbePhone(parts)
        let (own, surroundings) = (engine, engine.surroundings)
        var setup = ConformanceSetup(
            metadata: metadata, clientID: order.clientID, phone: phone, profile: surroundings.profile,
            entropy: surroundings.entropy, now: { own.surroundings.now },
            send: { request throws(ProbeFault) in
                do throws(EngineError) { return try await own.exchange(request) } catch { throw ProbeFault(error) }
            })
        setup.api = order.api
        if let path = order.apiPath { setup.apiPath = path }
        setup.management = order.management
        setup.only = order.only
        setup.newPhone = { ticket throws(ProbeFault) in ProbePhone(try await self.enrolled(ticket, like: parts)) }
        setup.spareTicket = order.spareTicket
        setup.enforcesAttestation = order.enforcesAttestation
        setup.vouching = try await vouching(for: parts)
        if order.waits {
            setup.wait = { seconds in _ = try? await Task.sleep(for: .seconds(seconds)) }
        }
        return setup
    }

    /// Wipes the phones made for the run.
    func tidy() async {
        for id in made.withLock({ $0 }) { _ = try? await engine.deleteDevice(id) }
    }

    /// What vouches for a phone and those made like it: the roots of the state directory.
    private func vouching(for parts: ProbingParts) async throws(ProbeFault) -> Vouching {
        let natural: EvidenceFormat = parts.platform == .ios ? .appAttest : parts.attestation.androidStart
        let roots = try await faulted { () async throws(EngineError) in try engine.attestationRoots() }
        return Vouching(roots: roots, settings: parts.attestation, startFormat: order.evidence ?? natural)
    }

    /// Makes a phone and enrols it; it is like another one, or of the platform the evidence asked for is of.
    private func enrolled(_ ticket: String, like model: ProbingParts?) async throws(ProbeFault) -> ProbingParts {
        let isAndroid = order.evidence.map { !$0.isAppAttest } ?? false
        var attestation = model?.attestation ?? AttestationSettings()
        attestation.defect = .none
        let settings = attestation
        let name = "conform-" + Hex.encode(engine.surroundings.entropy.bytes(6))
        guard let id = DeviceID(rawValue: name) else { throw .own("no device can be named \(name)") }
        try await faulted { () async throws(EngineError) in
            _ = try engine.createDevice(
                id, platform: model?.platform ?? (isAndroid ? .android : .ios), attestation: settings)
            made.withLock { $0.append(id) }
            _ = try await engine.enrol(.ticket(ticket), issuer: order.issuer, device: id)
        }
        return try await probing(id)
    }

    private func probing(_ id: DeviceID) async throws(ProbeFault) -> ProbingParts {
        try await faulted { () async throws(EngineError) in try await engine.probing(id, issuer: order.issuer) }
    }

    private func faulted<Value>(
        _ work: () async throws(EngineError) -> Value
    ) async throws(ProbeFault) -> Value {
        do throws(EngineError) { return try await work() } catch { throw ProbeFault(error) }
    }
}

extension ProbePhone {
    fileprivate init(_ parts: ProbingParts) {
        self.init(installKey: parts.installKey, deviceKey: parts.deviceKey, face: parts.face, email: parts.email)
    }
}

extension ProbeFault {
    /// What an error of the engine says about the server under test.
    fileprivate init(_ error: EngineError) {
        switch error {
        case .unreachable: self = .unreachable(error.description)
        case .refused, .badAnswer: self = .broken(error.description)
        default: self = .own(error.description)
        }
    }
}
