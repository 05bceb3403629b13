import COpenSSL
import Encoding
import Synchronization

/// A shared source of random bytes: the system's, or one that repeats for a seed.
public final class Entropy: Sendable {
    /// The system's randomness (OpenSSL's generator, which notices a fork and seeds itself anew).
    public static let system = Entropy()

    /// Whether this source repeats for its seed.
    public let isSeeded: Bool
    /// The stream of a seeded source; unused by the system's.
    private let stream: Mutex<EntropyStream>

    private init() {
        isSeeded = false
        stream = Mutex(EntropyStream(seed: []))
    }

    private init(_ stream: EntropyStream) {
        isSeeded = true
        self.stream = Mutex(stream)
    }

    /// A source that gives the same bytes for the same seed, when drawn in the same order.
    public convenience init(seed: [UInt8]) { self.init(EntropyStream(seed: seed)) }

    /// How keys sign in a run fed by this source: repeatably when it is seeded.
    public var signingNonce: P256.SigningNonce { isSeeded ? .rfc6979 : .random }

    /// Draws `count` bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        if isSeeded { return stream.withLock { $0.bytes(count) } }
        precondition(count >= 0)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            require(RAND_bytes(bytes.baseAddress, Int32(count)), "RAND_bytes")
            filled = count
        }
    }

    /// Draws `count` bytes and writes them base64url.
    public func token(_ count: Int) -> String { Base64URL.encode(bytes(count)) }

    /// Draws a random (version 4) UUID (RFC 9562), in lower case.
    public func uuid() -> String { UUIDText.version4(bytes(16)) }

    /// A source of its own for `label`: of a seeded source the same whatever was drawn from it before,
    /// so that one device's draws do not depend on another's; of the system's source itself.
    public func derived(_ label: String) -> Entropy {
        guard isSeeded else { return self }
        return Entropy(stream.withLock { $0.derived(label) })
    }
}
