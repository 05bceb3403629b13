import Crypto
import Encoding
import HTTP
import Profiles

/// What one request brings along and leaves behind while it changes the state: the time, randomness, and
/// the durable records it touched.
struct Turn: Sendable {
    /// The server's time.
    let now: Instant
    /// What the IdP was told once.
    let settings: IdPSettings
    /// Randomness.
    var entropy: EntropyStream
    /// Durable records written or removed so far, in order.
    var changes: [RecordChange] = []
    /// What the person running the IdP should see although nothing was refused.
    var remarks: [Remark] = []

    /// A finding without time and place.
    struct Remark: Sendable {
        let rule: String
        let expected: String
        let actual: String
    }

    /// The wire.
    var profile: SenseCryptProfile { settings.profile }
    /// What the members of answers are called.
    var members: SenseCryptProfile.Members { settings.profile.members }
    /// Spellings of refusals.
    var errors: SenseCryptProfile.Errors { settings.profile.errors }

    /// A fresh handle of 256 bits, as base64url.
    mutating func secret() -> String { entropy.token(32) }

    /// A fresh identifier of 128 bits, as base64url: unique, but no secret.
    mutating func identifier() -> String { entropy.token(16) }
}

/// The hash under which a secret is stored: base64url(SHA-256(ASCII)).
///
/// `ash` is one of these.
func storedHash(_ secret: String) -> String { Base64URL.encode(SHA256.hash(ascii: secret)) }
