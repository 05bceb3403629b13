public import Encoding

/// A user enrolled on a virtual device at one issuer.
public struct Enrolment: Codable, Sendable, Hashable {
    /// The issuer, exactly as its metadata names it.
    public var issuer: String
    /// The user's address, as the issuer answered it.
    public var email: String
    /// The user's `sub`.
    public var subject: String
    /// RFC 7638 thumbprint of the device key, the name the issuer knows it by.
    public var kid: String
    /// The device key.
    public var key: KeyHandle
    /// When the enrolment finished, on the device's clock.
    public var createdAt: Instant

    /// Makes an enrolment from the issuer's answer.
    public init(issuer: String, email: String, subject: String, kid: String, key: KeyHandle, createdAt: Instant) {
        self.issuer = issuer
        self.email = email
        self.subject = subject
        self.kid = kid
        self.key = key
        self.createdAt = createdAt
    }
}
