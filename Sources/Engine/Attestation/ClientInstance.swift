import Device
import Encoding
import Foundation

/// What this phone holds as an instance of a client at an issuer: stored, since a session is bound to its key.
struct ClientInstance: Codable, Sendable, Equatable {
    /// How it proves that it holds its key.
    let mode: ClientAttestationOrder.Mode
    /// Its key; nil in combined mode, where it is the install's.
    let key: KeyHandle?
    /// The newest attestation of that key; nil before the first.
    var attestation: String?
    /// Whether the attester is that of the test roots, so that another process can ask it as well.
    var isOfTestRoots: Bool
    /// The flow that attests, so that another process knows it when it takes it up.
    var flow: String
    /// When the session was made that is bound to the key; nil before there is one.
    var session: Instant?

    init(mode: ClientAttestationOrder.Mode, key: KeyHandle?, isOfTestRoots: Bool, flow: String) {
        self.mode = mode
        self.key = key
        self.isOfTestRoots = isOfTestRoots
        self.flow = flow
    }

    init(stored body: [UInt8]) throws {
        self = try JSONDecoder().decode(ClientInstance.self, from: Data(body))
    }

    /// The instance as it is stored.
    func stored() throws -> [UInt8] { [UInt8](try JSONEncoder().encode(self)) }
}

extension ClientInstance: CustomStringConvertible, CustomReflectable {
    /// The mode and the name of the key.
    var description: String { "client instance, \(mode.rawValue), key \(key?.rawValue ?? "of the install")" }

    /// Hides the attestation from `dump` and from test failure messages.
    var customMirror: Mirror { Mirror(self, children: ["instance": description]) }
}
