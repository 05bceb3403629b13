public import Crypto
public import Encoding

/// A signed message in compact form (RFC 7515 section 7.1), read but NOT verified.
///
/// Everything in it is a claim of whoever sent it until `verify` gives a `VerifiedJWS`.
public struct JWS: Sendable {
    /// The length accepted unless a caller says otherwise, in bytes.
    public static let defaultLimit = 8192

    /// The text as received.
    public let compact: String
    /// The decoded header.
    public let header: JSONObject
    /// The decoded payload.
    public let payload: [UInt8]
    /// The bytes that are signed: header and payload as received, with the dot between them.
    public let signingInput: [UInt8]
    /// The decoded signature.
    public let signature: [UInt8]
    /// The header's `alg`, which may name anything.
    public let algorithm: String

    /// The header's `typ`, nil when absent or not a string.
    public var type: String? { header["typ"]?.string }
    /// The header's `kid`, nil when absent or not a string.
    public var keyID: String? { header["kid"]?.string }

    /// Reads three parts of strict base64url with a JSON object in front.
    ///
    /// Refuses padding, the standard alphabet, empty parts, repeated header names, a missing or
    /// non-string `alg`, `typ` or `kid` that are not strings, `crit`, and more than `limit` bytes.
    public init(compact: String, limit: Int = Self.defaultLimit) throws(JOSEError) {
        guard compact.utf8.count <= limit else { throw .tooLong(limit: limit) }
        let (header, payload, signature) = try Self.split(compact)
        self.header = try Self.object(try Self.decode(header, .header), .header)
        self.payload = try Self.decode(payload, .payload)
        self.signature = try Self.decode(signature, .signature)
        signingInput = [UInt8](compact.utf8[..<payload.endIndex])
        self.compact = compact

        guard self.header["crit"] == nil else { throw .critical }
        guard let algorithm = self.header["alg"]?.string else { throw .headerMember("alg", expected: "a string") }
        self.algorithm = algorithm
        for name in ["typ", "kid"] {
            if let value = self.header[name], value.string == nil { throw .headerMember(name, expected: "a string") }
        }
    }

    /// Checks the signature with `key`, by an algorithm that is among `algorithms` and fits the key.
    public func verify(_ key: JWK, algorithms: [JWSAlgorithm]) throws(JOSEError) -> VerifiedJWS {
        guard let algorithm = JWSAlgorithm(rawValue: algorithm), algorithms.contains(algorithm) else {
            throw .algorithm(self.algorithm, accepted: algorithms.map(\.rawValue))
        }
        let expectedLength: Int
        let fits: Bool
        switch (key, algorithm) {
        case (.p256(let key), .es256):
            expectedLength = 64
            fits = key.verify(signature, of: signingInput)
        case (.rsa(let key), .rs256):
            expectedLength = key.n.count
            fits = key.verify(signature, of: signingInput, padding: .pkcs1)
        case (.rsa(let key), .ps256):
            expectedLength = key.n.count
            fits = key.verify(signature, of: signingInput, padding: .pss)
        case (.p256, .rs256), (.p256, .ps256), (.rsa, .es256):
            throw .algorithmOfOtherKey(algorithm.rawValue, keyType: key.keyType)
        }
        guard signature.count == expectedLength else {
            throw .signatureLength(signature.count, expected: expectedLength)
        }
        guard fits else { throw .signature }
        return VerifiedJWS(header: header, payload: payload)
    }

    private static func split(_ compact: String) throws(JOSEError) -> (Substring, Substring, Substring) {
        let dot = UInt8(ascii: ".")
        let bytes = compact.utf8
        guard let first = bytes.firstIndex(of: dot), let last = bytes.lastIndex(of: dot) else { throw .segmentCount(1) }
        guard first < last, let second = bytes[bytes.index(after: first)...].firstIndex(of: dot), second == last else {
            throw .segmentCount(bytes.count { $0 == dot } + 1)
        }
        return (
            compact[..<first], compact[bytes.index(after: first)..<last], compact[bytes.index(after: last)...]
        )
    }

    private static func decode(_ text: Substring, _ segment: JOSEError.Segment) throws(JOSEError) -> [UInt8] {
        guard !text.isEmpty else { throw .segmentEmpty(segment) }
        do throws(EncodingError) {
            return try Base64URL.decode(text)
        } catch {
            if text.utf8.contains(UInt8(ascii: "=")) { throw .segmentPadding(segment) }
            throw .segmentEncoding(segment, error)
        }
    }

    static func object(_ bytes: [UInt8], _ segment: JOSEError.Segment) throws(JOSEError) -> JSONObject {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw .segmentJSON(segment, error)
        }
        guard let object = json.object else { throw .segmentNotObject(segment, kind: json.kind) }
        return object
    }
}

/// A signed message whose signature was checked.
public struct VerifiedJWS: Sendable, Hashable {
    /// The header.
    public let header: JSONObject
    /// The payload.
    public let payload: [UInt8]

    /// Only `JWS.verify` makes one.
    init(header: JSONObject, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }

    /// The payload as the claims of a JWT (RFC 7519): a JSON object without repeated names.
    public func claims() throws(JOSEError) -> JSONObject { try JWS.object(payload, .payload) }
}

extension JWS {
    /// What is to be signed: header and payload in base64url with a dot between them.
    public static func signingInput(header: JSONObject, payload: [UInt8]) -> String {
        Base64URL.encode(JSON.object(header).serialized()) + "." + Base64URL.encode(payload)
    }

    /// The compact form: what was signed, and its signature.
    public static func assemble(signingInput: String, signature: [UInt8]) -> String {
        signingInput + "." + Base64URL.encode(signature)
    }

    /// Signs with ES256; the header's `alg` must say so.
    public static func sign(
        header: JSONObject, payload: [UInt8], key: P256.PrivateKey, nonce: P256.SigningNonce = .random
    ) throws(CryptoError) -> String {
        precondition(header["alg"] == "ES256", "a P-256 key signs with ES256")
        let input = signingInput(header: header, payload: payload)
        return assemble(signingInput: input, signature: try key.sign([UInt8](input.utf8), nonce: nonce))
    }

    /// Signs with RS256 or PS256, whichever the header's `alg` says.
    public static func sign(
        header: JSONObject, payload: [UInt8], key: RSA.PrivateKey
    ) throws(CryptoError) -> String {
        let padding: RSA.Padding
        switch header["alg"] {
        case "RS256": padding = .pkcs1
        case "PS256": padding = .pss
        default: preconditionFailure("an RSA key signs with RS256 or PS256")
        }
        let input = signingInput(header: header, payload: payload)
        return assemble(signingInput: input, signature: try key.sign([UInt8](input.utf8), padding: padding))
    }
}

extension JWS: CustomStringConvertible, CustomDebugStringConvertible {
    /// Says the algorithm and type; the text itself may be a token.
    public var description: String { "JWS(\(shortened(algorithm)), typ \(shortened(type ?? "none")))" }
    /// Says the algorithm and type; the text itself may be a token.
    public var debugDescription: String { description }
}
