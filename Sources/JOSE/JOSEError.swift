public import Encoding

/// Why a JWS, a JWK or a URL in a proof was refused.
///
/// Made from what others sent, so each case is an answer to give, not a bug; none carries a token, a
/// signature or key material.
public enum JOSEError: Error, Sendable, Hashable {
    /// The parts of a compact JWS.
    public enum Segment: String, Sendable, Hashable {
        /// The first part.
        case header
        /// The second part.
        case payload
        /// The third part.
        case signature
    }

    /// The compact form is longer than the limit, in bytes.
    case tooLong(limit: Int)
    /// Not three parts with two dots between them.
    case segmentCount(Int)
    /// A part with nothing in it.
    case segmentEmpty(Segment)
    /// A part with base64 padding.
    case segmentPadding(Segment)
    /// A part that is not base64url.
    case segmentEncoding(Segment, EncodingError)
    /// A part that is not strict JSON.
    case segmentJSON(Segment, JSONError)
    /// A part whose JSON is not an object but, for example, `a string`.
    case segmentNotObject(Segment, kind: String)
    /// A header member that is missing or of the wrong kind.
    case headerMember(String, expected: String)
    /// The header demands extensions (`crit`), and none is understood here.
    case critical
    /// The header's `alg` is not one of those accepted here.
    case algorithm(String, accepted: [String])
    /// `alg` and the key do not go together.
    case algorithmOfOtherKey(String, keyType: String)
    /// The signature has another length than the algorithm gives, in bytes. DER is such a case.
    case signatureLength(Int, expected: Int)
    /// The signature does not fit key and content.
    case signature
    /// The key is not a JSON object but, for example, `a string`.
    case keyNotObject(kind: String)
    /// A `kty` or `crv` this program does not use.
    case keyType(String)
    /// A key member that is missing, not a string, or not base64url.
    case keyMember(String)
    /// A public key that brings a member of a private one.
    case keyPrivate(String)
    /// A coordinate that is not 32 bytes long, leading zeros included.
    case keyCoordinate(String, length: Int)
    /// Coordinates beside the curve, or RSA numbers that are weak or impossible; the Crypto rule says which.
    case keyValue(rule: String)
    /// A key for another use, operation or algorithm than verifying signatures of its type.
    case keyUse(String)
    /// A URL that is not an absolute http or https URL without userinfo; says what is wrong with it.
    case url(String)
}

extension JOSEError: CustomStringConvertible {
    /// A stable dotted name of the rule that was broken.
    public var code: String {
        switch self {
        case .tooLong: "jose.length"
        case .segmentCount: "jose.segment.count"
        case .segmentEmpty: "jose.segment.empty"
        case .segmentPadding: "jose.segment.padding"
        case .segmentEncoding: "jose.segment.encoding"
        case .segmentJSON: "jose.segment.json"
        case .segmentNotObject: "jose.segment.not_object"
        case .headerMember(let name, _): "jose.header.\(name)"
        case .critical: "jose.header.crit"
        case .algorithm: "jose.alg.not_accepted"
        case .algorithmOfOtherKey: "jose.alg.other_key"
        case .signatureLength: "jose.signature.length"
        case .signature: "jose.signature"
        case .keyNotObject: "jose.jwk.not_object"
        case .keyType: "jose.jwk.type"
        case .keyMember: "jose.jwk.member"
        case .keyPrivate: "jose.jwk.private"
        case .keyCoordinate: "jose.jwk.coordinate"
        case .keyValue: "jose.jwk.value"
        case .keyUse: "jose.jwk.use"
        case .url: "jose.url"
        }
    }

    /// What was expected, for a person.
    public var expected: String {
        switch self {
        case .tooLong(let limit): "at most \(limit) bytes"
        case .segmentCount: "three parts with two dots between them"
        case .segmentEmpty(let part): "a \(part.rawValue) with something in it"
        case .segmentPadding(let part): "a \(part.rawValue) without padding"
        case .segmentEncoding(let part, _): "a \(part.rawValue) in base64url"
        case .segmentJSON(let part, _): "a \(part.rawValue) of strict JSON"
        case .segmentNotObject(let part, _): "a \(part.rawValue) that is a JSON object"
        case .headerMember(let name, let expected): "'\(name)' in the header as \(expected)"
        case .critical: "no 'crit' in the header"
        case .algorithm(_, let accepted): "alg \(accepted.joined(separator: " or "))"
        case .algorithmOfOtherKey(_, let type): "an alg for a key of type \(type)"
        case .signatureLength(_, let expected): "a signature of \(expected) bytes"
        case .signature: "a signature that fits key and content"
        case .keyNotObject: "a key that is a JSON object"
        case .keyType: "a key of kty EC with crv P-256, or of kty RSA"
        case .keyMember(let name): "the key's '\(name)' as a base64url string"
        case .keyPrivate: "a public key"
        case .keyCoordinate(let name, _): "a '\(name)' of 32 bytes, leading zeros included"
        case .keyValue: "a key whose numbers are sound"
        case .keyUse: "a key for verifying signatures"
        case .url: "an absolute http or https URL"
        }
    }

    /// What was found instead, for a person; never a secret.
    public var actual: String {
        switch self {
        case .tooLong: "more"
        case .segmentCount(let count): "\(count) parts"
        case .segmentEmpty: "nothing"
        case .segmentPadding: "'='"
        case .segmentEncoding(_, let error): error.description
        case .segmentJSON(_, let error): error.description
        case .segmentNotObject(_, let kind): kind
        case .headerMember: "something else or nothing"
        case .critical: "'crit'"
        case .algorithm(let name, _): "alg \(shortened(name))"
        case .algorithmOfOtherKey(let name, _): "alg \(shortened(name))"
        case .signatureLength(let length, _): "\(length) bytes"
        case .signature: "one that does not"
        case .keyNotObject(let kind): kind
        case .keyType(let type): shortened(type)
        case .keyMember: "something else or nothing"
        case .keyPrivate(let name): "the private member '\(name)'"
        case .keyCoordinate(_, let length): "\(length) bytes"
        case .keyValue(let rule): rule
        case .keyUse(let use): shortened(use)
        case .url(let problem): problem
        }
    }

    /// The rule, what was expected and what was found.
    public var description: String { "\(code): expected \(expected), found \(actual)" }
}

/// The beginning of a text somebody else wrote: enough to recognise it, too little to flood a log.
func shortened(_ text: String) -> String {
    let limit = 120
    return text.utf8.count <= limit ? text : String(text.unicodeScalars.prefix(limit)) + "…"
}
