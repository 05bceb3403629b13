public import Device

extension StoreReader {
    /// The authorities of this state directory's phones, once there are any.
    public func attestationRoots() throws(StoreError) -> [UInt8]? {
        try connection.first(.attestationRoots, []) { (row) throws(StoreError) in row.bytes(0) }
    }

    /// What a device holds as an instance of a client at an issuer, in the engine's coding; nil where it is none.
    public func clientInstance(
        of device: DeviceID, issuer: String, clientID: String
    ) throws(StoreError) -> [UInt8]? {
        try connection.first(.clientInstance, [.text(device.rawValue), .text(issuer), .text(clientID)]) {
            (row) throws(StoreError) in row.bytes(0)
        }
    }

    /// What a device's install remembers of its evidence, in the engine's coding; nil before its first.
    public func attestedInstall(of device: DeviceID) throws(StoreError) -> [UInt8]? {
        try connection.first(.attestedInstall, [.text(device.rawValue)]) { (row) throws(StoreError) in row.bytes(0) }
    }
}

extension StoreWriter {
    /// Stores the authorities, unless there are some already; tells whether these are stored now.
    ///
    /// They hold private keys. Only the engine reads the value.
    @discardableResult
    public func insertAttestationRoots(_ roots: [UInt8]) throws(StoreError) -> Bool {
        try connection.run(.insertAttestationRoots, [.blob(roots)]) == 1
    }

    /// Stores what a device holds as an instance of a client at an issuer.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    public func setClientInstance(
        _ instance: [UInt8], of device: DeviceID, issuer: String, clientID: String
    ) throws(StoreError) {
        try connection.run(
            .setClientInstance, [.text(device.rawValue), .text(issuer), .text(clientID), .blob(instance)])
    }

    /// Stores what a device's install remembers of its evidence.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    public func setAttestedInstall(_ install: [UInt8], of device: DeviceID) throws(StoreError) {
        try connection.run(.setAttestedInstall, [.text(device.rawValue), .blob(install)])
    }
}

extension SQL {
    static let attestationRoots = SQL("attestation.roots", "SELECT body FROM attestation_roots WHERE id = 1")
    static let insertAttestationRoots = SQL(
        "attestation.insertRoots", "INSERT INTO attestation_roots (id, body) VALUES (1, ?1) ON CONFLICT DO NOTHING")
    static let clientInstance = SQL(
        "attestation.instance",
        "SELECT body FROM client_instances WHERE device = ?1 AND issuer = ?2 AND client_id = ?3")
    static let setClientInstance = SQL(
        "attestation.setInstance",
        """
        INSERT INTO client_instances (device, issuer, client_id, body) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (device, issuer, client_id) DO UPDATE SET body = ?4
        """)
    static let attestedInstall = SQL(
        "attestation.install", "SELECT body FROM attested_installs WHERE device = ?1")
    static let setAttestedInstall = SQL(
        "attestation.setInstall",
        """
        INSERT INTO attested_installs (device, body) VALUES (?1, ?2)
        ON CONFLICT (device) DO UPDATE SET body = ?2
        """)
}
