public import Crypto
public import Encoding

/// A public key as JSON (RFC 7517, RFC 7518 section 6).
public enum JWK: Sendable, Hashable {
    /// A point of P-256, `kty` `EC`.
    case p256(P256.PublicKey)
    /// An RSA key of 2048 bits or more.
    case rsa(RSA.PublicKey)

    /// Reads a public key; members that say nothing about it (`kid`, `x5c`, …) are ignored.
    ///
    /// Refuses: private members, coordinates that are not exactly 32 bytes, points beside the curve,
    /// RSA numbers with leading zeros or of under 2048 bits, and a `use`, `key_ops` or `alg` for anything
    /// but verifying signatures with this type of key.
    public init(_ json: JSON) throws(JOSEError) {
        guard let object = json.object else { throw .keyNotObject(kind: json.kind) }
        try Self.refusePrivateMembers(object)
        guard let type = object["kty"]?.string else { throw .keyMember("kty") }
        switch type {
        case "EC": self = try Self.readP256(object)
        case "RSA": self = try Self.readRSA(object)
        default: throw .keyType(type)
        }
        try refuseOtherUses(object)
    }

    /// The key's required members and no others.
    public var json: JSON {
        switch self {
        case .p256(let key):
            ["kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(key.x)), "y": .string(Base64URL.encode(key.y))]
        case .rsa(let key):
            ["kty": "RSA", "n": .string(Base64URL.encode(key.n)), "e": .string(Base64URL.encode(key.e))]
        }
    }

    /// The value of `kty`.
    public var keyType: String {
        switch self {
        case .p256: "EC"
        case .rsa: "RSA"
        }
    }

    /// The algorithms a key of this type can verify.
    public var algorithms: [JWSAlgorithm] {
        switch self {
        case .p256: [.es256]
        case .rsa: [.rs256, .ps256]
        }
    }

    /// The SHA-256 thumbprint of RFC 7638, 43 characters of base64url; `jkt` where a key is bound.
    public var thumbprint: String {
        // The required members in code-point order, without blanks. None of the values needs escaping.
        let text =
            switch self {
            case .p256(let key):
                #"{"crv":"P-256","kty":"EC","x":""# + Base64URL.encode(key.x963[1...32]) + #"","y":""#
                    + Base64URL.encode(key.x963[33...64]) + #""}"#
            case .rsa(let key):
                #"{"e":""# + Base64URL.encode(key.e) + #"","kty":"RSA","n":""# + Base64URL.encode(key.n) + #""}"#
            }
        return Base64URL.encode(SHA256.hash(ascii: text))
    }
}

extension JWK {
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    private static func refusePrivateMembers(_ object: JSONObject) throws(JOSEError) {
        for name in privateMembers where object[name] != nil { throw .keyPrivate(name) }
    }

    private static func readP256(_ object: JSONObject) throws(JOSEError) -> JWK {
        guard let curve = object["crv"]?.string else { throw .keyMember("crv") }
        guard curve == "P-256" else { throw .keyType(curve) }
        let x = try coordinate("x", object)
        let y = try coordinate("y", object)
        do throws(CryptoError) {
            return .p256(try P256.PublicKey(x: x, y: y))
        } catch {
            throw .keyValue(rule: error.code)
        }
    }

    private static func coordinate(_ name: String, _ object: JSONObject) throws(JOSEError) -> [UInt8] {
        let bytes = try number(name, object)
        guard bytes.count == 32 else { throw .keyCoordinate(name, length: bytes.count) }
        return bytes
    }

    private static func readRSA(_ object: JSONObject) throws(JOSEError) -> JWK {
        let n = try number("n", object)
        let e = try number("e", object)
        do throws(CryptoError) {
            return .rsa(try RSA.PublicKey(n: n, e: e))
        } catch {
            throw .keyValue(rule: error.code)
        }
    }

    private static func number(_ name: String, _ object: JSONObject) throws(JOSEError) -> [UInt8] {
        guard let text = object[name]?.string, let bytes = try? Base64URL.decode(text) else { throw .keyMember(name) }
        return bytes
    }

    private func refuseOtherUses(_ object: JSONObject) throws(JOSEError) {
        if let use = object["use"], use != "sig" { throw .keyUse("use \(use.string ?? use.kind)") }
        if let operations = object["key_ops"] {
            guard let names = operations.array, names.contains("verify") else { throw .keyUse("key_ops") }
        }
        guard let algorithm = object["alg"] else { return }
        guard let name = algorithm.string, algorithms.contains(where: { $0.rawValue == name }) else {
            throw .keyUse("alg \(algorithm.string ?? algorithm.kind)")
        }
    }
}
