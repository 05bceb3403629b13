import Crypto
import Encoding

/// What becomes of a bad proof whose rules are not applied: it is read as if they had held.
///
/// Nothing here is reached where every rule is applied.
enum RepairedProof {
    /// One value of several `DPoP` fields, or of one that joins several.
    static func first(of values: [String]) -> String? {
        values.first?.split(separator: ",").first.map { $0.filter { $0 != " " } }
    }

    /// A proof whose parts are base64url as they should have been: other alphabets, padding and spare bits are undone.
    static func reencoded(_ compact: String) -> String {
        compact.split(separator: ".", omittingEmptySubsequences: false).map { part in
            var characters = part.utf8.compactMap(urlCharacter)
            let spare: UInt8 = characters.count % 4 == 2 ? 0xF0 : characters.count % 4 == 3 ? 0xFC : 0xFF
            if spare != 0xFF, let last = characters.last, let index = alphabet.firstIndex(of: last) {
                characters[characters.count - 1] = alphabet[index & Int(spare & 0x3F)]
            }
            return String(decoding: characters, as: UTF8.self)
        }.joined(separator: ".")
    }

    /// A proof with something in the place of a signature that `alg` says is none.
    static func withSignature(_ compact: String) -> String { compact.hasSuffix(".") ? compact + "AA" : compact }

    /// A key as it was meant: without private members, each coordinate of 32 bytes.
    static func publicKey(_ json: JSON) throws(JOSEError) -> JWK {
        guard let object = json.object else { return try JWK(json) }
        var repaired = JSONObject()
        for name in ["kty", "crv"] { repaired[name] = object[name] }
        for name in ["x", "y"] { repaired[name] = object[name]?.string.map { .string(coordinate($0)) } }
        return try JWK(.object(repaired))
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func urlCharacter(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: alphabet.contains(byte) ? byte : nil
        }
    }

    private static func coordinate(_ text: String) -> String {
        guard let bytes = try? Base64URL.decode(text), bytes.count < 32 else { return text }
        return Base64URL.encode([UInt8](repeating: 0, count: 32 - bytes.count) + bytes)
    }
}
