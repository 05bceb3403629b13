import Crypto
public import Device
import Encoding
import Foundation
public import Store
import Synchronization

/// The authorities of the phones, once read or made: making them anew costs a dozen signatures.
final class RootsShelf: Sendable {
    private let roots = Mutex<AttestationRoots?>(nil)
    private let entropy: Entropy

    /// `entropy` is what roots are made of, where the state directory has none yet.
    init(entropy: Entropy) { self.entropy = entropy }

    /// The roots of a state directory, made and stored when they are first asked for.
    func roots(of store: Store) throws(EngineError) -> AttestationRoots {
        if let known = roots.withLock({ $0 }) { return known }
        let found = try storing {
            if let stored = try Self.stored(in: store) { return stored }
            let made = try AttestationRoots.generate(entropy.derived("attestation roots"))
            let body = [UInt8](try JSONEncoder().encode(made))
            _ = try store.write { writer in try writer.insertAttestationRoots(body) }
            // Another process may have been first, and then its roots are the ones.
            return try Self.stored(in: store) ?? made
        }
        roots.withLock { $0 = found }
        return found
    }

    /// Forgets what was read: the store holds another world now.
    func forget() { roots.withLock { $0 = nil } }

    fileprivate static func stored(in store: Store) throws -> AttestationRoots? {
        guard let body = try store.read({ reader in try reader.attestationRoots() }) else { return nil }
        return try JSONDecoder().decode(AttestationRoots.self, from: Data(body))
    }
}

extension AttestationRoots {
    /// The roots a state directory holds; nil where none were made yet, and none are made.
    ///
    /// Throws `.storage`.
    public static func kept(in store: Store) throws(EngineError) -> AttestationRoots? {
        try storing { try RootsShelf.stored(in: store) }
    }
}
