public import Device
public import Encoding

/// Which kind of server a DPoP nonce came from: an origin may be both, with nonces of its own for each.
public enum NonceRole: String, Sendable, Hashable, CaseIterable {
    /// The authorization server (RFC 9449 section 8).
    case authorizationServer = "as"
    /// A resource server (RFC 9449 section 9).
    case resourceServer = "rs"
}

extension StoreReader {
    /// The newest nonce a device has from an origin, if any.
    public func nonce(of device: DeviceID, role: NonceRole, origin: String) throws(StoreError) -> String? {
        try connection.first(.nonce, [.text(device.rawValue), .text(role.rawValue), .text(origin)]) {
            (row) throws(StoreError) in row.text(0)
        }
    }

    /// The nonce a device heard last from any server in a role, if any.
    public func newestNonce(of device: DeviceID, role: NonceRole) throws(StoreError) -> String? {
        try connection.first(.newestNonce, [.text(device.rawValue), .text(role.rawValue)]) {
            (row) throws(StoreError) in row.text(0)
        }
    }
}

extension StoreWriter {
    /// The most origins a device remembers nonces of, in each role.
    public static var mostNoncesPerRole: Int { 64 }

    /// Stores the newest nonce of an origin; past `mostNoncesPerRole` origins, the longest unheard one is forgotten.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    public func setNonce(
        _ nonce: String, of device: DeviceID, role: NonceRole, origin: String, at received: Instant
    ) throws(StoreError) {
        let values: [Value] = [
            .text(device.rawValue), .text(role.rawValue), .text(origin), .text(nonce),
            .integer(received.milliseconds),
        ]
        if try connection.run(.updateNonce, values) == 1 { return }
        try connection.run(.insertNonce, values)
        try connection.run(
            .trimNonces,
            [.text(device.rawValue), .text(role.rawValue), .integer(Int64(Self.mostNoncesPerRole)), .text(origin)])
    }
}

extension SQL {
    static let nonce = SQL(
        "nonces.get", "SELECT nonce FROM nonces WHERE device = ?1 AND role = ?2 AND origin = ?3")
    static let newestNonce = SQL(
        "nonces.newest",
        "SELECT nonce FROM nonces WHERE device = ?1 AND role = ?2 ORDER BY received_at DESC, origin LIMIT 1")
    static let updateNonce = SQL(
        "nonces.update",
        "UPDATE nonces SET nonce = ?4, received_at = ?5 WHERE device = ?1 AND role = ?2 AND origin = ?3")
    static let insertNonce = SQL(
        "nonces.insert",
        "INSERT INTO nonces (device, role, origin, nonce, received_at) VALUES (?1, ?2, ?3, ?4, ?5)")
    /// The origin just written is first in line whatever the clocks said.
    static let trimNonces = SQL(
        "nonces.trim",
        """
        DELETE FROM nonces WHERE device = ?1 AND role = ?2 AND origin IN (
            SELECT origin FROM nonces WHERE device = ?1 AND role = ?2
            ORDER BY origin = ?4 DESC, received_at DESC LIMIT -1 OFFSET ?3)
        """)
}
