import Crypto
import Device
import Encoding
import Engine
import Glibc
import HTTP
import SignIn
import Store
import Transport

/// Sign-ins against a running identity provider, many at once: the device side of `tools/bench`.
///
/// Prints one JSON document: how many a second, what each cost this process, and how much of that was signatures.
struct Bench: Sendable {
    let issuer: String
    let client: String
    let management: String
    let devices: Int
    let resting: Int
    let signIns: Int
    let atOnce: Int
    let directory: String

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws -> JSON {
        let engine = Engine(store: try Store(directory: directory))
        defer { engine.close() }
        for number in 0..<resting { _ = try engine.createDevice(Self.device("resting-\(number)")) }
        let phones = try await enrolled(in: engine)
        // Metadata, connections and caches are in place before the clock starts.
        try await signIn(phones[0], in: engine)
        let signing = try SigningCost.measured()
        let before = ProcessTime.now
        let wall = ContinuousClock.now
        let proofs = try await signInMany(phones, in: engine)
        let seconds = (ContinuousClock.now - wall) / .seconds(1)
        let processor = ProcessTime.now - before
        let perSignIn = processor / Double(signIns)
        let proofsEach = Double(proofs) / Double(signIns)
        return [
            "sign_ins": .int(Int64(signIns)), "devices": .int(Int64(devices)), "resting": .int(Int64(resting)),
            "at_once": .int(Int64(atOnce)),
            "seconds": .double(seconds), "sign_ins_per_second": .double(Double(signIns) / seconds),
            "device_cpu_microseconds": .double(perSignIn * 1e6), "proofs_per_sign_in": .double(proofsEach),
            "sign_microseconds": .double(signing.sign * 1e6), "verify_microseconds": .double(signing.verify * 1e6),
            "device_signature_share": .double(proofsEach * signing.sign / perSignIn),
        ]
    }

    private func enrolled(in engine: Engine) async throws -> [DeviceID] {
        let client = HTTPClient()
        defer { client.close() }
        var phones: [DeviceID] = []
        for number in 0..<devices {
            let id = Self.device("bench-\(number)")
            _ = try engine.createDevice(id)
            let ticket = try await ticket(for: "bench-\(number)@understudy.test", over: client)
            _ = try await engine.enrol(.ticket(ticket), issuer: issuer, device: id)
            phones.append(id)
        }
        return phones
    }

    private static func device(_ name: String) -> DeviceID {
        guard let id = DeviceID(rawValue: name) else { preconditionFailure("\(name) is a legal id") }
        return id
    }

    private func ticket(for email: String, over client: HTTPClient) async throws -> String {
        guard let tenant = issuer.split(separator: "/").last else {
            throw Failure(description: "no tenant in \(issuer)")
        }
        let body: JSON = ["email": .string(email), "ticket": true]
        let request = ClientRequest(
            url: try HTTPURL("\(management)/tenants/\(tenant)/users"), method: "POST",
            fields: HTTPFields([("Content-Type", "application/json")]), body: body.serialized())
        let response = try await client.send(request)
        guard let ticket = try JSON(parsing: response.body)["ticket"]?.string else {
            throw Failure(description: "no ticket: status \(response.status)")
        }
        return ticket
    }

    @discardableResult
    private func signIn(_ phone: DeviceID, in engine: Engine) async throws -> Int {
        let config = SignInConfig(
            issuer: issuer, clientID: client, scopes: ["openid"], allowPlainHTTPOnLoopback: true)
        let flow = try await engine.startSignIn(SignInOrder(config: config, scans: [.match]), device: phone)
        let end = try await engine.flow(flow.id, waiting: 60, untilRest: true)
        guard case .signedIn = end.state else { throw Failure(description: "a sign-in ended \(end.state)") }
        return end.proofCount
    }

    private func signInMany(_ phones: [DeviceID], in engine: Engine) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            var started = 0
            var proofs = 0
            while started < min(atOnce, signIns) {
                let phone = phones[started % phones.count]
                group.addTask { try await self.signIn(phone, in: engine) }
                started += 1
            }
            while let count = try await group.next() {
                proofs += count
                guard started < signIns else { continue }
                let phone = phones[started % phones.count]
                group.addTask { try await self.signIn(phone, in: engine) }
                started += 1
            }
            return proofs
        }
    }
}

/// What one P-256 signature costs on this machine in this run, in seconds.
private struct SigningCost {
    let sign: Double
    let verify: Double

    static func measured() throws -> SigningCost {
        let key = try P256.PrivateKey.generate(.system)
        let message = [UInt8](repeating: 7, count: 300)
        let signature = try key.sign(message)
        let rounds = 2000
        return SigningCost(
            sign: try time(rounds) { _ = try key.sign(message) },
            verify: time(rounds) {
                guard key.publicKey.verify(signature, of: message) else { preconditionFailure("our own signature") }
            })
    }

    private static func time(_ rounds: Int, _ work: () throws -> Void) rethrows -> Double {
        let before = ProcessTime.now
        for _ in 0..<rounds { try work() }
        return (ProcessTime.now - before) / Double(rounds)
    }
}

/// The processor time this process has used, user and system together, in seconds.
private enum ProcessTime {
    static var now: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
