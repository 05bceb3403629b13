public import Encoding

/// A piece of evidence about the calling app, as it goes over the wire (SenseCrypt wire, section 14).
///
/// Its description shows nothing of its contents.
public struct Evidence: Sendable, Hashable, Codable {
    /// What the platform made.
    public enum Body: Sendable, Hashable, Codable {
        /// An App Attest object, attestation or assertion, in CBOR, with the key's 32-byte id.
        case appAttest(keyID: [UInt8], object: [UInt8])
        /// DER certificates, the leaf first, the root last.
        case chain([[UInt8]])
        /// A compact JWE.
        case token(String)
    }

    /// The format.
    public let format: EvidenceFormat
    /// The server's challenge, as given.
    public let challenge: String
    /// What the platform made.
    public let body: Body

    /// The object of section 14.
    public var json: JSON {
        var members: [(String, JSON)] = [
            ("format", .string(format.rawValue)), ("challenge", .string(challenge)),
        ]
        switch body {
        case .appAttest(let keyID, let object):
            members.append(("key_id", .string(Base64.encode(keyID))))
            let name = format == .appAttest ? "attestation" : "assertion"
            members.append((name, .string(Base64URL.encode(object))))
        case .chain(let certificates):
            members.append(("x5c", .array(certificates.map { .string(Base64.encode($0)) })))
        case .token(let token): members.append(("token", .string(token)))
        }
        return .object(members)
    }

    /// The bare bytes: the CBOR object, the certificates one behind the other, or the token's characters.
    public var binary: [UInt8] {
        switch body {
        case .appAttest(_, let object): object
        case .chain(let certificates): Array(certificates.joined())
        case .token(let token): Array(token.utf8)
        }
    }
}

extension Evidence: CustomStringConvertible, CustomReflectable {
    /// Which format, and how long.
    public var description: String { "\(format.rawValue) evidence of \(binary.count) bytes" }

    /// Hides the contents from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["evidence": description]) }
}
