public import Crypto
import Encoding
import JOSE
public import Profiles

/// What a SenseCrypt IdP is told once and never changes: where it is, its profile, its nonce secret and
/// the public half of the key it signs access tokens with.
///
/// A class, because every request carries it along and it never changes.
public final class IdPSettings: Sendable {
    /// The IdP's origin as it is advertised, such as `http://127.0.0.1:7421`.
    ///
    /// `htu` is compared with it, never with a `Host` header.
    public let origin: String
    /// The resource API's origin as it is advertised.
    public let apiOrigin: String
    /// The wire.
    public let profile: SenseCryptProfile
    /// The public key access tokens are signed with.
    public let accessTokenKey: P256.PublicKey
    /// DPoP nonces of the IdP.
    let nonces: DPoPNonces
    /// DPoP nonces of the resource API: another audience, so neither is good at the other.
    let apiNonces: DPoPNonces
    /// Challenges for evidence.
    let challenges: AttestationChallenges
    /// Whose word tenants take that name nobody themselves.
    public let attestationTrust: AttestationTrust

    /// Makes settings; the nonce secret should be 32 random bytes.
    public init(
        origin: String, apiOrigin: String, profile: SenseCryptProfile, nonceSecret: [UInt8],
        accessTokenKey: P256.PublicKey, attestationTrust: AttestationTrust = AttestationTrust()
    ) {
        self.origin = origin
        self.apiOrigin = apiOrigin
        self.profile = profile
        self.accessTokenKey = accessTokenKey
        self.attestationTrust = attestationTrust
        challenges = AttestationChallenges(secret: nonceSecret, lifetime: profile.lifetimes.attestationChallenge)
        let bucket = profile.windows.nonceBucket
        nonces = DPoPNonces(secret: nonceSecret, audience: origin + " as", bucketSeconds: bucket)
        apiNonces = DPoPNonces(secret: nonceSecret, audience: apiOrigin + " rs", bucketSeconds: bucket)
    }

    /// The issuer of a tenant.
    public func issuer(_ tenant: String) -> String { "\(origin)/\(tenant)" }

    /// The resource API's audience for a tenant.
    public func apiAudience(_ tenant: String) -> String { "\(apiOrigin)/\(tenant)" }

    /// Stands for ``apiOrigin`` in a stored resource, so that a record outlives a change of port.
    private static let apiPlaceholder = "{api}/"

    /// A resource as it is stored.
    func storedResource(_ resource: String) -> String {
        resource.hasPrefix(apiOrigin + "/")
            ? Self.apiPlaceholder + resource.dropFirst(apiOrigin.count + 1) : resource
    }

    /// A stored resource as it is meant now.
    func resource(stored: String) -> String {
        stored.hasPrefix(Self.apiPlaceholder)
            ? "\(apiOrigin)/\(stored.dropFirst(Self.apiPlaceholder.count))" : stored
    }
}
