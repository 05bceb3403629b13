public import Crypto

/// The sealed face token: what the IdP keeps for a device and only the enrolled face opens.
///
/// Format 1: header (`FaceTokenHeader`), AES-256-GCM ciphertext and tag, and a checksum. The key is
/// HKDF-SHA256(face secret, salt, "understudy face token v1"), and header and binding are authenticated with the
/// contents, so matching a face *is* opening the token. The checksum, eight bytes of SHA-256 that anyone can compute,
/// is there to tell damaged bytes from a wrong face: damage must not cost the person an attempt.
/// Source: SenseCrypt description (a match opens the token; rotation re-seals it); the format is our own.
public enum FaceToken {
    /// The format this build seals.
    public static let version: UInt8 = 1
    /// The format number kept for tokens sealed under a password, which stay opaque here.
    public static let passwordProtectedVersion: UInt8 = 2
    /// The fewest bytes a token has.
    public static let shortest = FaceTokenHeader.byteCount + AESGCM.tagByteCount + checksumLength
    /// The most bytes a token has.
    public static let longest = 65_536

    static let checksumLength = 8
    private static let keyInfo = [UInt8]("understudy face token v1".utf8)

    /// Seals `contents` for `face` as generation `generation`, 1 or later, with fresh salt and nonce.
    ///
    /// Throws `tooLong` when the contents do not fit, or `crypto`.
    public static func seal(
        _ contents: FaceTokenContents, face: Face, generation: UInt32, binding: FaceTokenBinding, entropy: Entropy
    ) throws(FaceTokenError) -> [UInt8] {
        precondition(generation >= 1, "a face token's generations begin with 1")
        let header = FaceTokenHeader(
            version: version, generation: generation, fingerprint: binding.fingerprint,
            salt: entropy.bytes(FaceTokenHeader.saltLength), nonce: entropy.bytes(AESGCM.nonceByteCount))
        let sealed = try crypto { () throws(CryptoError) in
            try AESGCM.seal(
                contents.serialized, key: try key(of: face, salt: header.salt), nonce: header.nonce,
                aad: header.bytes + binding.bytes)
        }
        let body = header.bytes + sealed
        let token = body + checksum(of: body[...])
        guard token.count <= longest else { throw .tooLong(byteCount: token.count) }
        return token
    }

    /// Opens a token with a face.
    ///
    /// With `generation`, a token of another one is refused before the face is looked at. Throws `wrongFace` only when
    /// the bytes are whole and of this binding, and this face's key does not open them.
    public static func open(
        _ sealed: [UInt8], face: Face, binding: FaceTokenBinding, generation: UInt32? = nil
    ) throws(FaceTokenError) -> FaceTokenContents {
        let (header, ciphertext) = try parse(sealed)
        if let generation, generation != header.generation {
            throw .otherGeneration(expected: generation, found: header.generation)
        }
        guard header.fingerprint == binding.fingerprint else { throw .otherBinding }
        let plain = try crypto { () throws(CryptoError) in
            try AESGCM.open(
                ciphertext, key: try key(of: face, salt: header.salt), nonce: header.nonce,
                aad: header.bytes + binding.bytes)
        }
        guard let contents = FaceTokenContents(serialized: plain) else { throw .unreadableContents }
        return contents
    }

    /// Opens a token with a face and seals the same contents anew as the next generation.
    ///
    /// Throws what `open` and `seal` do, and `generationsExhausted` after generation 4,294,967,295.
    public static func rotated(
        _ sealed: [UInt8], face: Face, binding: FaceTokenBinding, entropy: Entropy
    ) throws(FaceTokenError) -> [UInt8] {
        let contents = try open(sealed, face: face, binding: binding)
        let (next, overflow) = try generation(of: sealed).addingReportingOverflow(1)
        guard !overflow else { throw .generationsExhausted }
        return try seal(contents, face: face, generation: next, binding: binding, entropy: entropy)
    }

    /// The generation a token says it is of, without opening it.
    ///
    /// Throws as `open` does for bytes that are damaged or of another format.
    public static func generation(of sealed: [UInt8]) throws(FaceTokenError) -> UInt32 {
        try parse(sealed).header.generation
    }

    private static func parse(
        _ sealed: [UInt8]
    ) throws(FaceTokenError) -> (header: FaceTokenHeader, ciphertext: [UInt8]) {
        switch sealed.first {
        case version?: break
        case passwordProtectedVersion?: throw .passwordProtected
        case let other?: throw .unknownVersion(other)
        case nil: throw .truncated(byteCount: 0)
        }
        guard sealed.count >= shortest else { throw .truncated(byteCount: sealed.count) }
        guard sealed.count <= longest else { throw .tooLong(byteCount: sealed.count) }
        let body = sealed.dropLast(checksumLength)
        guard [UInt8](sealed.suffix(checksumLength)) == checksum(of: body) else { throw .corrupted }
        return (FaceTokenHeader(body), [UInt8](body.dropFirst(FaceTokenHeader.byteCount)))
    }

    static func checksum(of body: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8](SHA256.hash(body).prefix(checksumLength))
    }

    private static func key(of face: Face, salt: [UInt8]) throws(CryptoError) -> [UInt8] {
        try HKDF.sha256(ikm: face.secret, salt: salt, info: keyInfo, length: 32)
    }

    private static func crypto<T>(_ body: () throws(CryptoError) -> T) throws(FaceTokenError) -> T {
        do {
            return try body()
        } catch .notAuthentic {
            throw .wrongFace
        } catch {
            throw .crypto(error)
        }
    }
}
