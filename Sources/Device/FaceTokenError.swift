public import Crypto

/// Why a face token did not open or could not be sealed.
public enum FaceTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The face does not open the token: the mismatch that costs an attempt.
    case wrongFace
    /// A token sealed under a password, which no face opens.
    case passwordProtected
    /// A token of a format this build does not know.
    case unknownVersion(UInt8)
    /// Fewer bytes than the shortest token has.
    case truncated(byteCount: Int)
    /// More bytes than any token has.
    case tooLong(byteCount: Int)
    /// The bytes changed since they were sealed.
    case corrupted
    /// A token of another issuer.
    case otherBinding
    /// A token of another generation than the one that was to be opened.
    case otherGeneration(expected: UInt32, found: UInt32)
    /// The token opened, and what is inside is not a template of this format.
    case unreadableContents
    /// There is no generation after the last one a token can name.
    case generationsExhausted
    /// A cryptographic operation failed.
    case crypto(CryptoError)

    /// The stable dotted name of the rule.
    public var code: String {
        switch self {
        case .wrongFace: "face_token.wrong_face"
        case .passwordProtected: "face_token.password_protected"
        case .unknownVersion: "face_token.version"
        case .truncated: "face_token.truncated"
        case .tooLong: "face_token.too_long"
        case .corrupted: "face_token.corrupted"
        case .otherBinding: "face_token.binding"
        case .otherGeneration: "face_token.generation"
        case .unreadableContents: "face_token.contents"
        case .generationsExhausted: "face_token.generations_exhausted"
        case .crypto: "face_token.crypto"
        }
    }

    /// The rule and the value that broke it.
    public var description: String {
        switch self {
        case .wrongFace: "this face does not open the face token"
        case .passwordProtected: "the face token is sealed under a password, and no face opens it"
        case .unknownVersion(let version):
            "the face token has format \(version); this build knows \(FaceToken.version)"
        case .truncated(let count):
            "the face token has \(count) bytes; the shortest has \(FaceToken.shortest)"
        case .tooLong(let count): "the face token has \(count) bytes; the longest has \(FaceToken.longest)"
        case .corrupted: "the face token's bytes changed since it was sealed"
        case .otherBinding: "the face token was sealed for another issuer"
        case .otherGeneration(let expected, let found):
            "the face token is of generation \(found), and generation \(expected) was to be opened"
        case .unreadableContents: "the face token opened, and its contents do not read"
        case .generationsExhausted: "the face token is of the last generation there is"
        case .crypto(let error): "the face token could not be worked on: \(error)"
        }
    }
}
