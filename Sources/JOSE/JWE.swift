public import Crypto
public import Encoding

/// An encrypted message in compact form (RFC 7516 section 7.1) of one kind: A256KW with A256GCM.
///
/// Play Integrity's tokens are such.
public enum JWE {
    /// The longest compact form taken unless a caller says otherwise, in bytes.
    public static let defaultLimit = 32_768

    /// Encrypts bytes to whoever has the 32-byte key; key and nonce of the contents come out of `entropy`.
    ///
    /// Another key length is `CryptoError.keyLength`.
    public static func encrypt(_ plain: [UInt8], key: [UInt8], entropy: Entropy) throws(CryptoError) -> String {
        let header = Base64URL.encode([UInt8](#"{"alg":"A256KW","enc":"A256GCM"}"#.utf8))
        let contentKey = entropy.bytes(32)
        let nonce = entropy.bytes(AESGCM.nonceByteCount)
        let wrapped = try AESKeyWrap.wrap(contentKey, key: key)
        let sealed = try AESGCM.seal(plain, key: contentKey, nonce: nonce, aad: [UInt8](header.utf8))
        let cut = sealed.count - AESGCM.tagByteCount
        let parts = [wrapped, nonce, Array(sealed[..<cut]), Array(sealed[cut...])]
        return ([header] + parts.map { Base64URL.encode($0) }).joined(separator: ".")
    }

    /// Decrypts a compact message with the 32-byte key, and gives its header and the bytes inside.
    ///
    /// Throws ``JWEError``: not five parts of base64url, another algorithm than these two, a header that demands
    /// extensions or compression, lengths that cannot be, or a key or text that does not belong to it.
    public static func decrypt(
        _ compact: String, key: [UInt8], limit: Int = Self.defaultLimit
    ) throws(JWEError) -> (header: JSONObject, plain: [UInt8]) {
        guard compact.utf8.count <= limit else { throw .tooLong(limit: limit) }
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 5 else { throw .segmentCount(parts.count) }
        var decoded: [[UInt8]] = []
        for (index, part) in parts.enumerated() {
            guard let bytes = try? Base64URL.decode(part) else { throw .segmentEncoding(index) }
            decoded.append(bytes)
        }
        let header = try header(decoded[0])
        guard decoded[1].count == 40 else { throw .length("encrypted key", decoded[1].count, expected: 40) }
        guard decoded[2].count == AESGCM.nonceByteCount else {
            throw .length("initialization vector", decoded[2].count, expected: AESGCM.nonceByteCount)
        }
        guard decoded[4].count == AESGCM.tagByteCount else {
            throw .length("authentication tag", decoded[4].count, expected: AESGCM.tagByteCount)
        }
        do {
            let contentKey = try AESKeyWrap.unwrap(decoded[1], key: key)
            let sealed = decoded[3] + decoded[4]
            return (
                header, try AESGCM.open(sealed, key: contentKey, nonce: decoded[2], aad: [UInt8](parts[0].utf8))
            )
        } catch {
            throw .notAuthentic
        }
    }

    private static func header(_ bytes: [UInt8]) throws(JWEError) -> JSONObject {
        guard let object = (try? JSON(parsing: bytes))?.object else { throw .header }
        guard object["crit"] == nil, object["zip"] == nil else { throw .extensions }
        guard object["alg"] == "A256KW" else { throw .algorithm("alg", shortened(object["alg"]?.string ?? "none")) }
        guard object["enc"] == "A256GCM" else { throw .algorithm("enc", shortened(object["enc"]?.string ?? "none")) }
        return object
    }
}

/// Why an encrypted message was not opened.
///
/// None carries a key or anything of the contents.
public enum JWEError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The compact form is longer than the limit, in bytes.
    case tooLong(limit: Int)
    /// Not five parts with four dots between them.
    case segmentCount(Int)
    /// The part of this number, the header being 0, is not base64url.
    case segmentEncoding(Int)
    /// The header is not a JSON object.
    case header
    /// The header demands extensions (`crit`) or compression (`zip`), and neither is understood here.
    case extensions
    /// The member `alg` or `enc` names another algorithm.
    case algorithm(String, String)
    /// A part of another length than the algorithms give, in bytes.
    case length(String, Int, expected: Int)
    /// Key, header and contents do not belong together.
    case notAuthentic

    /// A stable dotted name of the rule that was broken.
    public var code: String {
        switch self {
        case .tooLong: "jwe.length"
        case .segmentCount: "jwe.segment.count"
        case .segmentEncoding: "jwe.segment.encoding"
        case .header: "jwe.header"
        case .extensions: "jwe.header.extensions"
        case .algorithm(let member, _): "jwe.header.\(member)"
        case .length: "jwe.segment.length"
        case .notAuthentic: "jwe.not_authentic"
        }
    }

    /// The rule and what broke it.
    public var description: String {
        switch self {
        case .tooLong(let limit): "a compact JWE of at most \(limit) bytes is taken, not a longer one"
        case .segmentCount(let count): "a compact JWE has five parts, not \(count)"
        case .segmentEncoding(let index): "part \(index + 1) of the compact JWE is not base64url"
        case .header: "the header of the JWE is not a JSON object"
        case .extensions: "the header of the JWE demands extensions or compression"
        case .algorithm(let member, let name): "the '\(member)' of the JWE is \(name), not A256KW or A256GCM"
        case .length(let part, let count, let expected): "the \(part) of the JWE has \(count) bytes, not \(expected)"
        case .notAuthentic: "the JWE does not belong to this key"
        }
    }
}
