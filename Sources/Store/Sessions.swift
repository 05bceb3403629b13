public import Device
import Encoding

extension StoreReader {
    /// The session of a device, if its user is signed in.
    public func session(of device: DeviceID) throws(StoreError) -> TokenSession? {
        try connection.first(.session, [.text(device.rawValue)], TokenSession.init(row:))
    }
}

extension StoreWriter {
    /// Stores a device's session and returns the one it replaces, in one step.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    @discardableResult
    public func replaceSession(
        of device: DeviceID, with session: TokenSession
    ) throws(StoreError) -> TokenSession? {
        let previous = try self.session(of: device)
        let sql: SQL = previous == nil ? .insertSession : .updateSession
        try connection.run(sql, [.text(device.rawValue)] + session.columns)
        return previous
    }

    /// Puts a renewed session in the place of the one it was renewed from, and tells whether that one was still stored.
    ///
    /// Where somebody signed in or out meanwhile, nothing changes.
    public func renewSession(
        of device: DeviceID, from earlier: TokenSession, to renewed: TokenSession
    ) throws(StoreError) -> Bool {
        guard try holds(earlier, device) else { return false }
        return try connection.run(.updateSession, [.text(device.rawValue)] + renewed.columns) == 1
    }

    /// Forgets a session where it is still the stored one, and tells whether it was.
    public func endSession(of device: DeviceID, _ session: TokenSession) throws(StoreError) -> Bool {
        guard try holds(session, device) else { return false }
        return try connection.run(.deleteSession, [.text(device.rawValue)]) == 1
    }

    /// The pair of tokens is what tells sessions apart.
    private func holds(_ session: TokenSession, _ device: DeviceID) throws(StoreError) -> Bool {
        guard let stored = try self.session(of: device) else { return false }
        return stored.accessToken == session.accessToken && stored.refreshToken == session.refreshToken
    }

    /// Forgets a device's session and returns it; keys and enrolments stay.
    @discardableResult
    public func deleteSession(of device: DeviceID) throws(StoreError) -> TokenSession? {
        guard let previous = try session(of: device) else { return nil }
        try connection.run(.deleteSession, [.text(device.rawValue)])
        return previous
    }
}

extension SQL {
    private static let sessionColumns = """
        issuer, client_id, resource, access_token, expires_at, refresh_token, scope, claims, subject, created_at, \
        token_endpoint, revocation_endpoint
        """

    static let session = SQL("sessions.get", "SELECT \(sessionColumns) FROM sessions WHERE device = ?1")
    static let insertSession = SQL(
        "sessions.insert",
        """
        INSERT INTO sessions (device, \(sessionColumns))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
        """)
    static let updateSession = SQL(
        "sessions.update",
        """
        UPDATE sessions SET (\(sessionColumns)) = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
        WHERE device = ?1
        """)
    static let deleteSession = SQL("sessions.delete", "DELETE FROM sessions WHERE device = ?1")
}

extension TokenSession {
    /// Scope values hold no blanks (RFC 6749 section 3.3), so one text holds them all.
    fileprivate var columns: [Value] {
        [
            .text(issuer), .text(clientID), .textOrNull(resource), .text(accessToken),
            .integer(expiresAt.milliseconds), .textOrNull(refreshToken), .text(scope.joined(separator: " ")),
            .textOrNull(claims), .textOrNull(subject), .integer(createdAt.milliseconds), .text(tokenEndpoint),
            .textOrNull(revocationEndpoint),
        ]
    }

    fileprivate init(row: Row) throws(StoreError) {
        self.init(
            issuer: row.text(0), clientID: row.text(1), resource: row.textOrNil(2), accessToken: row.text(3),
            expiresAt: Instant(milliseconds: row.integer(4)), refreshToken: row.textOrNil(5),
            scope: row.text(6).split(separator: " ").map(String.init), claims: row.textOrNil(7),
            subject: row.textOrNil(8), createdAt: Instant(milliseconds: row.integer(9)), tokenEndpoint: row.text(10),
            revocationEndpoint: row.textOrNil(11))
    }
}
