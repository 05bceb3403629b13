public import Device
import Encoding

extension StoreReader {
    /// The key of that handle on that device, if there is one.
    public func key(_ handle: KeyHandle, of device: DeviceID) throws(StoreError) -> StoredKey? {
        try connection.first(.key, [.text(device.rawValue), .text(handle.rawValue)], StoredKey.init(row:))
    }

    /// An App Attest key of any other device, if there is one.
    public func appAttestKey(ofOtherThan device: DeviceID) throws(StoreError) -> StoredKey? {
        try connection.first(.otherAppAttestKey, [.text(device.rawValue)], StoredKey.init(row:))
    }

    /// Every key of a device, in the order of their handles.
    public func keys(of device: DeviceID) throws(StoreError) -> [StoredKey] {
        try connection.all(.keysOfDevice, [.text(device.rawValue)], StoredKey.init(row:))
    }
}

extension StoreWriter {
    /// Adds a key to a device.
    ///
    /// Throws `StoreError.missing` when there is no such device and `duplicate` when it has a key of that handle.
    public func insert(_ key: StoredKey, for device: DeviceID) throws(StoreError) {
        try connection.run(
            .insertKey,
            [
                .text(device.rawValue), .text(key.handle.rawValue), .text(key.purpose.rawValue), .blob(key.scalar),
                .integer(key.createdAt.milliseconds), .flag(key.invalidated),
            ])
    }

    /// Withdraws one key; tells whether it was there and usable.
    @discardableResult
    public func invalidateKey(_ handle: KeyHandle, of device: DeviceID) throws(StoreError) -> Bool {
        try connection.run(.invalidateKey, [.text(device.rawValue), .text(handle.rawValue)]) == 1
    }

    /// Withdraws every key of a purpose, or of any, as an enrolment change or a wipe does; tells how many were usable.
    @discardableResult
    public func invalidateKeys(of device: DeviceID, purpose: KeyPurpose? = nil) throws(StoreError) -> Int {
        try connection.run(.invalidateKeys, [.text(device.rawValue), .textOrNull(purpose?.rawValue)])
    }

    /// Removes one key; tells whether there was one.
    @discardableResult
    public func deleteKey(_ handle: KeyHandle, of device: DeviceID) throws(StoreError) -> Bool {
        try connection.run(.deleteKey, [.text(device.rawValue), .text(handle.rawValue)]) == 1
    }
}

extension SQL {
    private static let keyColumns = "handle, purpose, scalar, created_at, invalidated"

    static let key = SQL("keys.get", "SELECT \(keyColumns) FROM keys WHERE device = ?1 AND handle = ?2")
    static let keysOfDevice = SQL("keys.list", "SELECT \(keyColumns) FROM keys WHERE device = ?1 ORDER BY handle")
    static let otherAppAttestKey = SQL(
        "keys.otherAppAttest",
        "SELECT \(keyColumns) FROM keys WHERE purpose = 'appAttest' AND device > '' AND device != ?1 LIMIT 1")
    static let insertKey = SQL(
        "keys.insert", "INSERT INTO keys (device, \(keyColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
    static let invalidateKey = SQL(
        "keys.invalidate", "UPDATE keys SET invalidated = 1 WHERE device = ?1 AND handle = ?2 AND invalidated = 0")
    static let invalidateKeys = SQL(
        "keys.invalidateAll",
        "UPDATE keys SET invalidated = 1 WHERE device = ?1 AND (?2 IS NULL OR purpose = ?2) AND invalidated = 0")
    static let deleteKey = SQL("keys.delete", "DELETE FROM keys WHERE device = ?1 AND handle = ?2")
}

extension StoredKey {
    fileprivate init(row: Row) throws(StoreError) {
        try self.init(
            handle: KeyHandle(rawValue: row.text(0)),
            purpose: row.required(1) { KeyPurpose(rawValue: row.text($0)) },
            scalar: row.bytes(2),
            createdAt: Instant(milliseconds: row.integer(3)),
            invalidated: row.flag(4))
    }
}
