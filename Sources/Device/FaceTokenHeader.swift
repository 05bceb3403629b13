import Crypto

/// What a sealed face token belongs to: opened for another issuer, it is refused.
///
/// It does not name a device key: a token may be shared by the devices of a user or imported by an administrator, and
/// then each of them opens it with the same face.
public struct FaceTokenBinding: Sendable, Hashable {
    /// The issuer.
    public var issuer: String

    /// Makes a binding.
    public init(issuer: String) { self.issuer = issuer }

    /// The issuer after its length.
    var bytes: [UInt8] {
        withUnsafeBytes(of: UInt32(issuer.utf8.count).bigEndian) { [UInt8]($0) } + [UInt8](issuer.utf8)
    }

    /// A short name of the binding that does not show the issuer.
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
