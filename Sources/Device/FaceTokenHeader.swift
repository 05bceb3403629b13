import Crypto

/// What a sealed face token belongs to: opened for another issuer or device key, it is refused.
public struct FaceTokenBinding: Sendable, Hashable {
    /// The issuer.
    public var issuer: String
    /// RFC 7638 thumbprint of the device key.
    public var kid: String

    /// Makes a binding.
    public init(issuer: String, kid: String) {
        self.issuer = issuer
        self.kid = kid
    }

    /// Both names, each after its length, so that no two bindings have the same bytes.
    var bytes: [UInt8] {
        [issuer, kid].flatMap { name in
            withUnsafeBytes(of: UInt32(name.utf8.count).bigEndian) { [UInt8]($0) } + [UInt8](name.utf8)
        }
    }

    /// A short name of the binding that shows neither issuer nor key.
    var fingerprint: [UInt8] { [UInt8](SHA256.hash(bytes).prefix(FaceTokenHeader.fingerprintLength)) }
}

/// The part of a face token that is not secret: 49 bytes before the ciphertext, authenticated with it.
///
/// Version (1 byte), generation (4, big-endian), binding fingerprint (16), HKDF salt (16), GCM nonce (12).
struct FaceTokenHeader: Sendable, Hashable {
    static let fingerprintLength = 16
    static let saltLength = 16
    static let byteCount = 1 + 4 + fingerprintLength + saltLength + AESGCM.nonceByteCount

    let version: UInt8
    let generation: UInt32
    let fingerprint: [UInt8]
    let salt: [UInt8]
    let nonce: [UInt8]

    var bytes: [UInt8] {
        [version] + withUnsafeBytes(of: generation.bigEndian) { [UInt8]($0) } + fingerprint + salt + nonce
    }
}

extension FaceTokenHeader {
    /// Reads the header of at least `byteCount` bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        precondition(bytes.count >= Self.byteCount)
        var rest = bytes
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return [UInt8](rest.prefix(count))
        }
        version = take(1)[0]
        generation = take(4).reduce(0) { $0 << 8 | UInt32($1) }
        fingerprint = take(Self.fingerprintLength)
        salt = take(Self.saltLength)
        nonce = take(AESGCM.nonceByteCount)
    }
}
