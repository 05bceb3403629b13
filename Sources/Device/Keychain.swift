/// The install's secure storage: at most one session, replaced whole.
public struct Keychain: Codable, Sendable, Hashable {
    /// The stored session, if the user is signed in.
    public private(set) var session: TokenSession?

    /// Makes a keychain that holds `session`, or nothing.
    public init(session: TokenSession? = nil) {
        self.session = session
    }

    /// Stores `session` and returns the one it replaces, whose refresh token the caller revokes.
    @discardableResult
    public mutating func replace(with session: TokenSession) -> TokenSession? {
        defer { self.session = session }
        return self.session
    }

    /// Forgets the session and returns it; keys and enrolments are no part of it and stay.
    @discardableResult
    public mutating func clear() -> TokenSession? {
        defer { session = nil }
        return session
    }
}
