import Encoding

/// Bytes that look random and are the same for the same seed, as a value: a copy draws the same bytes.
///
/// Block i is HMAC-SHA-256 of the number i under a key made of the seed. For machines and reference
/// servers, which own no randomness, and for repeatable runs; a secret seed gives secret bytes.
public struct EntropyStream: Sendable {
    private let key: [UInt8]
    private var block: UInt64 = 0
    private var left: ArraySlice<UInt8> = []

    /// The stream of this seed, which may have any length.
    public init(seed: [UInt8]) {
        key = HMAC.sha256(key: Array("understudy entropy v1".utf8), message: seed)
    }

    /// Draws the next `count` bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0)
        var drawn: [UInt8] = []
        drawn.reserveCapacity(count)
        while drawn.count < count {
            if left.isEmpty { refill() }
            let part = left.prefix(count - drawn.count)
            drawn += part
            left = left.dropFirst(part.count)
        }
        return drawn
    }

    /// Draws `count` bytes and writes them base64url.
    public mutating func token(_ count: Int) -> String { Base64URL.encode(bytes(count)) }

    /// Draws a random (version 4) UUID (RFC 9562), in lower case.
    public mutating func uuid() -> String { UUIDText.version4(bytes(16)) }

    /// A stream of its own for `label`, the same however much was drawn from this one.
    public func derived(_ label: String) -> EntropyStream {
        EntropyStream(seed: key + Array(label.utf8))
    }

    private mutating func refill() {
        let number = withUnsafeBytes(of: block.bigEndian) { [UInt8]($0) }
        left = HMAC.sha256(key: key, message: number)[...]
        block += 1
    }
}

/// Writes 16 random bytes as a UUID.
enum UUIDText {
    private static let digits = Array("0123456789abcdef".utf8)

    static func version4(_ random: [UInt8]) -> String {
        precondition(random.count == 16)
        return String(unsafeUninitializedCapacity: 36) { text in
            var at = 0
            for (index, byte) in random.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    text[at] = UInt8(ascii: "-")
                    at += 1
                }
                let marked =
                    switch index {
                    case 6: byte & 0x0F | 0x40
                    case 8: byte & 0x3F | 0x80
                    default: byte
                    }
                text[at] = digits[Int(marked >> 4)]
                text[at + 1] = digits[Int(marked & 15)]
                at += 2
            }
            return at
        }
    }
}
