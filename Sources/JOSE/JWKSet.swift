public import Encoding

/// The public keys of an issuer (RFC 7517 section 5).
public struct JWKSet: Sendable, Hashable {
    /// One usable key with its name.
    public struct Entry: Sendable, Hashable {
        /// The key's name, if it has one.
        public let keyID: String?
        /// The one algorithm the key is for, if it says so.
        public let algorithm: JWSAlgorithm?
        /// The key.
        public let key: JWK

        /// A key under a name, for any algorithm of its type unless one is given.
        public init(keyID: String?, key: JWK, algorithm: JWSAlgorithm? = nil) {
            self.keyID = keyID
            self.key = key
            self.algorithm = algorithm
        }
    }

    /// At most this many members are looked at.
    public static let limit = 64

    /// The usable keys, in order.
    public let entries: [Entry]

    /// A set of these keys.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// Reads a set; members that are no public signature key of a type spoken here are left out, as
    /// section 5 asks.
    ///
    /// No `keys` array, a private member in any key or more than `limit` members is an error.
    public init(_ json: JSON) throws(JOSEError) {
        guard let members = json["keys"]?.array, members.count <= Self.limit else { throw .keyMember("keys") }
        var entries: [Entry] = []
        for member in members {
            do throws(JOSEError) {
                entries.append(try Self.entry(member))
            } catch .keyPrivate(let name) {
                throw .keyPrivate(name)
            } catch {
                continue
            }
        }
        self.entries = entries
    }

    private static func entry(_ member: JSON) throws(JOSEError) -> Entry {
        let key = try JWK(member)
        let algorithm = member["alg"]?.string.flatMap(JWSAlgorithm.init(rawValue:))
        return Entry(keyID: member["kid"]?.string, key: key, algorithm: algorithm)
    }

    /// The keys a JWS with this `kid` and `alg` may be signed with: those of that name, or all when it
    /// names none.
    public func candidates(keyID: String?, algorithm: JWSAlgorithm) -> [JWK] {
        entries.filter { entry in
            (keyID == nil || entry.keyID == keyID) && entry.key.algorithms.contains(algorithm)
                && (entry.algorithm ?? algorithm) == algorithm
        }.map(\.key)
    }

    /// The set as JSON, each key with `use`, and with `kid` and `alg` where it has them.
    public var json: JSON {
        let keys = entries.map { entry -> JSON in
            var object = entry.key.json.object ?? JSONObject()
            if let keyID = entry.keyID { object["kid"] = .string(keyID) }
            object["use"] = "sig"
            if let algorithm = entry.algorithm { object["alg"] = .string(algorithm.rawValue) }
            return .object(object)
        }
        return ["keys": .array(keys)]
    }
}
